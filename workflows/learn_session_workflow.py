"""A learning session from its creation to its rest: one person teaches one ability."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from contracts.errors import ErrorCode
    from contracts.learning.aggregate import CommandReceipt
    from contracts.learning.commands import SessionCommand
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.observation import BoundaryKind, BoundarySource
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.validation import ValidationRunKind
    from workflows import session_capture, session_drafting, session_validation
    from workflows.learn_session_messages import (
        Asked,
        AskedAnswers,
        AskedCapture,
        AskedInstall,
        AskedMark,
        AskedProposal,
        AskedResume,
        AskedRevision,
        AskedTestPolicy,
        AskedValidation,
        LearnSessionEnd,
        LearnSessionStart,
    )
    from workflows.refusals import refused
    from workflows.session_core import SessionCore
    from workflows.session_decision import SessionDecision


@workflow.defn(name="LearnSessionWorkflow")
class LearnSessionWorkflow:
    """Takes commands as updates, keeps the deadline of its state, runs validation and install as children.

    Validators refuse before anything is written. Every decision is one commit to the store, and memory
    changes only once it is written: the store can rebuild this workflow at any time, and at rest it closes.
    """

    @workflow.init
    def __init__(self, start: LearnSessionStart) -> None:
        self._core = SessionCore(start.aggregate, unborn=not start.created)

    @workflow.run
    async def run(self, start: LearnSessionStart) -> LearnSessionEnd:
        """Lives until the session is at rest and everybody has been answered."""
        core = self._core
        while not core.may_close():
            if core.validation_is_due():
                await core.validate()
            elif core.install_is_due():
                await core.resume_install()
            elif core.installs_by_itself():
                await core.install_by_itself()
            elif core.needs_new_run():
                workflow.continue_as_new(LearnSessionStart(aggregate=core.aggregate))
            else:
                await core.wait()
        return LearnSessionEnd(state=core.aggregate.session.state, change=core.aggregate.change)

    @workflow.update(description="Create the session and arm it")
    async def create(self, asked: Asked) -> CommandReceipt:
        return await self._core.create(asked)

    @create.validator
    def _may_create(self, asked: Asked) -> None:
        self._core.refuse_unless(SessionCommand.CREATE)

    @workflow.update(description="Begin capture")
    async def start(self, asked: AskedCapture) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.START, asked, lambda decision: session_capture.begin(decision, asked)
        )

    @start.validator
    def _may_start(self, asked: AskedCapture) -> None:
        self._core.refuse_unless(SessionCommand.START)

    @workflow.update(description="Pause capture")
    async def pause(self, asked: Asked) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.PAUSE,
            asked,
            lambda decision: session_capture.pause(decision, asked.reason, BoundarySource.API_CALL),
        )

    @pause.validator
    def _may_pause(self, asked: Asked) -> None:
        self._core.refuse_unless(SessionCommand.PAUSE)

    @workflow.update(description="Resume capture")
    async def resume(self, asked: AskedResume) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.RESUME, asked, lambda decision: session_capture.resume(decision, asked)
        )

    @resume.validator
    def _may_resume(self, asked: AskedResume) -> None:
        self._core.refuse_unless(SessionCommand.RESUME)

    @workflow.update(description="Stop capture")
    async def stop(self, asked: Asked) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.STOP, asked, lambda decision: session_capture.stop(decision, asked)
        )

    @stop.validator
    def _may_stop(self, asked: Asked) -> None:
        self._core.refuse_unless(SessionCommand.STOP)

    @workflow.update(description="Mark a goal, a step or a trimmed end")
    async def mark(self, asked: AskedMark) -> CommandReceipt:
        return await self._core.take(
            _command_of(asked), asked, lambda decision: session_capture.mark(decision, asked)
        )

    @mark.validator
    def _may_mark(self, asked: AskedMark) -> None:
        self._core.refuse_unless(_command_of(asked))

    @workflow.update(name="set-test-policy", description="Set the bounds of the rehearsal")
    async def set_test_policy(self, asked: AskedTestPolicy) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.SET_TEST_POLICY,
            asked,
            lambda decision: session_capture.set_test_policy(decision, asked.policy),
        )

    @set_test_policy.validator
    def _may_set_test_policy(self, asked: AskedTestPolicy) -> None:
        self._core.refuse_unless(SessionCommand.SET_TEST_POLICY)

    @workflow.update(name="generate-proposal", description="Draft a proposal from the capture")
    async def generate_proposal(self, asked: AskedProposal) -> CommandReceipt:
        return await self._core.take_with_draft(
            SessionCommand.GENERATE_PROPOSAL,
            asked,
            lambda: session_drafting.draft_request(self._core.aggregate),
            lambda decision, draft: session_drafting.propose(decision, asked, draft),
        )

    @generate_proposal.validator
    def _may_generate_proposal(self, asked: AskedProposal) -> None:
        self._core.refuse_unless(SessionCommand.GENERATE_PROPOSAL)

    @workflow.update(name="answer-questions", description="Answer open questions")
    async def answer_questions(self, asked: AskedAnswers) -> CommandReceipt:
        return await self._core.answer(asked)

    @answer_questions.validator
    def _may_answer_questions(self, asked: AskedAnswers) -> None:
        self._core.refuse_unless(SessionCommand.ANSWER_QUESTIONS)
        self._core.check_answers(asked)

    @workflow.update(description="Send the proposal back to drafting")
    async def revise(self, asked: AskedRevision) -> CommandReceipt:
        return await self._core.take_with_draft(
            SessionCommand.REVISE,
            asked,
            lambda: session_drafting.draft_request(
                self._core.aggregate, edits=asked.edits, instructions=asked.instructions, rebase=True
            ),
            lambda decision, draft: session_drafting.revise(decision, asked, draft),
        )

    @revise.validator
    def _may_revise(self, asked: AskedRevision) -> None:
        self._core.refuse_unless(SessionCommand.REVISE)

    @workflow.update(description="Start a validation run")
    async def validate(self, asked: AskedValidation) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.VALIDATE, asked, lambda decision: session_validation.begin(decision, asked)
        )

    @validate.validator
    def _may_validate(self, asked: AskedValidation) -> None:
        self._core.refuse_unless(SessionCommand.VALIDATE)
        if not self._core.aggregate.lint_passed and asked.selected != (ValidationRunKind.LINT,):
            raise refused(
                ErrorCode.CHECKPOINT_LINT_FAILED, "The draft fails the checkpoint lint; revise it first."
            )

    @workflow.update(description="Install the proposal")
    async def install(self, asked: AskedInstall) -> CommandReceipt:
        return await self._core.install(SessionCommand.INSTALL, asked)

    @install.validator
    def _may_install(self, asked: AskedInstall) -> None:
        self._core.refuse_unless(SessionCommand.INSTALL)
        self._core.refuse_lane(asked.lane)

    @workflow.update(description="Approve the proposal for the workspace")
    async def approve(self, asked: AskedInstall) -> CommandReceipt:
        return await self._core.install(SessionCommand.APPROVE, asked)

    @approve.validator
    def _may_approve(self, asked: AskedInstall) -> None:
        self._core.refuse_unless(SessionCommand.APPROVE)
        self._core.refuse_lane(asked.lane)

    @workflow.update(description="Turn the proposal down")
    async def reject(self, asked: Asked) -> CommandReceipt:
        return await self._core.take(
            SessionCommand.REJECT,
            asked,
            lambda d: d.go(S.REJECTED, Event.SESSION_REJECTED, Receipt.REJECTED, asked.reason),
        )

    @reject.validator
    def _may_reject(self, asked: Asked) -> None:
        self._core.refuse_unless(SessionCommand.REJECT)

    @workflow.update(description="Cancel the session")
    async def cancel(self, asked: Asked) -> CommandReceipt:
        def decide(decision: SessionDecision) -> None:
            session_validation.cancel(decision)
            decision.go(S.CANCELLED, Event.SESSION_CANCELLED, Receipt.CANCELLED, asked.reason)

        return await self._core.cancel(asked, decide)

    @cancel.validator
    def _may_cancel(self, asked: Asked) -> None:
        self._core.refuse_unless(SessionCommand.CANCEL)


def _command_of(asked: AskedMark) -> SessionCommand:
    trims = asked.kind in (BoundaryKind.TRIM_START, BoundaryKind.TRIM_END)
    return SessionCommand.TRIM if trims else SessionCommand.MARK
