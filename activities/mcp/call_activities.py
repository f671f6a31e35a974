"""Making one attempt of a tool call: with the right bearer, re-checked at the last moment, its answer kept."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from temporalio import activity

from activities.mcp.dispatch_activities import HeldCallWakeUp
from activities.mcp.preopened_connections import AboutToSend, OpenedCall, PreopenedConnections, ToolCaller
from activities.mcp.token_broker import TokenBroker, endpoint_of
from activities.platform.context import WorkflowClock, heartbeats
from clients.mcp.call_failures import ToolCallFailed, ToolChanged
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch_work import CallEnd, CallOrder
from contracts.mcp.tools import ToolAnswer, ToolFailure, ToolFailureKind
from stores.mcp.dispatch.attempt_rows import CallPlan, PlanOutdated, Stopped
from stores.mcp.dispatch.attempts import DispatchAttempts
from stores.mcp.dispatch.settling import DispatchObserver
from stores.mcp.servers.tools import ToolStore

MOST_RENEWALS = 1
"""How often a refused token is renewed for one call."""

_SIGN_IN = frozenset({ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED, ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND})
"""The refusals of the broker that a person has to see to; the others pass by themselves."""


class _BearerRefused(Exception):
    """The server did not take the bearer, so that nothing was executed: the call is made again with another."""

    def __init__(self, opened: OpenedCall) -> None:
        super().__init__()
        self.opened = opened


class McpCallActivities:
    """An ordinary activity that is never retried by itself: its workflow asks what became of it first."""

    def __init__(
        self,
        attempts: DispatchAttempts,
        caller: ToolCaller,
        broker: TokenBroker,
        tools: ToolStore,
        preopened: PreopenedConnections,
        observer: DispatchObserver,
        held_calls: HeldCallWakeUp,
        written: Callable[[], None],
    ) -> None:
        """``written`` has the files on disk agree with the store soon."""
        self._attempts = attempts
        self._caller = caller
        self._broker = broker
        self._tools = tools
        self._preopened = preopened
        self._observer = observer
        self._held_calls = held_calls
        self._written = written

    @activity.defn
    async def call_tool(self, order: CallOrder) -> CallEnd:
        """Makes the call once, or twice where the server refused the first bearer and nothing was executed."""
        clock = WorkflowClock(order.at)
        async with heartbeats():
            end = await self._called(order, clock)
            await asyncio.to_thread(self._observer.observe, end.standing)
            if end.well_again is not None:
                await self._held_calls.wake(end.well_again)
        self._written()
        return end

    async def _called(self, order: CallOrder, clock: WorkflowClock) -> CallEnd:
        taken = await self._preopened.take(order)
        opened_before = taken if isinstance(taken, OpenedCall) else None
        plan = taken if isinstance(taken, CallPlan) else None
        renewed: str | None = None
        lease: datetime | None = None
        while True:
            try:
                opened = opened_before or await self._opened(order, plan, clock, lease, renewed)
                if isinstance(opened, CallEnd):
                    return opened
                opened_before, plan, lease = None, None, opened.plan.lease
                return await self._made(order, opened, clock)
            except PlanOutdated:
                renewed = None
            except Stopped as stopped:
                return stopped.end
            except Refusal as refusal:
                return await self._without_bearer(order, refusal, clock)
            except _BearerRefused as refused:
                order = order.changed(attempt=order.attempt + 1)
                try:
                    renewed = await self._renewed(refused.opened.plan, refused.opened.version)
                except Refusal as refusal:
                    return await self._without_bearer(order, refusal, clock)

    async def _opened(
        self,
        order: CallOrder,
        ahead: CallPlan | None,
        clock: WorkflowClock,
        lease: datetime | None,
        renewed: str | None,
    ) -> OpenedCall | CallEnd:
        """``ahead`` is the plan that was made with the decision, which ``begin`` checks like every other."""
        plan = ahead or await asyncio.to_thread(self._attempts.plan, order, clock.now(), lease)
        if isinstance(plan, CallEnd):
            return plan
        found = await self._broker.for_server(plan.server, plan.record.owner) if renewed is None else None
        bearer, version = (found.value, found.version) if found is not None else (renewed, None)

        async def answer(about_to_send: AboutToSend) -> ToolAnswer:
            return await self._caller.call(plan.server, plan.call, bearer, activity.heartbeat, about_to_send)

        return OpenedCall(plan, bearer, version, answer)

    async def _made(self, order: CallOrder, opened: OpenedCall, clock: WorkflowClock) -> CallEnd:
        try:
            answer = await opened.answer(self._about_to_send(order, opened.plan, clock))
        except ToolChanged as changed:
            await self._take_in(opened.plan, changed, clock)
            return await self._failed(order, opened.plan, changed.failure, opened.bearer, clock)
        except ToolCallFailed as failed:
            if not await self._is_renewable(order, failed.failure, opened.bearer, clock):
                return await self._failed(order, opened.plan, failed.failure, opened.bearer, clock)
            raise _BearerRefused(opened) from None
        return await self._answered(order, answer, opened.bearer, clock)

    async def _take_in(self, plan: CallPlan, changed: ToolChanged, clock: WorkflowClock) -> None:
        """Marks the tool first: if the worker is lost after that, the call is judged by what the tool is now."""
        found, record = changed.found, plan.record

        def taken() -> None:
            self._tools.take_in(
                record.order.server_id,
                record.owner,
                found.tools,
                clock.now(),
                record.order.correlation_id,
                protocol_revision=found.protocol_revision,
                left_out=found.left_out,
            )

        # Of a server that was deleted meanwhile nothing is kept, and the call ends all the same.
        with suppress(Refusal):
            await asyncio.to_thread(taken)

    def _about_to_send(self, order: CallOrder, plan: CallPlan, clock: WorkflowClock) -> AboutToSend:
        async def begin() -> None:
            await asyncio.to_thread(self._attempts.begin, order, plan, clock.now())

        return begin

    async def _is_renewable(
        self, order: CallOrder, failure: ToolFailure, bearer: str | None, clock: WorkflowClock
    ) -> bool:
        """Whether the token is renewed and the call made once more; then the refusal is on record."""
        if failure.kind is not ToolFailureKind.AUTH_REQUIRED or bearer is None:
            return False
        if await asyncio.to_thread(self._attempts.renewals, order.dispatch_id) >= MOST_RENEWALS:
            return False
        return await asyncio.to_thread(self._attempts.refused_for_sign_in, order, failure, clock.now())

    async def _renewed(self, plan: CallPlan, seen: int | None) -> str | None:
        profile_id = plan.server.auth_profile_id
        if profile_id is None:
            return None
        return await self._broker.renewed(profile_id, plan.record.owner, seen, endpoint_of(plan.server))

    async def _answered(
        self, order: CallOrder, answer: ToolAnswer, bearer: str | None, clock: WorkflowClock
    ) -> CallEnd:
        def keep() -> CallEnd:
            return self._attempts.answered(order, answer, clock.now(), signed_in=bearer is not None)

        return await asyncio.to_thread(keep)

    async def _failed(
        self, order: CallOrder, plan: CallPlan, failure: ToolFailure, bearer: str | None, clock: WorkflowClock
    ) -> CallEnd:
        profile_id = plan.server.auth_profile_id
        if failure.kind is ToolFailureKind.AUTH_REQUIRED and bearer is not None and profile_id is not None:
            await self._broker.refused(profile_id, plan.record.owner)

        def keep() -> CallEnd:
            return self._attempts.failed(order, failure, clock.now(), signed_in=bearer is not None)

        end = await asyncio.to_thread(keep)
        await self._broker.note_lack(plan.server, plan.record.owner, failure, signed_in=bearer is not None)
        return end

    async def _without_bearer(self, order: CallOrder, refusal: Refusal, clock: WorkflowClock) -> CallEnd:
        if refusal.code in _SIGN_IN:
            return await asyncio.to_thread(self._attempts.needs_sign_in, order, refusal.message, clock.now())
        unsent = ToolFailure(kind=ToolFailureKind.NOT_SENT, message=clipped(refusal.message, 500))

        def keep() -> CallEnd:
            return self._attempts.failed(order, unsent, clock.now(), signed_in=False)

        return await asyncio.to_thread(keep)
