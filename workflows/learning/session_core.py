"""Core of the session workflow: serialises commands, commits each decision, and keeps the timer of the deadline.

The aggregate in memory changes only when the store has written the decision.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.learning.session_activities import SessionActivities
    from contracts.abilities.availability import InstallLane
    from contracts.base import rfc3339
    from contracts.errors import ErrorCode
    from contracts.learning.aggregate import (
        CommandReceipt,
        CommitResult,
        DraftRequest,
        DraftSummary,
        LearnSessionAggregate,
        SessionLook,
        SessionSeen,
    )
    from contracts.learning.observation import BoundarySource
    from contracts.learning.session import BuildPolicy
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.state_machine import (
        AT_REST,
        SessionCommand,
        lane_refusal,
        refusal,
    )
    from contracts.learning.validation import ValidationRunOutput, acceptance_objection, unproved_digest
    from contracts.platform.commands import CommitKey
    from workflows.learning import install_saga_workflow as install_saga
    from workflows.learning import session_capture, session_drafting
    from workflows.learning import validation_run_workflow as validation
    from workflows.learning.learn_session_messages import AnswerQuestionsCommand, InstallCommand, LearnCommand
    from workflows.learning.session_decision import SessionDecision, phase_of, render_details
    from workflows.learning.session_drafting import DraftPreparation
    from workflows.platform.presets import CHECK_CALL, STORE_CALL
    from workflows.platform.refusals import application_error_in, refused, refused_command
    from workflows.platform.search_attributes import STATE_ATTRIBUTE


class Alarm:
    """Timer of the session's deadline: rings at the latest when it was set to.

    A deadline that moves later, or goes away, leaves the running timer alone: it rings early, the workflow
    looks again and sets it anew. That costs one timer where cancelling and starting would cost three events
    at each move, and deadlines here move far more often than they pass.
    """

    def __init__(self) -> None:
        self._timer: asyncio.Task[None] | None = None
        self._rings_at: datetime | None = None
        self._rang = False

    def set(self, at: datetime | None) -> None:
        """Sees to it that the alarm rings no later than ``at``; with ``None`` nothing needs it now."""
        if at is None or self.is_set_for(at):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = at
        self._timer = asyncio.create_task(self._ring(at))

    def is_set_for(self, at: datetime | None) -> bool:
        """Whether nothing has to be set for a deadline at ``at``."""
        return at is None or (self._rings_at is not None and self._rings_at <= at)

    @property
    def rang(self) -> bool:
        """Whether it has rung since it was last answered."""
        return self._rang

    def answer(self) -> None:
        """Stops the ringing."""
        self._rang = False

    async def _ring(self, at: datetime) -> None:
        left = max(at - workflow.now(), timedelta())
        await workflow.sleep(left, summary="look at the session's deadline")
        self._timer = None
        self._rings_at = None
        self._rang = True


EVENTS_BEFORE_NEW_RUN = 2_000
"""Continue as new well before the server's own limits (4,096 events, 2,000 updates a run)."""


TAKES_OVER = "takes-the-stores-standing"
"""The change by which a run that finds the store ahead goes on from there; before it such a run ended."""


class StoreIsAhead(ApplicationError):
    """The store refused a decision that was based on an older state; the run has taken over the newer one."""


class SessionCore:
    """Holds the aggregate of a session; its commands are serialised by a lock."""

    def __init__(self, aggregate: LearnSessionAggregate, *, not_created: bool) -> None:
        self.aggregate = aggregate
        self._not_created = not_created
        self._over = False
        self._is_to_look = False
        self._turn = asyncio.Lock()
        self._alarm = Alarm()
        self._preparation = DraftPreparation()
        self._checks: asyncio.Task[ValidationRunOutput] | None = None
        self._installing = False
        self._show()

    # ---- what a command does ----

    def is_behind(self, message: LearnCommand) -> bool:
        """Whether the sender has seen a newer decision in the store."""
        return message.seen_change > self.aggregate.change

    def refuse_unless(self, command: SessionCommand, message: LearnCommand) -> None:
        """Raises the refusal of a command that the session does not take now; none while it is behind."""
        if self.is_behind(message):
            return
        found = refusal(self.aggregate, command)
        if found is not None:
            raise refused_command(found)

    def refuse_lane(self, lane: InstallLane) -> None:
        """Raises the refusal of a lane that the session's mode keeps closed."""
        found = lane_refusal(self.aggregate, lane)
        if found is not None:
            raise refused_command(found)

    def refuse_unproved(self, message: InstallCommand) -> None:
        """Raises the refusal of an install whose draft is not proved in everything, unless that was accepted."""
        steps = self.aggregate.unproved
        objection = acceptance_objection(
            steps, accepted=message.accept_unproved, digest=message.unproved_digest
        )
        if objection is not None:
            raise refused(
                ErrorCode.UNPROVED_NOT_ACCEPTED,
                objection,
                {
                    "unproved": [step.model_dump(mode="json") for step in steps],
                    "unproved_digest": unproved_digest(steps),
                },
            )

    async def take(
        self, command: SessionCommand, message: LearnCommand, decide: Callable[[SessionDecision], None]
    ) -> CommandReceipt:
        """Takes a command in its turn: look again, decide, commit."""
        async with self._turn:
            await self._catch_up(command, message)
            decision = self._decision()
            decide(decision)
            return await self._commit(decision, message)

    async def take_with_draft(
        self,
        command: SessionCommand,
        message: LearnCommand,
        request: Callable[[], DraftRequest],
        decide: Callable[[SessionDecision, DraftSummary], None],
    ) -> CommandReceipt:
        """As ``take``, with a fresh draft staged in the store first."""
        async with self._turn:
            await self._catch_up(command, message)
            draft = await self._draft(request())
            decision = self._decision()
            decide(decision, draft)
            return await self._commit(decision, message)

    def check_answers(self, message: AnswerQuestionsCommand) -> None:
        """Refuses answers to questions that this session does not ask."""
        open_ids = {question.question_id for question in self.aggregate.questions}
        unknown = sorted({answer.question_id for answer in message.answers} - open_ids)
        if unknown:
            raise refused(
                ErrorCode.QUESTION_NOT_FOUND,
                "No such question is open in this session.",
                {"unknown": unknown},
            )

    async def answer(self, message: AnswerQuestionsCommand) -> CommandReceipt:
        """Keeps answers; with the last one the draft is made again from all of them."""
        async with self._turn:
            await self._catch_up(SessionCommand.ANSWER_QUESTIONS, message)
            self.check_answers(message)
            answered = {*self.aggregate.answered, *(answer.question_id for answer in message.answers)}
            draft = None
            if len(answered) == len(self.aggregate.questions):
                draft = await self._draft(session_drafting.answered_request(self.aggregate, message.answers))
            decision = self._decision()
            session_drafting.answer(decision, message, draft)
            return await self._commit(decision, message)

    async def create(self, message: LearnCommand) -> CommandReceipt:
        """The first commit. If the store refuses it (the owner has a session already), nothing was ever here."""
        try:
            receipt = await self.take(SessionCommand.CREATE, message, session_capture.arm)
        except ApplicationError:
            self._over = True
            raise
        self._not_created = False
        return receipt

    async def cancel(
        self, message: LearnCommand, decide: Callable[[SessionDecision], None]
    ) -> CommandReceipt:
        """Cancels the session and the validation that may be running for it."""
        self._preparation.cut_short()
        receipt = await self.take(SessionCommand.CANCEL, message, decide)
        if self._checks is not None:
            self._checks.cancel()
        return receipt

    async def install(self, command: SessionCommand, message: InstallCommand) -> CommandReceipt:
        """Begins an install, waits for its saga, and takes the result: the answer says how it ended."""
        async with self._turn:
            await self._catch_up(command, message)
            self.refuse_unproved(message)
            await install_saga.check_base(self.aggregate, message.lane)
            await self._begin_install(message.lane, message.note, message.commit_key)
        return await self._see_install_through(message)

    def look_again(self) -> None:
        """The store may have a decision that this run does not know."""
        self._is_to_look = True

    # ---- what the run loop asks and does ----

    def is_to_look(self) -> bool:
        """Whether the store may be ahead."""
        return self._is_to_look

    async def look_at_store(self) -> None:
        """Goes on from what the store has, where that is newer."""
        self._is_to_look = False
        async with self._turn:
            await self._take_over()

    def may_close(self) -> bool:
        """Whether the run may end: at rest with everybody answered, or never created, or the store is ahead."""
        if not workflow.all_handlers_finished():
            return False
        busy = self.aggregate.validation is not None or self.aggregate.install is not None
        resting = self.aggregate.session.state in AT_REST and not busy and not self._not_created
        return self._over or resting

    def validation_is_due(self) -> bool:
        """Whether a run was begun whose result is not in."""
        return self.aggregate.validation is not None

    def install_is_due(self) -> bool:
        """Whether an install is open whose run was lost."""
        return self.aggregate.install is not None and not self._installing

    def installs_by_itself(self) -> bool:
        """Whether the owner's policy has the proven proposal installed privately without a person."""
        session = self.aggregate.session
        return (
            session.state is S.READY_FOR_REVIEW
            and session.build_policy is BuildPolicy.PRIVATE_AUTO_INSTALL
            and self.aggregate.allow_private_install
            and self.aggregate.install is None
            and not self.aggregate.unproved
        )

    def needs_new_run(self) -> bool:
        """Whether this run's history has grown long enough to go on in a new one."""
        return (
            workflow.info().is_continue_as_new_suggested()
            or workflow.info().get_current_history_length() > EVENTS_BEFORE_NEW_RUN
        ) and workflow.all_handlers_finished()

    async def install_by_itself(self) -> None:
        """The install that the build policy asks for."""
        async with self._turn:
            if not self.installs_by_itself():
                return
            note = "by the session's build policy"
            await self._begin_install(InstallLane.EXPERIMENTAL_PRIVATE, note, None)
        await self._see_install_through(None)

    async def resume_install(self) -> None:
        """Sees an open install through: the same saga again, whose steps do nothing twice.

        Its end is committed under the key of the command that began it, so that a client which repeats
        that command gets its answer.
        """
        key = self.aggregate.install.asked_under if self.aggregate.install else None
        message = LearnCommand(commit_key=key, correlation_id=workflow.info().workflow_id) if key else None
        await self._see_install_through(message)

    async def validate(self) -> None:
        """Runs the checks as a child and takes their result, unless the session was cancelled meanwhile."""
        run = self.aggregate.validation
        assert run is not None, "only called when a validation is due"
        self._checks = asyncio.create_task(validation.run_checks(self.aggregate))
        try:
            output = await self._checks
        except asyncio.CancelledError:
            output = None
        finally:
            self._checks = None
        async with self._turn:
            under_way = self.aggregate.validation
            if output is None or under_way is None or under_way.validation_run_id != run.validation_run_id:
                return
            decision = self._decision()
            validation.finish(decision, output)
            await self._commit(decision, None)

    async def wait(self) -> None:
        """Waits for something to do, at most until the deadline of the present state."""
        self._alarm.set(self._deadline())
        await workflow.wait_condition(
            lambda: self._has_work() or self._alarm.rang or not self._alarm.is_set_for(self._deadline())
        )
        if self._alarm.rang:
            self._alarm.answer()
            await self._look_at_deadline()

    # ---- parts ----

    def _has_work(self) -> bool:
        return (
            self.may_close()
            or self.is_to_look()
            or self.validation_is_due()
            or self.install_is_due()
            or self.installs_by_itself()
            or self.needs_new_run()
        )

    def _deadline(self) -> datetime | None:
        aggregate = self.aggregate
        settings = aggregate.settings
        match aggregate.session.state:
            case S.ARMED:
                return aggregate.state_since + timedelta(seconds=settings.arm_timeout_seconds)
            case S.CAPTURING:
                return aggregate.state_since + timedelta(seconds=settings.capture_timeout_seconds)
            case S.AWAITING_QUESTIONS:
                return aggregate.questions_due_at
            case _:
                return None

    async def _look_at_deadline(self) -> None:
        """The alarm rang: if the deadline of the present state has passed, what it asks for happens."""
        async with self._turn:
            deadline = self._deadline()
            if deadline is None or workflow.now() < deadline:
                return
            state = self.aggregate.session.state
            draft = None
            if state is S.AWAITING_QUESTIONS:
                draft = await self._draft(session_drafting.answered_request(self.aggregate))
            decision = self._decision()
            if draft is not None:
                session_drafting.expire_questions(decision, draft)
            elif state is S.ARMED:
                session_capture.time_out_armed(decision)
            else:
                session_capture.pause(decision, "capture_timeout", BoundarySource.SYSTEM_INFERRED)
            await self._commit(decision, None)

    async def _begin_install(self, lane: InstallLane, note: str | None, key: CommitKey | None) -> None:
        decision = self._decision()
        install_saga.begin(decision, lane, note, key)
        await self._commit(decision, None)

    async def _see_install_through(self, message: LearnCommand | None) -> CommandReceipt:
        open_install = self.aggregate.install
        if open_install is None:
            raise refused(ErrorCode.CONFLICT, "Another run has ended this install; read the session again.")
        self._installing = True
        try:
            output = await install_saga.run_saga(self.aggregate)
            async with self._turn:
                decision = self._decision()
                install_saga.finish(decision, output)
                return await self._commit(decision, message, saga_id=open_install.saga_id)
        finally:
            self._installing = False

    async def _draft(self, request: DraftRequest) -> DraftSummary:
        await self._preparation.replayed(request)
        request = await self._preparation.worded(request, self.aggregate.settings)
        try:
            return await workflow.execute_local_activity_method(
                SessionActivities.draft_proposal,
                request,
                summary=f"draft r{request.revision}",
                **CHECK_CALL,
            )
        except FailureError as error:
            raise application_error_in(error) from None

    def _decision(self) -> SessionDecision:
        return SessionDecision(self.aggregate, workflow.now())

    async def _commit(
        self, decision: SessionDecision, message: LearnCommand | None, saga_id: str | None = None
    ) -> CommandReceipt:
        commit = decision.commit(message, workflow.info().workflow_id, saga_id)
        try:
            result: CommitResult = await workflow.execute_local_activity_method(
                SessionActivities.commit_session,
                commit,
                summary=f"{commit.aggregate.session.state.value} #{commit.aggregate.change}",
                **STORE_CALL,
            )
        except FailureError as error:
            failure = application_error_in(error)
            if failure.type == ErrorCode.CONFLICT:
                # The store has moved on without this run.
                self._over = not (workflow.patched(TAKES_OVER) and await self._take_over())
                if not self._over:
                    raise StoreIsAhead(
                        failure.message, *failure.details, type=failure.type, non_retryable=True
                    ) from None
            raise failure from None
        # A decision made again after a lost answer differs from the one that was written, which counts.
        written = result.present if result.replayed else commit.aggregate
        if written is None:
            self._over = True
            return result.receipt
        self._believe(written)
        return result.receipt

    async def _catch_up(self, command: SessionCommand, message: LearnCommand) -> None:
        """Refuses a command that the session does not take, by what the store has."""
        if self.is_behind(message):
            await self._take_over()
        self.refuse_unless(command, message)

    async def _take_over(self) -> bool:
        """Takes the session as the store has it; whether it knew something newer."""
        session_id = self.aggregate.session.learn_session_id
        seen: SessionSeen = await workflow.execute_local_activity_method(
            SessionActivities.look_at_session,
            SessionLook(learn_session_id=session_id, known_change=self.aggregate.change),
            summary="look at the store",
            **STORE_CALL,
        )
        if seen.newer is None:
            return False
        self._not_created = False
        self._believe(seen.newer)
        return True

    def _believe(self, written: LearnSessionAggregate) -> None:
        before, after = phase_of(self.aggregate.session.state), phase_of(written.session.state)
        self.aggregate = written
        self._show()
        if after != before:
            workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
                [STATE_ATTRIBUTE.value_set(after)]
            )

    def _show(self) -> None:
        deadline = self._deadline()
        workflow.set_current_details(render_details(self.aggregate, rfc3339(deadline) if deadline else None))
