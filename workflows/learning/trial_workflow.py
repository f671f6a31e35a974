"""Trial of an ability: its taught method run in the sandbox on a copy of another folder."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.learning.trial_activities import TrialActivities
    from contracts.base import clipped
    from contracts.learning.trials import TrialEnding, TrialOutcome, TrialState
    from workflows.learning.trial_messages import TrialStart
    from workflows.platform.presets import REHEARSAL, STORE_CALL
    from workflows.platform.refusals import application_error_in

_CANCELLED = "The trial was cancelled."
_WORKER_LOST = "It broke off each time it was begun. Look at the worker's log, and try again."


@workflow.defn(name="TrialWorkflow")
class TrialWorkflow:
    """Runs one trial; a lost worker's is begun again, and a cancelled one leaves no result."""

    @workflow.init
    def __init__(self, start: TrialStart) -> None:
        self._start = start
        self._show(f"running {start.commands} commands on a copy of the folder")

    @workflow.run
    async def run(self, start: TrialStart) -> TrialOutcome:
        """Runs the method and answers with counts; what was run and what holds is on record."""
        try:
            outcome = await workflow.execute_activity_method(
                TrialActivities.try_ability,
                start.ref,
                cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                summary="try the method in the sandbox",
                **REHEARSAL,
            )
            if outcome.state is TrialState.CANCELLED:
                outcome = await self._end(TrialState.CANCELLED, _CANCELLED)
        except (FailureError, asyncio.CancelledError) as error:
            outcome = await self._broken(error)
        self._show(_summary(outcome))
        return outcome

    async def _broken(self, error: FailureError | asyncio.CancelledError) -> TrialOutcome:
        if is_cancelled_exception(error):
            return await self._end(TrialState.CANCELLED, _CANCELLED)
        assert isinstance(error, FailureError), "only failures and cancellations are caught"
        found = application_error_in(error)
        return await self._end(TrialState.FAILED, found.message if found.non_retryable else _WORKER_LOST)

    async def _end(self, state: TrialState, note: str) -> TrialOutcome:
        ending = TrialEnding(ref=self._start.ref, state=state, note=clipped(note, 400), now=workflow.now())
        return await workflow.execute_local_activity_method(
            TrialActivities.end_trial, ending, summary=state.value, **STORE_CALL
        )

    def _show(self, doing: str) -> None:
        ref = self._start.ref
        lines = (f"**Ability** `{ref.ability_id}`, for {ref.owner_user_id}", f"**Now:** {doing}")
        workflow.set_current_details("\n\n".join(lines))


def _summary(outcome: TrialOutcome) -> str:
    conditions = outcome.conditions_held + outcome.conditions_failed
    skipped = outcome.conditions_not_applicable
    also = f"; {skipped} not applicable" if skipped else ""
    return (
        f"{outcome.state.value}: {outcome.commands_worked} of {outcome.commands} commands worked,"
        f" {outcome.conditions_held} of {conditions} conditions hold{also}"
    )
