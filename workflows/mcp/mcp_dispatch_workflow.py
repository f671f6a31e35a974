"""One tool call, from policy to its receipt: it may wait for a person for days, and is made exactly once."""

import asyncio
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.mcp.dispatch_activities import RECONSIDER, McpDispatchActivities
    from contracts.errors import ErrorCode, Refusal
    from contracts.mcp.dispatch import (
        OPEN_DISPATCH_STATUSES,
        STATUS_AFTER,
        AskFirstStatus,
        DispatchStatus,
        decided_by,
        expired,
    )
    from contracts.mcp.dispatch_work import (
        DecideOrder,
        DecisionTaken,
        DispatchStanding,
        EndCause,
        EndOrder,
        JudgeOrder,
        RecheckOrder,
    )
    from workflows.mcp.mcp_dispatch_steps import CallAttempt, CallRest, DispatchNotifications
    from workflows.mcp.mcp_dispatch_view import render_details
    from workflows.mcp.mcp_messages import DispatchEnd, DispatchStart, DispatchWait, WaitUntil
    from workflows.platform.presets import STORE_CALL
    from workflows.platform.refusals import application_error_in, refused
    from workflows.platform.search_attributes import STATE_ATTRIBUTE


TAKES_OVER = "takes-the-stores-standing"
"""The change by which a run that finds the store ahead goes on from there; runs that met it before do not."""


@workflow.defn(name="McpDispatchWorkflow")
class McpDispatchWorkflow:
    """Judges, waits where a person has to be asked, calls, and ends with the call.

    Who answers first wins: the answer is taken before anything is awaited, and the store has the last word. An
    answer may have been written by an update that was lost before it reached the history: then the store is ahead.
    """

    @workflow.init
    def __init__(self, start: DispatchStart) -> None:
        self._order = start.order
        self._console_url = start.console_url
        self._standing: DispatchStanding | None = None
        self._taken: DecideOrder | None = None
        self._ending: EndOrder | None = None
        self._looking = False
        self._attempt = CallAttempt()
        self._notifications = DispatchNotifications(start.order.dispatch_id, told=start.told)
        self._resting = CallRest()
        self._rolling = False

    @workflow.run
    async def run(self, start: DispatchStart) -> DispatchEnd:
        """Lives until the call has ended and everybody who asked has been answered."""
        self._take(
            await workflow.execute_local_activity_method(
                McpDispatchActivities.judge_dispatch,
                JudgeOrder(order=start.order, at=workflow.now()),
                summary="judge",
                **STORE_CALL,
            )
        )
        self._resting.until = start.again_at
        while self._present().status in OPEN_DISPATCH_STATUSES:
            try:
                if self._waits():
                    await self._pause(start)
                elif self._resting.until is not None:
                    await self._rest(start, self._resting.until)
                else:
                    await self._call()
            except asyncio.CancelledError:
                # A cancel of the workflow itself gives the call up.
                self._give_up_by("temporal")
        await workflow.wait_condition(
            lambda: workflow.all_handlers_finished() and self._notifications.released
        )
        standing = self._present()
        return DispatchEnd(status=standing.status, attempts=standing.attempts)

    # ---- what others say ----

    @workflow.update(description="Wait for the call: until it is judged, or has ended or waits for a person")
    async def dispatch(self, wait: DispatchWait) -> DispatchStanding:
        await workflow.wait_condition(
            lambda: (
                self._standing is not None
                and (
                    wait.until is WaitUntil.JUDGED
                    or self._standing.status is not DispatchStatus.RUNNING
                    or self._rolling
                )
            )
        )
        return self._present()

    @dispatch.validator
    def _is_this_call(self, wait: DispatchWait) -> None:
        self._require_own(wait.dispatch_id)

    @workflow.update(description="Approve or deny the call that waits")
    async def decide(self, order: DecideOrder) -> DecisionTaken:
        await workflow.wait_condition(lambda: self._standing is not None and not self._looking)
        self._refuse_unless_undecided()
        self._taken = order.changed(at=workflow.now())
        try:
            taken: DecisionTaken = await workflow.execute_local_activity_method(
                McpDispatchActivities.decide_dispatch, self._taken, summary=order.decision.value, **STORE_CALL
            )
        except FailureError as error:
            self._taken = None
            if workflow.patched(TAKES_OVER):
                self._resting.look_again = True
            raise application_error_in(error) from None
        if taken.siblings:
            self._notifications.let_look(taken.siblings)
        self._take(taken.standing)
        self._taken = None
        return taken

    @decide.validator
    def _may_be_decided(self, order: DecideOrder) -> None:
        self._require_own(order.dispatch_id)
        if self._standing is not None:
            self._refuse_unless_undecided()

    @workflow.update(description="Give the call up")
    async def cancel(self, order: EndOrder) -> DispatchStanding:
        if self._standing is None:
            await workflow.wait_condition(lambda: self._standing is not None)
        expires = self._ending is not None and self._ending.cause is EndCause.EXPIRED
        if self._present().status in OPEN_DISPATCH_STATUSES and (self._ending is None or expires):
            self._ending = order.changed(at=workflow.now())
            self._attempt.cut_short()
        await workflow.wait_condition(lambda: self._present().status not in OPEN_DISPATCH_STATUSES)
        return self._present()

    @cancel.validator
    def _may_be_cancelled(self, order: EndOrder) -> None:
        self._require_own(order.dispatch_id)
        if order.cause is not EndCause.CANCELLED:
            raise refused(ErrorCode.CONFLICT, "Only its own clock lets a call expire.")

    @workflow.signal(
        name=RECONSIDER, description="Policy, an approval or a server's health changed: look again"
    )
    def reconsider(self) -> None:
        self._resting.look_again = True

    # ---- what the run loop does ----

    async def _pause(self, start: DispatchStart) -> None:
        """Waits for an answer, the deadline, a cancellation, or a reason to look again; and does the one."""
        deadline = self._present().expires_at
        if self._present().notify:
            self._notifications.tell_waiting()
        left = max(deadline - workflow.now(), timedelta()) if deadline is not None else None
        try:
            await workflow.wait_condition(
                lambda: (
                    not self._waits()
                    or self._ending is not None
                    or self._resting.look_again
                    or self._needs_new_run()
                ),
                timeout=left,
                timeout_summary="nobody has answered",
            )
        except TimeoutError:
            if self._ending is None and self._taken is None:
                self._ending = EndOrder(
                    dispatch_id=self._order.dispatch_id, cause=EndCause.EXPIRED, at=workflow.now()
                )
        # An answer that is being written holds the lock; if the store refuses it, this is done again.
        await workflow.wait_condition(lambda: self._taken is None)
        if not self._waits():
            self._notifications.stop_telling()
            return
        if self._ending is not None:
            await self._give_up(self._ending)
        elif self._resting.look_again:
            self._resting.look_again = False
            await self._reconsider()
        elif self._needs_new_run():
            workflow.continue_as_new(start.changed(told=self._notifications.told, again_at=None))

    async def _give_up(self, order: EndOrder) -> None:
        self._notifications.stop_telling()
        self._take(
            await workflow.execute_local_activity_method(
                McpDispatchActivities.end_dispatch, order, summary=order.cause.value, **STORE_CALL
            )
        )
        answered = self._present().status is DispatchStatus.RUNNING
        if answered and order.cause is EndCause.EXPIRED and workflow.patched(TAKES_OVER):
            # It was approved in time. Who cancels meanwhile is heard.
            self._ending = None if self._ending is order else self._ending

    async def _reconsider(self) -> None:
        order = RecheckOrder(dispatch_id=self._order.dispatch_id, at=workflow.now())
        self._looking = True
        try:
            self._take(
                await workflow.execute_local_activity_method(
                    McpDispatchActivities.reconsider_dispatch, order, summary="look again", **STORE_CALL
                )
            )
        finally:
            self._looking = False

    async def _call(self) -> None:
        """Makes one attempt and finds out what became of it, and when it is to be tried again."""
        before = self._present()
        end = None if self._ending is not None else await self._attempt.make(before)
        if end is None:
            end = await self._attempt.inspect(before, self._ending)
        self._take(end.standing)
        self._resting.begin(before, end)

    async def _rest(self, start: DispatchStart, until: datetime) -> None:
        """Waits before the next attempt, in a new run where this one has become long."""
        if workflow.info().is_continue_as_new_suggested():
            await self._roll_over(start.changed(again_at=until, told=False))
        await self._resting.over(lambda: self._ending is not None)

    async def _roll_over(self, start: DispatchStart) -> None:
        """Goes on in a new run; not where the call is given up meanwhile. Who waits for its end looks again."""
        self._rolling = True
        try:
            await workflow.wait_condition(
                lambda: (
                    self._ending is not None
                    or (workflow.all_handlers_finished() and self._notifications.released)
                )
            )
        finally:
            self._rolling = False
        if self._ending is None:
            workflow.continue_as_new(start)

    # ---- parts ----

    def _give_up_by(self, who: str) -> None:
        if self._ending is None:
            self._ending = EndOrder(
                dispatch_id=self._order.dispatch_id, cause=EndCause.CANCELLED, by=who, at=workflow.now()
            )

    def _present(self) -> DispatchStanding:
        if self._standing is None:
            raise ApplicationError("The call has not been judged.", type=ErrorCode.INTERNAL_ERROR.value)
        return self._standing

    def _waits(self) -> bool:
        return self._present().status is DispatchStatus.PENDING_APPROVAL

    def _needs_new_run(self) -> bool:
        rested = workflow.all_handlers_finished() and self._notifications.released
        return rested and workflow.info().is_continue_as_new_suggested()

    def _take(self, standing: DispatchStanding) -> None:
        """Believes what the store has written, and shows it; an older standing is not news."""
        before = self._standing
        if before is not None and standing.version < before.version:
            return
        self._standing = standing
        workflow.set_current_details(render_details(self._order, standing, self._console_url))
        shown = before.status if before is not None else DispatchStatus.RUNNING
        if standing.status is not shown:
            workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
                [STATE_ATTRIBUTE.value_set(standing.status.value)]
            )

    def _require_own(self, dispatch_id: str) -> None:
        if dispatch_id != self._order.dispatch_id:
            raise refused(ErrorCode.INTERNAL_ERROR, f"This workflow is the call {self._order.dispatch_id}'s.")

    def _refuse_unless_undecided(self) -> None:
        """Raises the refusal of an answer that comes too late."""
        taken = self._taken
        if taken is not None:
            raise _as_error(
                decided_by(taken.decided_by, taken.at or workflow.now(), STATUS_AFTER[taken.decision])
            )
        ending = self._ending
        if ending is not None and ending.cause is EndCause.CANCELLED:
            raise _as_error(decided_by(ending.by, ending.at or workflow.now(), AskFirstStatus.CANCELLED))
        standing = self._present()
        answer = standing.answer
        if answer is not None and answer.status is not AskFirstStatus.EXPIRED:
            raise _as_error(decided_by(answer.by, answer.at, answer.status))
        overdue = standing.expires_at is not None and workflow.now() >= standing.expires_at
        if ending is not None or overdue or standing.status is DispatchStatus.EXPIRED:
            raise _as_error(expired(standing.expires_at))
        if not self._waits():
            raise refused(
                ErrorCode.CONFLICT,
                f"The call waits for nobody now: it is {standing.status.value}.",
                {"current_state": standing.status.value, "retryable": False},
            )


def _as_error(refusal: Refusal) -> ApplicationError:
    return refused(refusal.code, refusal.message, refusal.extra)
