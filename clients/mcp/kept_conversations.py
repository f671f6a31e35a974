"""Conversations that are kept open between calls, because the other side may remember what was said in them.

A program keeps what it has in memory, a session of the protocol likewise: the page that a browser shows, a
transaction, a working folder. Each is for one party alone, and for the sign-in it was opened with.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

import structlog

from clients.mcp.conversation import Conversation
from contracts.mcp.provider import MCPTransport
from contracts.mcp.server_registry import MCPServerRegistryEntry

log = structlog.get_logger(__name__)

MOST_KEPT = 16
"""Of one worker; for another one, that which was not used for longest is closed."""

LOOK_EVERY_SECONDS = 5.0
"""How often it is seen to that a server is still there and may be called."""

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

    def __len__(self) -> int:
        """How many nobody uses now."""
        return len(self._idle)

    def take(self, place: Place) -> Conversation | None:
        """The conversation of this place, if there is one and nobody uses it."""
        watch = self._idle.pop(place, None)
        if watch is None:
            return None
        watch.cancel()
        return self._of[place]

    def claim(self, place: Place, conversation: Conversation) -> None:
        """Makes a new conversation that of its place, unless the place has one: the first has the state."""
        self._of.setdefault(place, conversation)

    async def part(self, place: Place, server: MCPServerRegistryEntry, conversation: Conversation) -> None:
        """Keeps the conversation of this place until it is taken again, if there is anything to keep; or closes it."""
        if self._of.get(place) is not conversation:
            await conversation.close()
        elif conversation.is_at_rest and (conversation.has_session or _is_program(server)):
            self._idle[place] = asyncio.create_task(self._watch(place, server, conversation))
            if len(self._idle) > self._most:
                await self._end(next(iter(self._idle)), "there are too many")
        else:
            del self._of[place]
            await conversation.close()

    async def close(self) -> None:
        """Closes all that nobody uses."""
        await asyncio.gather(*(self._end(place, "the worker stops") for place in tuple(self._idle)))

    async def _end(self, place: Place, why: str) -> None:
        self._idle.pop(place).cancel()
        await self._close(place, why)

    async def _close(self, place: Place, why: str) -> None:
        log.info("a conversation with a tool server is closed", server_id=place.server_id, why=why)
        await self._of.pop(place).close()

    async def _watch(self, place: Place, server: MCPServerRegistryEntry, conversation: Conversation) -> None:
        left, why = self._idle_seconds, None
        while left > 0 and (why := await self._reason_to_end(server, conversation)) is None:
            await asyncio.sleep(min(left, LOOK_EVERY_SECONDS))
            left -= LOOK_EVERY_SECONDS
        # From here on nobody can take it any more.
        del self._idle[place]
        await self._close(place, why or "nobody has needed it for a while")

    async def _reason_to_end(self, server: MCPServerRegistryEntry, conversation: Conversation) -> str | None:
        if not conversation.is_at_rest:
            return "the other side has ended it"
        try:
            wanted = await self._wanted(server)
        except Exception as error:
            return f"nobody can say whether its server is wanted ({type(error).__name__})"
        return None if wanted else "its server was switched off, moved or deleted, or its sign-in taken back"


def _is_program(server: MCPServerRegistryEntry) -> bool:
    return server.transport is MCPTransport.LOCAL_BRIDGE
