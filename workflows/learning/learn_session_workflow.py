"""Workflow of a learning session, in which one person teaches one ability: its updates and its run loop.

With the options of its start, for gateways and recovery.
"""

from contextlib import suppress
from datetime import timedelta
from typing import TypedDict

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDConflictPolicy

with workflow.unsafe.imports_passed_through():
    from contracts.base import clipped
    from contracts.errors import ErrorCode
    from contracts.learning.aggregate import CommandReceipt, LearnSessionAggregate
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.observation import BoundaryKind, BoundarySource
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.state_machine import SessionCommand
    from contracts.learning.validation import ValidationRunKind
    from contracts.workflow_ids import LOOK, learn_session_id
    from workflows.learning import session_capture, session_drafting
    from workflows.learning import validation_run_workflow as validation
    from workflows.learning.learn_session_messages import (
        AnswerQuestionsCommand,
        GenerateProposalCommand,
        InstallCommand,
        LearnCommand,
        LearnSessionEnd,
        LearnSessionStart,
        MarkCommand,
        ResumeCommand,
        ReviseCommand,
        SetTestPolicyCommand,
        StartCommand,
        ValidateCommand,
    )
    from workflows.learning.session_core import SessionCore, StoreIsAhead
    from workflows.learning.session_decision import SessionDecision, phase_of
    from workflows.platform.presets import WORKFLOW_TASK_TIMEOUT
    from workflows.platform.refusals import refused
    from workflows.platform.search_attributes import KIND_ATTRIBUTE, OWNER_ATTRIBUTE, STATE_ATTRIBUTE


@workflow.defn(name="LearnSessionWorkflow")
class LearnSessionWorkflow:
    """Takes commands as updates, keeps the deadline of its state, runs validation and install as children.

    Validators refuse before anything is written. Every decision is one commit to the store, and memory
    changes only once it is written: the store can rebuild this workflow at any time, and at rest it closes.
    """

    @workflow.init
    def __init__(self, start: LearnSessionStart) -> None:
        self._core = SessionCore(start.aggregate, not_created=not start.created)

    @workflow.run
    async def run(self, start: LearnSessionStart) -> LearnSessionEnd:
        """Lives until the session is at rest and everybody has been answered."""
        core = self._core
        while not core.may_close():
            # A store that is ahead refuses what was due by the older state.
            with suppress(StoreIsAhead):
                await self._next_step()
        return LearnSessionEnd(state=core.aggregate.session.state, change=core.aggregate.change)

    async def _next_step(self) -> None:
        core = self._core
        if core.is_to_look():
            await core.look_at_store()
        elif core.validation_is_due():
            await core.validate()
        elif core.install_is_due():
            await core.resume_install()
        elif core.installs_by_itself():
            await core.install_by_itself()
        elif core.needs_new_run():
            workflow.continue_as_new(LearnSessionStart(aggregate=core.aggregate))
        else:
            await core.wait()

    @workflow.signal(name=LOOK, description="The store may know more: look at it")
    def look_at_store(self) -> None:
        self._core.look_again()

    @workflow.update(description="Create the session and arm it")
    async def create(self, message: LearnCommand) -> CommandReceipt:
        return await self._core.create(message)

    @create.validator
    def _may_create(self, message: LearnCommand) -> None:
        self._core.refuse_unless(SessionCommand.CREATE, message)

    @workflow.update(description="Begin capture")
    async def start(self, message: StartCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.START, message, lambda decision: session_capture.begin(decision, message)
        )

    @start.validator
    def _may_start(self, message: StartCommand) -> None:
        self._core.refuse_unless(SessionCommand.START, message)

    @workflow.update(description="Pause capture")
    async def pause(self, message: LearnCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.PAUSE,
            message,
            lambda decision: session_capture.pause(decision, message.reason, BoundarySource.API_CALL),
        )

    @pause.validator
    def _may_pause(self, message: LearnCommand) -> None:
        self._core.refuse_unless(SessionCommand.PAUSE, message)

    @workflow.update(description="Resume capture")
    async def resume(self, message: ResumeCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.RESUME, message, lambda decision: session_capture.resume(decision, message)
        )

    @resume.validator
    def _may_resume(self, message: ResumeCommand) -> None:
        self._core.refuse_unless(SessionCommand.RESUME, message)

    @workflow.update(description="Stop capture")
    async def stop(self, message: LearnCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.STOP, message, lambda decision: session_capture.stop(decision, message)
        )

    @stop.validator
    def _may_stop(self, message: LearnCommand) -> None:
        self._core.refuse_unless(SessionCommand.STOP, message)

    @workflow.update(description="Mark a goal, a step or a trimmed end")
    async def mark(self, message: MarkCommand) -> CommandReceipt:
        return await self._core.take(
            _command_of(message), message, lambda decision: session_capture.mark(decision, message)
        )

    @mark.validator
    def _may_mark(self, message: MarkCommand) -> None:
        self._core.refuse_unless(_command_of(message), message)

    @workflow.update(name="set-test-policy", description="Set the bounds of the rehearsal")
    async def set_test_policy(self, message: SetTestPolicyCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.SET_TEST_POLICY,
            message,
            lambda decision: session_capture.set_test_policy(decision, message.policy),
        )

    @set_test_policy.validator
    def _may_set_test_policy(self, message: SetTestPolicyCommand) -> None:
        self._core.refuse_unless(SessionCommand.SET_TEST_POLICY, message)

    @workflow.update(name="generate-proposal", description="Draft a proposal from the capture")
    async def generate_proposal(self, message: GenerateProposalCommand) -> CommandReceipt:
        return await self._core.take_with_draft(
            SessionCommand.GENERATE_PROPOSAL,
            message,
            lambda: session_drafting.draft_request(self._core.aggregate, replay=message.replay),
            lambda decision, draft: session_drafting.propose(decision, message, draft),
        )

    @generate_proposal.validator
    def _may_generate_proposal(self, message: GenerateProposalCommand) -> None:
        self._core.refuse_unless(SessionCommand.GENERATE_PROPOSAL, message)

    @workflow.update(name="answer-questions", description="Answer open questions")
    async def answer_questions(self, message: AnswerQuestionsCommand) -> CommandReceipt:
        return await self._core.answer(message)

    @answer_questions.validator
    def _may_answer_questions(self, message: AnswerQuestionsCommand) -> None:
        self._core.refuse_unless(SessionCommand.ANSWER_QUESTIONS, message)
        if not self._core.is_behind(message):
            self._core.check_answers(message)

    @workflow.update(description="Send the proposal back to drafting")
    async def revise(self, message: ReviseCommand) -> CommandReceipt:
        return await self._core.take_with_draft(
            SessionCommand.REVISE,
            message,
            lambda: session_drafting.draft_request(
                self._core.aggregate, edits=message.edits, instructions=message.instructions, rebase=True
            ),
            lambda decision, draft: session_drafting.revise(decision, message, draft),
        )

    @revise.validator
    def _may_revise(self, message: ReviseCommand) -> None:
        self._core.refuse_unless(SessionCommand.REVISE, message)

    @workflow.update(description="Start a validation run")
    async def validate(self, message: ValidateCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.VALIDATE, message, lambda decision: validation.begin(decision, message)
        )

    @validate.validator
    def _may_validate(self, message: ValidateCommand) -> None:
        self._core.refuse_unless(SessionCommand.VALIDATE, message)
        knows = not self._core.is_behind(message)
        if knows and not self._core.aggregate.lint_passed and message.selected != (ValidationRunKind.LINT,):
            raise refused(
                ErrorCode.CHECKPOINT_LINT_FAILED,
                "The draft fails the checkpoint lint; `apprentice learn show` says where.",
            )

    @workflow.update(description="Install the proposal")
    async def install(self, message: InstallCommand) -> CommandReceipt:
        return await self._core.install(SessionCommand.INSTALL, message)

    @install.validator
    def _may_install(self, message: InstallCommand) -> None:
        self._core.refuse_unless(SessionCommand.INSTALL, message)
        self._core.refuse_lane(message.lane)
        self._core.refuse_unproved(message)

    @workflow.update(description="Approve the proposal for the workspace")
    async def approve(self, message: InstallCommand) -> CommandReceipt:
        return await self._core.install(SessionCommand.APPROVE, message)

    @approve.validator
    def _may_approve(self, message: InstallCommand) -> None:
        self._core.refuse_unless(SessionCommand.APPROVE, message)
        self._core.refuse_lane(message.lane)
        self._core.refuse_unproved(message)

    @workflow.update(description="Turn the proposal down")
    async def reject(self, message: LearnCommand) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.REJECT,
            message,
            lambda d: d.go(S.REJECTED, Event.SESSION_REJECTED, Receipt.REJECTED, message.reason),
        )

    @reject.validator
    def _may_reject(self, message: LearnCommand) -> None:
        self._core.refuse_unless(SessionCommand.REJECT, message)

    @workflow.update(description="Cancel the session")
    async def cancel(self, message: LearnCommand) -> CommandReceipt:
        def decide(decision: SessionDecision) -> None:
            validation.cancel(decision)
            decision.go(S.CANCELLED, Event.SESSION_CANCELLED, Receipt.CANCELLED, message.reason)

        return await self._core.cancel(message, decide)

    @cancel.validator
    def _may_cancel(self, message: LearnCommand) -> None:
        self._core.refuse_unless(SessionCommand.CANCEL, message)


def _command_of(message: MarkCommand) -> SessionCommand:
    trims = message.kind in (BoundaryKind.TRIM_START, BoundaryKind.TRIM_END)
    return SessionCommand.TRIM if trims else SessionCommand.MARK


class Opening(TypedDict):
    """The arguments of a start: one that runs already is joined."""

    id: str
    task_queue: str
    id_conflict_policy: WorkflowIDConflictPolicy
    static_summary: str
    static_details: str
    search_attributes: TypedSearchAttributes
    task_timeout: timedelta


def opening_of(aggregate: LearnSessionAggregate, task_queue: str) -> Opening:
    """The start of this session's workflow."""
    session = aggregate.session
    return Opening(
        id=learn_session_id(session.learn_session_id),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary=_static_summary(aggregate),
        static_details=_static_details(aggregate),
        search_attributes=TypedSearchAttributes(
            [
                SearchAttributePair(STATE_ATTRIBUTE, phase_of(session.state)),
                SearchAttributePair(OWNER_ATTRIBUTE, session.owner_user_id),
                SearchAttributePair(KIND_ATTRIBUTE, "learn-session"),
            ]
        ),
        task_timeout=WORKFLOW_TASK_TIMEOUT,
    )


def _static_summary(aggregate: LearnSessionAggregate) -> str:
    """What the session is about where that is known when its workflow starts, how it teaches and whose it is."""
    session = aggregate.session
    how = f"{session.entry_mode.value} by {session.owner_user_id}"
    if aggregate.proposal is not None:
        return f"{clipped(aggregate.proposal.title, 100)} · {how}"
    if session.coaching is not None:
        return f"{clipped(session.coaching.goal, 100)} · {how}"
    return how


def _static_details(aggregate: LearnSessionAggregate) -> str:
    session = aggregate.session
    return "\n".join(
        [
            f"Learning session `{session.learn_session_id}`",
            "",
            f"- entry mode: {session.entry_mode.value}",
            f"- observation: {session.observation_mode.value}",
            f"- build policy: {session.build_policy.value}",
        ]
    )
