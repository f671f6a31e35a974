"""Pool of MCP conversations: one for each exchange, or one kept open for a party where the server has state.

A program keeps state in memory, a session of the protocol likewise: the page that a browser shows, a transaction, a
working folder. Each kept conversation serves one party alone, with the sign-in it was opened with.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Self, TypeVar

import structlog
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from clients.mcp.call_failures import ToolCallFailed
from clients.mcp.conversation import Bounds, Conversation, Converse, Transports
from clients.mcp.listing import Look
from clients.mcp.wire_record import WireRecord
from clients.platform.periodic import beating
from contracts.mcp.provider import MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry

log = structlog.get_logger(__name__)

MOST_KEPT = 16
"""Of one worker; for another one, that which was not used for longest is closed."""

LOOK_EVERY_SECONDS = 5.0
"""How often it is seen to that a server is still there and may be called."""

ENDED = "the other side has ended it"

Wanted = Callable[[MCPServerRegistryEntry], Awaitable[bool]]


@dataclass(frozen=True)
class Place:
    """Whose conversation, with what. Only calls of the same place share one."""

    server_id: str
    way: str
    """The address, or the command, as text."""

    bearer: str | None = field(repr=False)
    party: str

    @classmethod
    def of(cls, server: MCPServerRegistryEntry, bearer: str | None, party: str) -> Self:
        """The place of a party's calls to a server."""
        way = str(server.endpoint_url) if server.command is None else server.command.model_dump_json()
        return cls(server.server_id, way, bearer, party)


class KeptConversations:
    """Those of one worker: one a place, in use or idle. On its event loop."""

    def __init__(self, idle_seconds: float, wanted: Wanted, most: int = MOST_KEPT) -> None:
        """Kept for ``idle_seconds`` after each call, as long as ``wanted`` says that its server may be called."""
        self._most = most
        self._idle_seconds = idle_seconds
        self._wanted = wanted
        self._of: dict[Place, Conversation] = {}
        self._idle: dict[Place, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def __len__(self) -> int:
        """Number of idle connections."""
        return len(self._idle)

    def has(self, place: Place) -> bool:
        """Whether there is an idle connection for this key."""
        return place in self._idle and self._of[place].is_at_rest

    def take(self, place: Place) -> Conversation | None:
        """The idle connection for this key, if there is one."""
        watch = self._idle.pop(place, None)
        if watch is None:
            return None
        watch.cancel()
        if self._of[place].is_at_rest:
            return self._of[place]
        self._let_go(place, ENDED)
        return None

    def claim(self, place: Place, conversation: Conversation) -> None:
        """Makes a new conversation that of its place, unless the place has one: the first has the state."""
        self._of.setdefault(place, conversation)

    def part(self, place: Place, server: MCPServerRegistryEntry, conversation: Conversation) -> None:
        """Keeps the conversation of this place until it is taken again, if there is anything to keep; or closes it."""
        if self._of.get(place) is not conversation:
            self._close(conversation)
        elif conversation.is_at_rest and _remembers(server, conversation) and not self._is_closed:
            self._idle[place] = asyncio.create_task(self._watch(place, server, conversation))
            if len(self._idle) > self._most:
                self._end(next(iter(self._idle)), "there are too many")
        else:
            del self._of[place]
            self._close(conversation)

    async def close(self) -> None:
        """Closes all idle connections, and from now on keeps none."""
        self._is_closed = True
        for place in tuple(self._idle):
            self._end(place, "the worker stops")
        while self._closing:
            await asyncio.wait(self._closing)

    def _end(self, place: Place, why: str) -> None:
        self._idle.pop(place).cancel()
        self._let_go(place, why)

    def _let_go(self, place: Place, why: str) -> None:
        log.info("a conversation with a tool server is closed", server_id=place.server_id, why=why)
        self._close(self._of.pop(place))

    def _close(self, conversation: Conversation) -> None:
        """Nobody waits for it: an answer that is there shall not be held up, nor lost where its caller is cancelled."""
        closing = asyncio.create_task(conversation.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _watch(self, place: Place, server: MCPServerRegistryEntry, conversation: Conversation) -> None:
        left, why = self._idle_seconds, None
        while left > 0 and (why := await self._reason_to_end(server, conversation)) is None:
            await asyncio.sleep(min(left, LOOK_EVERY_SECONDS))
            left -= LOOK_EVERY_SECONDS
        # From here on it cannot be taken any more.
        del self._idle[place]
        self._let_go(place, why or "nobody has needed it for a while")

    async def _reason_to_end(self, server: MCPServerRegistryEntry, conversation: Conversation) -> str | None:
        if not conversation.is_at_rest:
            return ENDED
        try:
            wanted = await self._wanted(server)
        except Exception as error:
            return f"nobody can say whether its server is wanted ({type(error).__name__})"
        return None if wanted else "its server was switched off, moved or deleted, or its sign-in taken back"


def _remembers(server: MCPServerRegistryEntry, conversation: Conversation) -> bool:
    is_program = server.transport is MCPTransport.LOCAL_BRIDGE
    return conversation.was_called and (conversation.has_session or is_program)


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
        look: Look | None = None,
    ) -> _T:
        """What ``converse`` returns.

        With ``party`` it may be in a conversation that was held with the same party before. ``look`` is given the
        tools that the server lists in it; what it raises is raised, and ``converse`` is not begun.

        Raises:
            ToolCallFailed: nothing was returned.
        """
        place = Place.of(server, bearer, party) if party is not None else None
        async with beating(beat, self._beat_every):
            conversation = await self._found(place, server, bounds) or self._opened(place, server, bearer)
            try:
                if look is not None:
                    await look(await conversation.tools(bounds))
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
