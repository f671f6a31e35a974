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
        """How many nobody uses now."""
        return len(self._idle)

    def has(self, place: Place) -> bool:
        """Whether there is one for this place that nobody uses."""
        return place in self._idle and self._of[place].is_at_rest

    def take(self, place: Place) -> Conversation | None:
        """The conversation of this place, if there is one and nobody uses it."""
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
        """Closes all that nobody uses, and from now on keeps none."""
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
        # From here on nobody can take it any more.
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
