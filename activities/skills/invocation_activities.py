"""Running a skill: its handler in the sandbox with the services it may use; and the store's side of each step."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from temporalio import activity

from activities.platform.context import heartbeats
from activities.platform.refusals import refusing
from activities.skills.skill_runs import SkillRuns
from contracts.skills.invocation_work import (
    AskOrder,
    AttemptEnd,
    AttemptOrder,
    Confirmed,
    ConfirmOrder,
    GiveUpOrder,
    InspectAttempt,
    InvocationStanding,
    InvocationStart,
)
from stores.skills.attempts import SkillAttempts
from stores.skills.reports.observing import SkillObserver


class SkillInvocationActivities:
    """``run_attempt`` is never retried by itself: its workflow asks what became of it first."""

    def __init__(
        self,
        attempts: SkillAttempts,
        runs: SkillRuns,
        observer: SkillObserver,
        written: Callable[[], None],
    ) -> None:
        """``written`` has the files on disk agree with the store soon."""
        self._attempts = attempts
        self._runs = runs
        self._observer = observer
        self._written = written

    @activity.defn
    async def run_attempt(self, order: AttemptOrder) -> AttemptEnd:
        """Makes one attempt and writes what came of it."""
        plan = await asyncio.to_thread(self._attempts.begin, order)
        if isinstance(plan, AttemptEnd):
            return plan
        async with heartbeats():
            result = await self._runs.handle(plan, order.attempt)
            end = await _to_the_end(
                asyncio.to_thread(self._attempts.finish, order, result, datetime.now(UTC))
            )
        self._written()
        if plan.record.order.watched:
            await asyncio.to_thread(self._observer.observe, order.invocation_id)
        return end

    @activity.defn
    async def check_invocation(self, order: AskOrder) -> InvocationStanding:
        """Runs the handler's own check, before a person is asked."""
        plan = await asyncio.to_thread(self._attempts.plan, order.invocation_id)
        async with heartbeats():
            refused = await self._runs.check(plan)
        standing = await asyncio.to_thread(
            self._attempts.checked, order.invocation_id, refused, datetime.now(UTC)
        )
        self._written()
        return standing

    @activity.defn
    @refusing
    def read_invocation(self, start: InvocationStart) -> InvocationStanding:
        """How the invocation stands."""
        return self._attempts.standing(start.invocation_id)

    @activity.defn
    @refusing
    def ask_for_confirmation(self, order: AskOrder) -> InvocationStanding:
        """Has the invocation wait for a person."""
        return self._attempts.ask(order)

    @activity.defn
    @refusing
    def confirm_invocation(self, order: ConfirmOrder) -> Confirmed:
        """Takes a person's word."""
        taken = self._attempts.confirm(order)
        self._written()
        return taken

    @activity.defn
    @refusing
    def give_up_invocation(self, order: GiveUpOrder) -> InvocationStanding:
        """Ends an invocation of which nothing was run."""
        standing = self._attempts.give_up(order)
        self._written()
        return standing

    @activity.defn
    @refusing
    def inspect_attempt(self, order: InspectAttempt) -> AttemptEnd:
        """What became of an attempt that was not heard of."""
        end = self._attempts.inspect(order)
        self._written()
        self._observer.observe(order.invocation_id)
        return end


async def _to_the_end(writing: Awaitable[AttemptEnd]) -> AttemptEnd:
    """Waits for a write although the activity is cancelled meanwhile: what was made is written down."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
