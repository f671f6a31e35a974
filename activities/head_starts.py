"""Conversations with tool servers that are opened while Temporal still hands their calls to an activity.

A call that may be made is known to this worker some milliseconds before its activity is. Meanwhile the connection is
made and the protocol's greetings are exchanged; nothing is written and nothing is sent until the activity comes,
which looks once more whether the call may be made. Where none comes, or comes to another worker, the conversation
is closed, and nothing has happened.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from activities.token_broker import TokenBroker
from activities.tool_callers import ToolCaller
from contracts.errors import Refusal
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import CallOrder, DispatchStanding
from contracts.mcp.provider import MCPTransport
from contracts.mcp.tool_call import ToolAnswer
from stores.mcp.call_plans import CallPlan
from stores.mcp.dispatch_attempts import DispatchAttempts

KEPT_SECONDS = 1.0
"""How long a conversation waits for its call; that much of the call's own time it may have used."""

MOST_AT_ONCE = 32
"""Beyond this many, calls open their conversations themselves."""

AboutToSend = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class _Opening:
    plan: CallPlan
    bearer: str | None = field(default=None, repr=False)
    version: int | None = None


@dataclass(frozen=True)
class OpenedCall:
    """What would be sent, as whom, and the way to send it."""

    plan: CallPlan
    bearer: str | None = field(repr=False)
    version: int | None
    """The version of the sign-in that the bearer is of."""

    answer: Callable[[AboutToSend], Awaitable[ToolAnswer]]
    """Awaits its argument right before the call goes out, and then the tool's answer."""


class HeadStarts:
    """The conversations that are open ahead of their calls. One a worker, on its event loop."""

    def __init__(
        self,
        attempts: DispatchAttempts,
        caller: ToolCaller,
        broker: TokenBroker,
        *,
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        """``kept_seconds`` is how long a conversation waits for its call."""
        self._kept_seconds = kept_seconds
        self._attempts = attempts
        self._caller = caller
        self._broker = broker
        self._given: dict[tuple[str, int], _HeadStart] = {}

    def give(self, standing: DispatchStanding, at: datetime | None) -> None:
        """Begins to open the conversation of a call that has just been let pass; ``at`` is its workflow's time."""
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
        self._given[place] = _HeadStart(self._opening(order), self._caller, self._kept_seconds)
        self._given[place].at_end(lambda: self._given.pop(place, None))

    def __len__(self) -> int:
        """How many there are that no call has taken yet."""
        return len(self._given)

    async def take(self, order: CallOrder) -> OpenedCall | None:
        """The conversation that was opened for this attempt, if there is one that can still be used."""
        given = self._given.pop((order.dispatch_id, order.attempt), None)
        return await given.taken() if given is not None else None

    async def _opening(self, order: CallOrder) -> _Opening | None:
        plan = await asyncio.to_thread(self._attempts.foreseen, order, order.at or datetime.now(UTC))
        # A local program is worth starting only for a call that is certain to come to this worker.
        if plan is None or plan.server.transport is not MCPTransport.REMOTE_HTTP:
            return None
        try:
            found = await self._broker.for_server(plan.server, plan.record.owner)
        except Refusal:
            return None
        opening = _Opening(plan, found.value, found.version) if found is not None else _Opening(plan)
        # What is open already needs no head start, and is not to wait for a call that may never come.
        return None if self._caller.has_open(plan.server, plan.call, opening.bearer) else opening


class _HeadStart:
    """One conversation: it waits for its call when it is open, and is closed when none comes in time."""

    def __init__(self, opening: Awaitable[_Opening | None], caller: ToolCaller, kept_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._caller = caller
        self._known: asyncio.Future[_Opening | None] = loop.create_future()
        self._go: asyncio.Future[AboutToSend] = loop.create_future()
        self._conversation = asyncio.create_task(self._converse(opening))
        self._conversation.add_done_callback(_whatever_became_of_it)
        self._patience = loop.call_later(kept_seconds, self._give_up)
        self._given_up = False

    def at_end(self, forget: Callable[[], object]) -> None:
        """Calls ``forget`` once the conversation has ended."""
        self._conversation.add_done_callback(lambda _: forget())

    def _give_up(self) -> None:
        self._given_up = True
        self._conversation.cancel()

    async def taken(self) -> OpenedCall | None:
        """The conversation for its call; none where it could not be begun, or has ended or is about to."""
        self._patience.cancel()
        if self._given_up:
            return None
        try:
            known = await self._known
        except asyncio.CancelledError:
            self._conversation.cancel()
            raise
        # Where its own time is over it waits for nobody any more, and only has not closed yet.
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
        return await self._caller.call(
            known.plan.server, known.plan.call, known.bearer, _no_beat, self._its_turn
        )

    async def _its_turn(self) -> None:
        about_to_send = await self._go
        await about_to_send()


def _no_beat() -> None:
    """The activity that takes the conversation over says itself that it is alive."""


def _whatever_became_of_it(conversation: "asyncio.Task[ToolAnswer | None]") -> None:
    if not conversation.cancelled():
        conversation.exception()
