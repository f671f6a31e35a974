"""One invocation of a skill: checked, confirmed where a person has to, run, repeated where it may be, and ended."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.skills.invocation_activities import SkillInvocationActivities
    from contracts.errors import ErrorCode
    from contracts.skills.invocation import OPEN_INVOCATION_STATUSES, InvocationStatus
    from contracts.skills.invocation_work import (
        AskOrder,
        AttemptEnd,
        AttemptOrder,
        Confirmed,
        ConfirmOrder,
        GiveUpCause,
        GiveUpOrder,
        InspectAttempt,
        InvocationEnd,
        InvocationStanding,
        InvocationStart,
    )
    from workflows.platform.presets import STORE_CALL, tool_call_preset
    from workflows.platform.refusals import application_error_in, refused
    from workflows.platform.search_attributes import STATE_ATTRIBUTE
    from workflows.skills.skill_messages import InvocationWait

KIND = "skill_invocation"

LOOK = "look"
"""The signal by which a run looks at the store again: an answer there may be one that it was never told."""


@workflow.defn(name="SkillInvocationWorkflow")
class SkillInvocationWorkflow:
    """Runs one invocation that the gate has let in, and ends with it.

    The store has the last word: every step is one commit there, and the run takes the standing that it answers.
    """

    @workflow.init
    def __init__(self, start: InvocationStart) -> None:
        self._start = start
        self._standing: InvocationStanding | None = None
        self._answering: ConfirmOrder | None = None
        self._ending: GiveUpOrder | None = None
        self._running: asyncio.Task[AttemptEnd] | None = None
        self._again_at: datetime | None = None
        self._look = False

    @workflow.run
    async def run(self, start: InvocationStart) -> InvocationEnd:
        """Lives until the invocation has ended and everybody who asked has been answered."""
        await self._read()
        while self._present().status in OPEN_INVOCATION_STATUSES:
            try:
                await self._step()
            except asyncio.CancelledError:
                # A cancel of the workflow itself gives the invocation up.
                self._ending = self._ending or GiveUpOrder(
                    invocation_id=start.invocation_id,
                    cause=GiveUpCause.CANCELLED,
                    by="temporal",
                    at=workflow.now(),
                )
        await workflow.wait_condition(workflow.all_handlers_finished)
        standing = self._present()
        return InvocationEnd(status=standing.status, attempts=standing.attempts)

    async def _step(self) -> None:
        """What is to be done now: wait for a person, check, ask, rest, or run."""
        standing = self._present()
        if standing.status is InvocationStatus.AWAITING_CONFIRMATION:
            await self._pause(standing)
        elif self._ending is not None and self._ending.cause is GiveUpCause.CANCELLED:
            await self._give_up(self._ending)
        elif standing.asks and standing.has_check:
            await self._check(standing)
        elif standing.asks:
            await self._ask()
        elif standing.awaits_until is not None:
            await self._await_answer(standing.awaits_until)
        elif self._again_at is not None:
            await self._rest(self._again_at)
        else:
            await self._attempt(standing)

    # ---- what others say ----

    @workflow.update(description="Wait until the invocation is over, or waits for a person")
    async def wait(self, wait: InvocationWait) -> InvocationStanding:
        await workflow.wait_condition(
            lambda: (
                self._standing is not None
                and (
                    self._standing.status not in (InvocationStatus.QUEUED, InvocationStatus.RUNNING)
                    or self._standing.awaits_until is not None
                )
            )
        )
        return self._present()

    @wait.validator
    def _is_this_one(self, wait: InvocationWait) -> None:
        self._require_own(wait.invocation_id)

    @workflow.update(description="Confirm or refuse the invocation that waits")
    async def confirm(self, order: ConfirmOrder) -> Confirmed:
        await workflow.wait_condition(lambda: self._standing is not None)
        self._refuse_unless_waiting()
        self._answering = order.changed(at=workflow.now())
        try:
            taken = await workflow.execute_local_activity_method(
                SkillInvocationActivities.confirm_invocation,
                self._answering,
                summary="confirm" if order.approve else "refuse",
                **STORE_CALL,
            )
        except FailureError as error:
            self._look = True
            raise application_error_in(error) from None
        finally:
            self._answering = None
        self._take(taken.standing)
        return taken

    @confirm.validator
    def _may_be_confirmed(self, order: ConfirmOrder) -> None:
        self._require_own(order.invocation_id)
        if self._standing is not None:
            self._refuse_unless_waiting()

    @workflow.update(description="Give the invocation up")
    async def cancel(self, order: GiveUpOrder) -> InvocationStanding:
        await workflow.wait_condition(lambda: self._standing is not None)
        open_now = self._present().status in OPEN_INVOCATION_STATUSES
        if open_now and (self._ending is None or self._ending.cause is GiveUpCause.EXPIRED):
            self._ending = order.changed(at=workflow.now())
            if self._running is not None:
                self._running.cancel()
        await workflow.wait_condition(lambda: self._present().status not in OPEN_INVOCATION_STATUSES)
        return self._present()

    @cancel.validator
    def _may_be_cancelled(self, order: GiveUpOrder) -> None:
        self._require_own(order.invocation_id)
        if order.cause is not GiveUpCause.CANCELLED:
            raise refused(ErrorCode.CONFLICT, "Only its own clock lets an invocation expire.")

    @workflow.signal(name=LOOK, description="Look at the store again")
    def look(self) -> None:
        self._look = True

    # ---- the steps ----

    async def _read(self) -> None:
        self._take(
            await workflow.execute_local_activity_method(
                SkillInvocationActivities.read_invocation,
                self._start,
                summary="read",
                **STORE_CALL,
            )
        )

    async def _check(self, standing: InvocationStanding) -> None:
        """The handler's own check, before a person is asked."""
        order = AskOrder(invocation_id=self._start.invocation_id, at=workflow.now())
        try:
            self._take(
                await workflow.execute_activity_method(
                    SkillInvocationActivities.check_invocation,
                    order,
                    summary="check",
                    **tool_call_preset(standing.timeout_ms),
                )
            )
        except FailureError:
            # A check has no effect: who confirms decides without it.
            await self._ask()

    async def _ask(self) -> None:
        order = AskOrder(invocation_id=self._start.invocation_id, at=workflow.now())
        self._take(
            await workflow.execute_local_activity_method(
                SkillInvocationActivities.ask_for_confirmation, order, summary="ask", **STORE_CALL
            )
        )

    async def _pause(self, standing: InvocationStanding) -> None:
        """Waits for a person, the deadline, or a cancellation; and does the one."""
        left = None
        if standing.expires_at is not None:
            left = max(standing.expires_at - workflow.now(), timedelta())
        try:
            await workflow.wait_condition(
                lambda: not self._waits() or self._ending is not None or self._look,
                timeout=left,
                timeout_summary="nobody has confirmed",
            )
        except TimeoutError:
            if self._ending is None and self._answering is None:
                self._ending = GiveUpOrder(
                    invocation_id=self._start.invocation_id, cause=GiveUpCause.EXPIRED, at=workflow.now()
                )
        # An answer that is being written comes first; if the store refuses it, this is done again.
        await workflow.wait_condition(lambda: self._answering is None)
        if not self._waits():
            return
        if self._ending is not None:
            await self._give_up(self._ending)
        elif self._look:
            self._look = False
            await self._read()

    async def _give_up(self, order: GiveUpOrder) -> None:
        standing = self._present()
        if standing.attempts and standing.status is not InvocationStatus.AWAITING_CONFIRMATION:
            await self._inspect(standing.attempts, order)
            return
        self._take(
            await workflow.execute_local_activity_method(
                SkillInvocationActivities.give_up_invocation, order, summary=order.cause.value, **STORE_CALL
            )
        )
        if order.cause is GiveUpCause.EXPIRED and self._ending is order:
            # It was confirmed in time after all, if it is still open.
            self._ending = None

    async def _attempt(self, standing: InvocationStanding) -> None:
        """Makes one attempt; whatever becomes of it, the store is asked before the next."""
        number = standing.attempts + 1
        order = AttemptOrder(invocation_id=self._start.invocation_id, attempt=number, at=workflow.now())
        self._running = asyncio.create_task(_made(order, standing.timeout_ms))
        try:
            end = await self._running
        except FailureError:
            await self._inspect(number, self._ending)
            return
        except asyncio.CancelledError:
            # Cut short, or the workflow itself is cancelled, which who called has to know.
            if not self._running.cancelled():
                raise
            await self._inspect(number, self._ending)
            return
        finally:
            self._running = None
        self._take_end(end)

    async def _inspect(self, attempt: int, given_up: GiveUpOrder | None) -> None:
        """What became of an attempt that was not heard of; from now on it cannot begin any more."""
        cancelled = given_up if given_up is not None and given_up.cause is GiveUpCause.CANCELLED else None
        order = InspectAttempt(
            invocation_id=self._start.invocation_id, attempt=attempt, given_up=cancelled, at=workflow.now()
        )
        self._take_end(
            await workflow.execute_local_activity_method(
                SkillInvocationActivities.inspect_attempt, order, summary="what became of it", **STORE_CALL
            )
        )

    async def _await_answer(self, until: datetime) -> None:
        """Waits for the answer to the handler's question; when it is there or is late, the handler runs again."""
        try:
            await workflow.wait_condition(
                lambda: self._ending is not None or self._look,
                timeout=max(until - workflow.now(), timedelta()),
                timeout_summary="nobody has answered",
            )
        except TimeoutError:
            await self._attempt(self._present())
            return
        if self._ending is None:
            self._look = False
            await self._read()

    async def _rest(self, until: datetime) -> None:
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._ending is not None,
                timeout=max(until - workflow.now(), timedelta()),
                timeout_summary="before the next attempt",
            )
        self._again_at = None

    # ---- parts ----

    def _take_end(self, end: AttemptEnd) -> None:
        self._take(end.standing)
        if end.again_after_ms:
            self._again_at = workflow.now() + timedelta(milliseconds=end.again_after_ms)

    def _take(self, standing: InvocationStanding) -> None:
        """Believes what the store has written, and shows it; an older standing is not news."""
        before = self._standing
        if before is not None and standing.version < before.version:
            return
        self._standing = standing
        workflow.set_current_details(_details(self._start, standing))
        shown = before.status if before is not None else InvocationStatus.QUEUED
        if standing.status is not shown:
            workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
                [STATE_ATTRIBUTE.value_set(standing.status.value)]
            )

    def _present(self) -> InvocationStanding:
        if self._standing is None:
            raise ApplicationError("The invocation has not been read.", type=ErrorCode.INTERNAL_ERROR.value)
        return self._standing

    def _waits(self) -> bool:
        return self._present().status is InvocationStatus.AWAITING_CONFIRMATION

    def _require_own(self, invocation_id: str) -> None:
        if invocation_id != self._start.invocation_id:
            raise refused(
                ErrorCode.INTERNAL_ERROR, f"This workflow is the invocation {self._start.invocation_id}'s."
            )

    def _refuse_unless_waiting(self) -> None:
        """Raises the refusal of an answer that comes too late."""
        standing = self._present()
        given = standing.confirmation
        by = self._answering.by if self._answering is not None else given.by if given is not None else None
        if by is not None:
            raise refused(
                ErrorCode.CONFLICT,
                f"{by} has answered already.",
                # Of an answer that is being written the store has the last word.
                {"current_state": standing.status.value, "retryable": given is None},
            )
        if not self._waits() or self._ending is not None:
            raise refused(
                ErrorCode.CONFLICT,
                f"The invocation waits for nobody now: it is {standing.status.value}.",
                {
                    "current_state": standing.status.value,
                    "retryable": standing.status in OPEN_INVOCATION_STATUSES,
                },
            )


async def _made(order: AttemptOrder, timeout_ms: int) -> AttemptEnd:
    return await workflow.execute_activity_method(
        SkillInvocationActivities.run_attempt,
        order,
        summary=f"run, attempt {order.attempt}",
        **tool_call_preset(timeout_ms),
    )


def _details(start: InvocationStart, standing: InvocationStanding) -> str:
    """What the Temporal UI shows of an invocation: state, since when, what it waits for."""
    lines = [
        f"**{standing.status.value.replace('_', ' ')}** since {standing.since:%Y-%m-%d %H:%M:%S} UTC",
        f"- skill: `{start.skill}` {start.version}, attempts: {standing.attempts}",
    ]
    if standing.expires_at is not None:
        lines.append(f"- waits for a person until {standing.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    if standing.error_code is not None:
        lines.append(f"- error: `{standing.error_code}`")
    if start.console_url is not None:
        lines.append(f"- [open in the console]({start.console_url})")
    return "\n".join(lines)
