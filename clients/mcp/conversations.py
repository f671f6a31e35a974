"""Has conversations with tool servers: one for each purpose, or one for all calls of a party where it has a state."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from clients.beating import beating
from clients.mcp.call_failures import ToolCallFailed
from clients.mcp.conversation import Bounds, Conversation, Converse
from clients.mcp.kept_conversations import KeptConversations, Place
from clients.mcp.transports import Transports
from clients.mcp.wire_record import WireRecord
from contracts.mcp.server_registry import MCPServerRegistryEntry

THERE_WITHIN_MS = 5_000
"""How long a conversation that was kept has to show that the other side still hears."""

THERE_BYTES = 64 * 1024

_T = TypeVar("_T")
Beat = Callable[[], None]


class Conversations:
    """Opens them, finds those that were kept, and closes or keeps them."""

    def __init__(
        self, transports: Transports, kept: KeptConversations | None, *, beat_every_seconds: float
    ) -> None:
        """Without ``kept`` each conversation is closed after its one purpose."""
        self._transports = transports
        self._kept = kept
        self._beat_every = beat_every_seconds

    async def hold(
        self,
        server: MCPServerRegistryEntry,
        bearer: str | None,
        beat: Beat,
        bounds: Bounds,
        converse: Converse[_T],
        party: str | None = None,
    ) -> _T:
        """What ``converse`` returns.

        With ``party`` it may be in a conversation that was held with the same party before.

        Raises:
            ToolCallFailed: nothing was returned.
        """
        place = Place.of(server, bearer, party) if party is not None else None
        async with beating(beat, self._beat_every):
            conversation = await self._found(place, server, bounds) or self._opened(place, server, bearer)
            try:
                return await conversation.ask(converse, bounds)
            finally:
                await self._part(place, server, conversation)

    def has_open(self, server: MCPServerRegistryEntry, bearer: str | None, party: str | None) -> bool:
        """Whether a conversation that was held with this party is there to go on in."""
        return (
            self._kept is not None and party is not None and self._kept.has(Place.of(server, bearer, party))
        )

    async def _found(
        self, place: Place | None, server: MCPServerRegistryEntry, bounds: Bounds
    ) -> Conversation | None:
        """The conversation that was kept, once it has shown that the other side still hears."""
        if self._kept is None or place is None or (kept := self._kept.take(place)) is None:
            return None
        try:
            await kept.ask(_is_there, Bounds(min(THERE_WITHIN_MS, bounds.within_ms), THERE_BYTES))
        except asyncio.CancelledError:
            self._kept.part(place, server, kept)
            raise
        except ToolCallFailed:
            kept.cut()
            self._kept.part(place, server, kept)
            return None
        return kept

    def _opened(
        self, place: Place | None, server: MCPServerRegistryEntry, bearer: str | None
    ) -> Conversation:
        conversation = Conversation(partial(self._transports.to, server, bearer))
        if self._kept is not None and place is not None:
            self._kept.claim(place, conversation)
        return conversation

    async def _part(
        self, place: Place | None, server: MCPServerRegistryEntry, conversation: Conversation
    ) -> None:
        if self._kept is not None and place is not None:
            self._kept.part(place, server, conversation)
        else:
            await conversation.close()


async def _is_there(client: Client, record: WireRecord) -> None:
    """Returns once the other side has said anything, even that it does not know what it was asked."""
    try:
        if client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            await client.session.send_ping()
        else:
            await client.session.send_discover(client.protocol_version)
    except MCPError as error:
        if record.refusal is not None or error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
            raise
