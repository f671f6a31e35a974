"""Connections to tool servers that are opened before the activity of their call starts.

A worker knows of an admitted call some milliseconds before its activity runs. Meanwhile it connects and initialises
the MCP session; nothing is written or sent until the activity has checked again that the call may be made. An
unused connection is closed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from activities.mcp.token_broker import TokenBroker
from clients.mcp.tool_client import Discovery
from contracts.errors import Refusal
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import CallOrder, DispatchStanding
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolAnswer, ToolCall
from stores.mcp.dispatch.attempt_rows import CallPlan
from stores.mcp.dispatch.attempts import DispatchAttempts


async def nothing() -> None:
    """The default of ``about_to_send``: does nothing."""
    return


class ToolCaller(Protocol):
    """Makes calls, and lists tools; ``clients.mcp.tool_client.ToolClient`` is one."""

    async def call(
        self,
        server: MCPServerRegistryEntry,
        call: ToolCall,
        bearer: str | None,
        beat: Callable[[], None],
        about_to_send: Callable[[], Awaitable[None]] = nothing,
    ) -> ToolAnswer:
        """The tool's answer. ``about_to_send`` is awaited right before the call goes out.

        Raises:
            ToolCallFailed: no answer.
        """
        ...

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """Whether the call would go on in a conversation that is open, so that none has to be opened for it."""
        ...

    async def discover(
        self, server: MCPServerRegistryEntry, bearer: str | None, beat: Callable[[], None]
    ) -> Discovery:
        """The server's tools.

        Raises:
            ToolCallFailed: it could not be asked.
        """
        ...


class ToolCallers:
    """Chooses the caller by the server: an adapter for a local server of its provider, the client for the rest."""

    def __init__(self, client: ToolCaller, adapters: Mapping[MCPProvider, ToolCaller]) -> None:
        self._client = client
        self._adapters = dict(adapters)

    async def call(
        self,
        server: MCPServerRegistryEntry,
        call: ToolCall,
        bearer: str | None,
        beat: Callable[[], None],
        about_to_send: Callable[[], Awaitable[None]] = nothing,
    ) -> ToolAnswer:
        """As :class:`ToolCaller`."""
        return await self._of(server).call(server, call, bearer, beat, about_to_send)

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """As :class:`ToolCaller`."""
        return self._of(server).has_open(server, call, bearer)

    async def discover(
        self, server: MCPServerRegistryEntry, bearer: str | None, beat: Callable[[], None]
    ) -> Discovery:
        """As :class:`ToolCaller`."""
        return await self._of(server).discover(server, bearer, beat)

    def _of(self, server: MCPServerRegistryEntry) -> ToolCaller:
        built_in = server.transport is MCPTransport.LOCAL_BRIDGE and server.command is None
        return self._adapters.get(server.provider, self._client) if built_in else self._client


KEPT_SECONDS = 1.0
"""How long a connection waits for its call; it counts against the call's own timeout."""

MOST_AT_ONCE = 32
"""Beyond this many, calls open their connections themselves."""

AboutToSend = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class _Opening:
    plan: CallPlan
    bearer: str | None = field(default=None, repr=False)
    version: int | None = None
    opens: bool = True
    """Whether a connection is opened for it; otherwise only its plan is kept."""


@dataclass(frozen=True)
class OpenedCall:
    """The call to send, its access token, and the function that sends it."""

    plan: CallPlan
    bearer: str | None = field(repr=False)
    version: int | None
    """The version of the sign-in that the bearer is of."""

    answer: Callable[[AboutToSend], Awaitable[ToolAnswer]]
    """Awaits its argument right before the call goes out, and then the tool's answer."""


class PreopenedConnections:
    """Connections that are open ahead of their calls. One object per worker, on its event loop."""

    def __init__(
        self,
        attempts: DispatchAttempts,
        caller: ToolCaller,
        broker: TokenBroker,
        *,
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        """``kept_seconds`` is how long a connection waits for its call."""
        self._kept_seconds = kept_seconds
        self._attempts = attempts
        self._caller = caller
        self._broker = broker
        self._given: dict[tuple[str, int], _Preopened] = {}

    def give(self, standing: DispatchStanding, at: datetime | None, plan: CallPlan | None = None) -> None:
        """Starts connecting for a call that has just been admitted; ``at`` is its workflow's time.

        ``plan`` is what whoever admitted it read for that; without it, it is read here.
        """
        if standing.status is not DispatchStatus.RUNNING or len(self._given) >= MOST_AT_ONCE:
            return
        order = CallOrder(
            dispatch_id=standing.dispatch_id,
            attempt=standing.attempts + 1,
            auth_profile_id=standing.auth_profile_id,
            at=at,
        )
        place = (order.dispatch_id, order.attempt)
        if place in self._given:
            return
        self._given[place] = _Preopened(self._opening(order, plan), self._caller, self._kept_seconds)
        self._given[place].at_end(lambda: self._given.pop(place, None))

    def __len__(self) -> int:
        """The number of connections that no call has taken yet."""
        return len(self._given)

    async def take(self, order: CallOrder) -> OpenedCall | CallPlan | None:
        """The connection that was opened for this attempt, if it can still be used; its plan where none was opened."""
        given = self._given.pop((order.dispatch_id, order.attempt), None)
        return await given.taken() if given is not None else None

    async def _opening(self, order: CallOrder, plan: CallPlan | None) -> _Opening | None:
        plan = plan or await asyncio.to_thread(self._attempts.foreseen, order, order.at or datetime.now(UTC))
        if plan is None:
            return None
        # A local program is worth starting only for a call that is certain to come to this worker.
        if plan.server.transport is not MCPTransport.REMOTE_HTTP:
            return _Opening(plan, opens=False)
        try:
            found = await self._broker.for_server(plan.server, plan.record.owner)
        except Refusal:
            return None
        opening = _Opening(plan, found.value, found.version) if found is not None else _Opening(plan)
        # A session that is open already is not to be held for a call that may never come.
        is_open = self._caller.has_open(plan.server, plan.call, opening.bearer)
        return _Opening(plan, opens=False) if is_open else opening


class _Preopened:
    """One connection: waits for its call once it is open, and is closed when none comes in time."""

    def __init__(self, opening: Awaitable[_Opening | None], caller: ToolCaller, kept_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._caller = caller
        self._known: asyncio.Future[_Opening | None] = loop.create_future()
        self._go: asyncio.Future[AboutToSend] = loop.create_future()
        self._conversation = asyncio.create_task(self._converse(opening))
        self._conversation.add_done_callback(_retrieve_exception)
        self._timeout = loop.call_later(kept_seconds, self._give_up)
        self._given_up = False

    def at_end(self, forget: Callable[[], object]) -> None:
        """Calls ``forget`` once the conversation has ended."""
        self._conversation.add_done_callback(lambda _: forget())

    def _give_up(self) -> None:
        self._given_up = True
        self._conversation.cancel()

    async def taken(self) -> OpenedCall | CallPlan | None:
        """The conversation for its call; none where it could not be begun, or has ended or is about to.

        The plan alone where no conversation was to be opened.
        """
        self._timeout.cancel()
        if self._given_up:
            return None
        try:
            known = await self._known
        except asyncio.CancelledError:
            self._conversation.cancel()
            raise
        if known is not None and not known.opens:
            self._conversation.cancel()
            return known.plan
        # It may have timed out and not be closed yet.
        if known is None or self._go.done() or self._conversation.done():
            return None
        return OpenedCall(known.plan, known.bearer, known.version, self._answered)

    async def _answered(self, about_to_send: AboutToSend) -> ToolAnswer:
        self._go.set_result(about_to_send)
        answer = await self._conversation
        assert answer is not None, "only what was begun is taken"
        return answer

    async def _converse(self, opening: Awaitable[_Opening | None]) -> ToolAnswer | None:
        known = None
        try:
            known = await opening
        finally:
            if not self._known.done():
                self._known.set_result(known)
        if known is None:
            return None
        if not known.opens:
            # Kept until the call comes or the time is over: both cancel this.
            await self._go
            return None
        return await self._caller.call(
            known.plan.server, known.plan.call, known.bearer, _no_beat, self._once_taken
        )

    async def _once_taken(self) -> None:
        about_to_send = await self._go
        await about_to_send()


def _no_beat() -> None:
    """The activity that takes the connection over sends its own heartbeats."""


def _retrieve_exception(conversation: "asyncio.Task[ToolAnswer | None]") -> None:
    if not conversation.cancelled():
        conversation.exception()
