"""Autonomous practice: a bounded loop of ideas and attempts beside a learning session (DOC3 §0A.7)."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.practice.practice_activities import PracticeActivities, PracticeThinking
    from contracts.base import clipped, rfc3339
    from contracts.practice.practice import (
        AttemptNoted,
        IdeaWanted,
        PracticeAttempt,
        PracticeClosing,
        PracticeIdea,
        PracticeQuestion,
        PracticeRun,
        PracticeState,
        PracticeThoughts,
        PracticeTry,
        PractisedAction,
    )
    from workflows.platform.presets import CHECK_CALL, MODEL_CALL, SESSION_COMMANDS, STORE_CALL, RemoteCall
    from workflows.platform.refusals import application_error_in
    from workflows.practice.practice_messages import PracticeEnd, PracticeStart


ATTEMPT = RemoteCall(
    start_to_close_timeout=timedelta(minutes=17),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(maximum_attempts=1),
)
"""One attempt is never repeated by itself: an action that was lost with its worker was used all the same."""


CLOSES_ITSELF = "closes-its-own-record"
"""The change by which a practice whose session cannot be reached closes its record; before it that stayed open."""

OUT_OF_TIME = "The time allowed is used up."


@workflow.defn(name="PracticeWorkflow")
class PracticeWorkflow:
    """Proposes, tries and looks until the goal is seen reached, the budget is used, or it has to ask.

    It talks to its session by the commands that every client has, and ends when the session leaves its capture.
    """

    @workflow.init
    def __init__(self, start: PracticeStart) -> None:
        self._ref = start.ref
        self._show("beginning", None)

    @workflow.run
    async def run(self, start: PracticeStart) -> PracticeEnd:
        """Practises within the budget on record, then ends the capture with a note."""
        try:
            closing = await self._practise()
        except (FailureError, asyncio.CancelledError) as error:
            closing = self._broken(error)
        ended = await self._end(closing)
        self._show(f"ended: {ended.state.value}. {ended.note}", ended)
        return PracticeEnd(learn_session_id=self._ref.learn_session_id, state=ended.state)

    async def _end(self, closing: PracticeClosing) -> PracticeRun:
        """Ends the capture and closes the record; the record also where the session cannot be reached."""
        try:
            return await workflow.execute_activity_method(
                PracticeActivities.end_practice, closing, summary=closing.state.value, **SESSION_COMMANDS
            )
        except (FailureError, asyncio.CancelledError) as error:
            if not workflow.patched(CLOSES_ITSELF):
                raise
            closing = self._broken(error)
        return await workflow.execute_local_activity_method(
            PracticeActivities.close_practice, closing, summary=closing.state.value, **STORE_CALL
        )

    async def _practise(self) -> PracticeClosing:
        run = await workflow.execute_activity_method(
            PracticeActivities.begin_practice, self._ref, summary="begin the capture", **SESSION_COMMANDS
        )
        while True:
            seconds = _seconds_left(run)
            if seconds <= 0:
                return self._closing(PracticeState.BUDGET_USED, OUT_OF_TIME)
            self._show("thinking of something to try", run)
            wanted = IdeaWanted(ref=self._ref, thoughts=await self._thoughts(run, seconds))
            if wanted.thoughts is not None and (seconds := _seconds_left(run)) <= 0:
                return self._closing(PracticeState.BUDGET_USED, OUT_OF_TIME)
            found = await workflow.execute_local_activity_method(
                PracticeActivities.propose_idea, wanted, summary="propose", **CHECK_CALL
            )
            if found.idea is None:
                state = found.end or PracticeState.FAILED
                return self._closing(state, found.note or "No idea.", found.question)
            attempt = await self._attempt(len(run.attempts) + 1, found.idea, seconds, run)
            noted = AttemptNoted(ref=self._ref, attempt=attempt, now=workflow.now())
            run = await workflow.execute_local_activity_method(
                PracticeActivities.note_attempt, noted, summary=f"attempt {attempt.number}", **STORE_CALL
            )
            if attempt.reached:
                return self._closing(PracticeState.REACHED, f"Reached in attempt {attempt.number}.")

    async def _thoughts(self, run: PracticeRun, seconds: float) -> PracticeThoughts | None:
        """What a model suggests, where the session was created under settings that name one."""
        if run.model is None or len(run.attempts) >= run.budget.max_attempts:
            return None
        asked = PracticeQuestion(ref=self._ref, seconds_left=seconds)
        self._show(f"asking {run.model} what to try", run)
        try:
            return await workflow.execute_activity_method(
                PracticeThinking.think_of_plans,
                asked,
                schedule_to_close_timeout=timedelta(seconds=seconds),
                summary=f"ask {run.model}",
                **MODEL_CALL,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return PracticeThoughts(model=run.model, note=clipped(f"Asking {run.model} did not end.", 240))

    async def _attempt(
        self, number: int, idea: PracticeIdea, seconds: float, run: PracticeRun
    ) -> PracticeAttempt:
        self._show(f"attempt {number}: {' && '.join(step.command for step in idea.steps)}", run)
        wanted = PracticeTry(ref=self._ref, number=number, idea=idea, seconds_left=seconds)
        try:
            return await workflow.execute_activity_method(
                PracticeActivities.attempt_idea, wanted, summary=f"attempt {number}", **ATTEMPT
            )
        except ActivityError as error:
            if is_cancelled_exception(error) or isinstance(error.cause, ApplicationError):
                raise
            lost = "not known: the worker was lost"
            return PracticeAttempt(
                number=number,
                idea=idea,
                actions=tuple(
                    PractisedAction(command=step.command, succeeded=False, details=lost)
                    for step in idea.steps
                ),
                interrupted=True,
                outcome="The worker was lost while it tried; its actions count as used.",
            )

    def _broken(self, error: BaseException) -> PracticeClosing:
        if is_cancelled_exception(error):
            return self._closing(PracticeState.CANCELLED, "Practice was cancelled.")
        assert isinstance(error, FailureError), "only failures and cancellations are caught"
        return self._closing(PracticeState.FAILED, application_error_in(error).message)

    def _closing(self, state: PracticeState, note: str, question: str | None = None) -> PracticeClosing:
        return PracticeClosing(
            ref=self._ref, state=state, note=clipped(note, 240), question=question, now=workflow.now()
        )

    def _show(self, doing: str, run: PracticeRun | None) -> None:
        lines = [
            f"**Session** `{self._ref.learn_session_id}` of {self._ref.owner_user_id}",
            f"**Now:** {doing}",
        ]
        if run is not None:
            used = f"{run.actions_used} of {run.budget.max_actions} actions"
            tries = f"{len(run.attempts)} of {run.budget.max_attempts} attempts"
            lines.append(f"**Used:** {used}, {tries}; ends by {rfc3339(run.ends_by)}")
            lines.append(f"**Goal:** {run.goal}")
        workflow.set_current_details("\n\n".join(lines))


def _seconds_left(run: PracticeRun) -> float:
    return (run.ends_by - workflow.now()).total_seconds()
