"""Activities of autonomous practice: begin, suggest (by a language model, if there is one), attempt, record, end.

A failure of the model becomes a note, never an activity failure.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid5

from temporalio import activity
from temporalio.client import Client

from activities.learning.model_drafting import MODEL_TROUBLE, NO_MODEL, trouble_note
from activities.platform.context import heartbeats
from activities.platform.refusals import refusals_by_rule, refusing
from clients.learning.model_endpoint import ModelEndpoint
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.session import LearnSessionState as S
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.practice.practice import (
    AttemptNoted,
    IdeaWanted,
    NextIdea,
    PracticeAttempt,
    PracticeClosing,
    PracticePlans,
    PracticeQuestion,
    PracticeRef,
    PracticeRun,
    PracticeState,
    PracticeThoughts,
    PracticeTry,
    StartPracticeRequest,
)
from domain.learning.model.answer import read_answer
from domain.learning.model.prompt import ModelQuestion
from domain.practice.commands import AllowedCommands
from domain.practice.conditions import unread_note
from domain.practice.ideas import next_idea, steps_left
from domain.practice.plans import plans_within, practice_question
from host.sandbox.launch_order import SandboxUnavailable
from skills.rehearsal.practice_ground import AttemptSeen, Bounds, PracticeGround
from stores.learning.sessions import SessionStore
from stores.practice.practice import PracticeKnowledge, PracticeStore

_LOOK_EVERY_SECONDS = 0.5


class PractisingSessions(Protocol):
    """Drives the learning session of a practice by the commands that a client would send."""

    async def begin(self, run: PracticeRun, alive: Callable[[], None]) -> None:
        """Begins the capture and marks the goal."""
        ...

    async def keep(self, run: PracticeRun, attempt: PracticeAttempt, alive: Callable[[], None]) -> bool:
        """Takes a successful attempt into the capture; answers whether it is there."""
        ...

    async def stop(self, run: PracticeRun, reason: str, alive: Callable[[], None]) -> None:
        """Ends the capture, where it goes on."""
        ...


class PracticeActivities:
    """Each may be repeated but the attempt, which is tried once: what is lost counts as used."""

    def __init__(
        self,
        practices: PracticeStore,
        knowledge: PracticeKnowledge,
        sessions: SessionStore,
        driver: Callable[[Client], PractisingSessions],
        rehearsal_root: Path,
        written: Callable[[], None],
    ) -> None:
        """``written`` is called after each change, to have the files projected."""
        self._practices = practices
        self._knowledge = knowledge
        self._sessions = sessions
        self._driver = driver
        self._rehearsal_root = rehearsal_root
        self._written = written

    @activity.defn
    async def begin_practice(self, ref: PracticeRef) -> PracticeRun:
        """Begins the session's capture and states the goal there."""
        with refusals_by_rule():
            run = self._practices.get(ref.learn_session_id)
            try:
                await self._driver(activity.client()).begin(run, activity.heartbeat)
            except Refusal:
                # A session that was left meanwhile is no failure: the next check ends the practice.
                if self._state(ref) in (S.ARMED, S.CAPTURING):
                    raise
        return run

    @activity.defn
    @refusing
    def propose_idea(self, wanted: IdeaWanted) -> NextIdea:
        """The next idea, or how practice ends: budget used, out of ideas, or left by its owner."""
        ref = wanted.ref
        run = self._practices.get(ref.learn_session_id)
        state = self._state(ref)
        if state is not S.CAPTURING:
            return NextIdea(end=PracticeState.CANCELLED, note=f"The session is {state.value}.")
        if len(run.attempts) >= run.budget.max_attempts:
            return NextIdea(end=PracticeState.BUDGET_USED, note="The attempts allowed are used up.")
        request = self._practices.request_of(run)
        known = self._knowledge.of(ref.owner_user_id)
        left = run.budget.max_actions - run.actions_used
        return next_idea(request, known, run.attempts, left, wanted.thoughts)

    @activity.defn(no_thread_cancel_exception=True)
    @refusing
    def attempt_idea(self, wanted: PracticeTry) -> PracticeAttempt:
        """Carries the idea out in the sandbox and looks at the real effects.

        Ends within about a second when the session is cancelled or paused, or the time is used up.
        """
        ref = wanted.ref
        run = self._practices.get(ref.learn_session_id)
        request = self._practices.request_of(run)
        cancelled = threading.Event()
        bounds = Bounds(AllowedCommands(request.allowed_commands), practice_policy(run), wanted.seconds_left)
        ground = PracticeGround(self._rehearsal_root, bounds, self._watch(ref, cancelled), cancelled)
        session = UUID(ref.learn_session_id)
        commands = [
            RehearsalCommand(
                event_id=str(uuid5(session, f"practice/{wanted.number}/{position}")),
                command=step.command,
                working_folder=".",
            )
            for position, step in enumerate(wanted.idea.steps)
        ]
        try:
            seen = ground.attempt(commands, request.start_files, request.success_conditions)
        except SandboxUnavailable as unavailable:
            message = clipped(f"Practice needs a sandbox: {unavailable}", 240)
            raise Refusal(ErrorCode.ADAPTER_UNAVAILABLE, message) from unavailable
        return PracticeAttempt(
            number=wanted.number,
            idea=wanted.idea,
            actions=seen.actions,
            conditions=seen.conditions,
            reached=seen.reached,
            interrupted=seen.interrupted,
            outcome=clipped(_outcome(seen, unread_note(request.success_conditions)), 400),
        )

    @activity.defn
    @refusing
    def note_attempt(self, noted: AttemptNoted) -> PracticeRun:
        """Puts an attempt on record."""
        run = self._practices.note(noted)
        self._written()
        return run

    @activity.defn
    async def end_practice(self, closing: PracticeClosing) -> PracticeRun:
        """Takes a successful attempt into the capture, ends the capture, and closes the record.

        A refusal that may pass is tried again while the session captures; whatever else the session refuses, the
        record is closed.
        """
        with refusals_by_rule():
            run = self._practices.get(closing.ref.learn_session_id)
            driver = self._driver(activity.client())
            closing = _with_what_was_not_checked(await self._kept(driver, run, closing), run)
            await self._stopped(driver, run, closing)
            ended = self._practices.close(closing)
        self._written()
        return ended

    @activity.defn
    @refusing
    def close_practice(self, closing: PracticeClosing) -> PracticeRun:
        """Closes the record alone, where the session could not be reached."""
        ended = self._practices.close(closing)
        self._written()
        return ended

    async def _kept(
        self, driver: PractisingSessions, run: PracticeRun, closing: PracticeClosing
    ) -> PracticeClosing:
        """The end as it is once the attempt that reached the goal was offered to the capture."""
        reached = [attempt for attempt in run.attempts if attempt.reached]
        if closing.state is not PracticeState.REACHED or not reached:
            return closing
        try:
            if await driver.keep(run, reached[-1], activity.heartbeat):
                return closing
        except Refusal as refused:
            if self._captures(closing.ref):
                if refused.retryable:
                    raise
                note = clipped(f"{closing.note} The session did not take what worked: {refused.message}", 240)
                return closing.changed(state=PracticeState.FAILED, note=note)
        return self._too_late(closing)

    async def _stopped(self, driver: PractisingSessions, run: PracticeRun, closing: PracticeClosing) -> None:
        if not self._captures(closing.ref):
            return
        try:
            await driver.stop(run, clipped(closing.note, 240), activity.heartbeat)
        except Refusal as refused:
            # A person may leave the session between any look and the command that follows it.
            if self._captures(closing.ref) and refused.retryable:
                raise
            activity.logger.warning("a practised session was not stopped", extra={"reason": refused.message})

    def _too_late(self, closing: PracticeClosing) -> PracticeClosing:
        """The end of a practice whose session was paused or cancelled before it could take what worked."""
        state = self._state_if_there(closing.ref)
        was = "gone" if state is None else state.value
        note = clipped(
            f"{closing.note} The session was {was} by then: what worked is not in its capture.", 240
        )
        return closing.changed(state=PracticeState.CANCELLED, note=note)

    def _state(self, ref: PracticeRef) -> S:
        return self._sessions.owned(ref.learn_session_id, ref.owner_user_id).session.state

    def _state_if_there(self, ref: PracticeRef) -> S | None:
        try:
            return self._state(ref)
        except Refusal as refused:
            if refused.code is not ErrorCode.LEARN_SESSION_NOT_FOUND:
                raise
            return None

    def _captures(self, ref: PracticeRef) -> bool:
        return self._state_if_there(ref) is S.CAPTURING

    def _watch(self, ref: PracticeRef, cancelled: threading.Event) -> Callable[[], None]:
        """Sends a heartbeat, and checks whether the session still wants the attempt."""
        looked_at = 0.0

        def alive() -> None:
            nonlocal looked_at
            activity.heartbeat()
            if activity.is_cancelled() or activity.is_worker_shutdown():
                cancelled.set()
            if time.monotonic() - looked_at >= _LOOK_EVERY_SECONDS:
                looked_at = time.monotonic()
                if self._state(ref) is not S.CAPTURING:
                    cancelled.set()

        return alive


def practice_policy(run: PracticeRun) -> TestPolicy:
    """The bounds of practice: copies of the start files, nothing destroyed, nothing sent."""
    return TestPolicy(
        policy_id=str(uuid5(UUID(run.learn_session_id), "practice-policy")),
        mode=TestPolicyMode.COPY_ARTIFACT if run.start_files else TestPolicyMode.BLANK_ARTIFACT,
        max_actions=run.budget.max_actions,
    )


def _with_what_was_not_checked(closing: PracticeClosing, run: PracticeRun) -> PracticeClosing:
    unread = unread_note(run.success_conditions)
    if closing.state is not PracticeState.REACHED or not unread:
        return closing
    return closing.changed(note=clipped(f"{closing.note} {unread}", 240))


def _outcome(seen: AttemptSeen, unread: str) -> str:
    """What came of an attempt; ``unread`` says what the conditions leave unexamined."""
    if seen.interrupted:
        return "Out of time." if seen.out_of_time else "Stopped: the session does not practise any more."
    failed = [action for action in seen.actions if not action.succeeded and not action.is_check]
    if failed:
        return f"{failed[0].command} failed: {failed[0].details}"
    unmet = [f"{one.condition}: {one.details or 'not so'}" for one in seen.conditions if not one.met]
    return "; ".join(unmet) or f"Every success condition was seen to hold. {unread}".rstrip()


class NotWanted(Exception):
    """There is no need to ask, or no more; the text is the reason."""


class PracticeThinking:
    """An ordinary activity: it waits for seconds. Only plans within bounds come into the history."""

    def __init__(
        self,
        practices: PracticeStore,
        knowledge: PracticeKnowledge,
        sessions: SessionStore,
        endpoint: ModelEndpoint | None,
    ) -> None:
        """``endpoint`` is absent where this worker's settings name none."""
        self._practices = practices
        self._knowledge = knowledge
        self._sessions = sessions
        self._endpoint = endpoint

    @activity.defn
    async def think_of_plans(self, asked: PracticeQuestion) -> PracticeThoughts:
        """Asks the model, for as long as the session practises and there is time."""
        if self._endpoint is None:
            return PracticeThoughts(model="none", note=NO_MODEL)
        model = self._endpoint.model
        try:
            async with heartbeats(), asyncio.timeout(asked.seconds_left):
                request, question = await asyncio.to_thread(self._question, asked.ref)
                answer = await self._while_it_practises(asked.ref, self._endpoint.ask(question))
            plans, problem = plans_within(read_answer(answer, PracticePlans), request)
        except NotWanted as reason:
            return PracticeThoughts(model=model, note=str(reason))
        except TimeoutError:
            return PracticeThoughts(model=model, note="The time allowed was used up while a model was asked.")
        except MODEL_TROUBLE as trouble:
            plans, problem = (), str(trouble)
        if not plans:
            activity.logger.warning("the model suggested nothing usable", extra={"reason": problem})
            return PracticeThoughts(model=model, note=trouble_note(model, problem))
        return PracticeThoughts(model=model, plans=plans)

    def _question(self, ref: PracticeRef) -> tuple[StartPracticeRequest, ModelQuestion]:
        if (state := self._state(ref)) is not S.CAPTURING:
            raise NotWanted(f"The session is {state.value}: no model was asked.")
        run = self._practices.get(ref.learn_session_id)
        request = self._practices.request_of(run)
        most = steps_left(request, run.budget.max_actions - run.actions_used)
        if most < 1:
            raise NotWanted("No model was asked: the actions allowed are used up.")
        known = self._knowledge.of(ref.owner_user_id)
        return request, practice_question(request, known, run.attempts, most)

    async def _while_it_practises(self, ref: PracticeRef, asking: Coroutine[None, None, str]) -> str:
        """The answer, unless the session is cancelled or paused meanwhile: that is noticed within a second."""
        answer = asyncio.create_task(asking)
        try:
            while True:
                done, _ = await asyncio.wait({answer}, timeout=_LOOK_EVERY_SECONDS)
                if done:
                    return answer.result()
                state = await asyncio.to_thread(self._state, ref)
                if state is not S.CAPTURING:
                    raise NotWanted(f"The session is {state.value}: no answer was waited for.")
        finally:
            answer.cancel()
            await asyncio.wait({answer})

    def _state(self, ref: PracticeRef) -> S:
        return self._sessions.owned(ref.learn_session_id, ref.owner_user_id).session.state
