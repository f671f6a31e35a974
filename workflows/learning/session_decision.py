"""Builds one decision of a session: the next aggregate, what happened, and the commit that makes it true.

What the Temporal UI shows of a session after it: the phase that is searched for, and the current details.
"""

from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from contracts.base import rfc3339
    from contracts.errors import ErrorCode
    from contracts.learning.aggregate import (
        CommandReceipt,
        LearnSessionAggregate,
        SessionCommit,
        StagedDraft,
    )
    from contracts.learning.lifecycle import LearningLifecycleEvent, LearningReceiptKind, LifecycleChange
    from contracts.learning.observation import WorkflowBoundary
    from contracts.learning.proposal import ProposalState
    from contracts.learning.questions import LearningAnswer
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.state_machine import legal_commands, may_go
    from contracts.learning.validation import SkillValidationReport, ValidationRun
    from contracts.platform.commands import CommitKey
    from workflows.learning.learn_session_messages import LearnCommand
    from workflows.platform.refusals import refused


PROPOSAL_STATE_IN: dict[S, ProposalState] = {
    S.AWAITING_QUESTIONS: ProposalState.AWAITING_QUESTIONS,
    S.DRAFTING_PROPOSAL: ProposalState.DRAFT,
    S.TESTING_PROPOSAL: ProposalState.TESTING,
    S.READY_FOR_REVIEW: ProposalState.READY_FOR_REVIEW,
    S.INSTALLING_PRIVATE: ProposalState.INSTALLING_PRIVATE,
    S.INSTALLED_PRIVATE: ProposalState.INSTALLED_PRIVATE,
    S.APPROVED: ProposalState.APPROVED,
    S.REJECTED: ProposalState.REJECTED,
    S.CANCELLED: ProposalState.CANCELLED,
    S.QUARANTINED: ProposalState.QUARANTINED,
}
"""A proposal's state follows its session's; a state not listed leaves it as it is."""

_OWN_KEY_DIGEST = "0" * 64


class SessionDecision:
    """One decision in the making. Nothing is true until the commit it yields has been written."""

    def __init__(self, base: LearnSessionAggregate, now: datetime) -> None:
        self._base = base
        self._now = now
        self.next = base
        self._changes: list[LifecycleChange] = []
        self._boundary: WorkflowBoundary | None = None
        self._answers: tuple[LearningAnswer, ...] = ()
        self._staged: StagedDraft | None = None
        self._finished_run: ValidationRun | None = None
        self._report: SkillValidationReport | None = None

    def go(
        self,
        target: S,
        event: LearningLifecycleEvent,
        receipt: LearningReceiptKind | None = None,
        reason: str | None = None,
        **payload: object,
    ) -> None:
        """Moves the session to ``target``; a step that the table forbids is refused."""
        source = self.next.session.state
        if not may_go(source, target):
            raise refused(
                ErrorCode.INVALID_LEARN_STATE_TRANSITION,
                f"A session that is {source.value} cannot become {target.value}.",
                {"current_state": source.value},
            )
        self.set(state_since=self._now)
        self.set_session(state=target)
        proposal_state = PROPOSAL_STATE_IN.get(target)
        if proposal_state is not None:
            self.set_proposal(proposal_state=proposal_state)
        self.note(event, receipt, reason, **payload)

    def note(
        self,
        event: LearningLifecycleEvent,
        receipt: LearningReceiptKind | None = None,
        reason: str | None = None,
        **payload: object,
    ) -> None:
        """Records that something happened in the present state."""
        self._changes.append(
            LifecycleChange(
                event=event,
                state=self.next.session.state,
                receipt=receipt,
                reason=reason[:240] if reason else None,
                ability_id=self.next.session.ability_id,
                payload={name: value for name, value in payload.items() if value is not None},
            )
        )

    def set(self, **fields: object) -> None:
        """Replaces fields of the aggregate."""
        self.next = self.next.changed(**fields)

    def set_session(self, **fields: object) -> None:
        """Replaces fields of the session."""
        self.set(session=self.next.session.changed(**fields))

    def set_proposal(self, **fields: object) -> None:
        """Replaces fields of the proposal, where there is one."""
        if self.next.proposal is not None:
            self.set(proposal=self.next.proposal.changed(**fields, updated_at=self._now))

    def mark(self, boundary: WorkflowBoundary) -> None:
        """Sets a boundary."""
        self._boundary = boundary

    def answer(self, answers: tuple[LearningAnswer, ...]) -> None:
        """Keeps answers."""
        self._answers = answers

    def adopt(self, staged: StagedDraft) -> None:
        """Makes a staged draft the proposal's."""
        self._staged = staged

    def finish_run(self, run: ValidationRun, report: SkillValidationReport | None = None) -> None:
        """Closes a validation run."""
        self._finished_run = run
        self._report = report

    def commit(
        self, message: LearnCommand | None, workflow_id: str, saga_id: str | None = None
    ) -> SessionCommit:
        """The commit. Without an asker (a deadline, a child's end) the key is the workflow's change number."""
        change = self._base.change + 1
        self.set(change=change)
        self.set_session(updated_at=self._now)
        session = self.next.session
        key = message.commit_key if message else None
        return SessionCommit(
            commit_key=key
            or CommitKey(
                owner_user_id=session.owner_user_id,
                key=f"{workflow_id}#{change}",
                request_digest=_OWN_KEY_DIGEST,
            ),
            expected_change=self._base.change,
            aggregate=self.next,
            receipt=CommandReceipt(
                session=session,
                change=change,
                proposal_id=session.proposal_id,
                validation_run_id=session.validation_run_id,
                saga_id=saga_id,
                boundary_id=self._boundary.boundary_id if self._boundary else None,
                remaining_questions=len(self.next.questions) - len(self.next.answered),
            ),
            changes=tuple(self._changes),
            correlation_id=message.correlation_id if message else f"{workflow_id}#{change}",
            boundary=self._boundary,
            answers=self._answers,
            staged=self._staged,
            finished_run=self._finished_run,
            report=self._report,
        )


_PHASES: dict[S, str] = {
    S.READY_FOR_REVIEW: "review",
    S.INSTALLING_PRIVATE: "review",
    S.INSTALLED_PRIVATE: "installed_private",
    S.APPROVED: "approved",
    S.REJECTED: "rejected",
    S.CANCELLED: "cancelled",
    S.QUARANTINED: "quarantined",
}


def phase_of(state: S) -> str:
    """The coarse state that is searchable: writing every state to visibility would cost more than it is worth."""
    return _PHASES.get(state, "teaching")


def render_details(aggregate: LearnSessionAggregate, waits_until: object | None = None) -> str:
    """The current details: state, since when, what it waits for, what it takes."""
    session = aggregate.session
    proposal = aggregate.proposal
    lines = [
        f"**State:** `{session.state.value}` since {rfc3339(aggregate.state_since)}",
        f"**Waits for:** {', '.join(f'`{c.value}`' for c in legal_commands(aggregate)) or 'nothing'}",
    ]
    if waits_until is not None:
        lines.append(f"**Deadline:** {waits_until}")
    if proposal is not None:
        lines.append(
            f"**Proposal:** {proposal.title} (`{proposal.proposed_skill_slug}`, r{proposal.revision})"
        )
        passed = ", ".join(check.value for check in aggregate.passed_checks) or "none"
        if aggregate.not_applicable_checks:
            passed += f" (not applicable: {', '.join(c.value for c in aggregate.not_applicable_checks)})"
        lines.append(f"**Checks passed:** {passed}")
        if aggregate.unproved:
            lines.append(f"**Not proved here:** {', '.join(f'`{one.step}`' for one in aggregate.unproved)}")
    lines.append(f"**Changes:** {aggregate.change}")
    return "\n\n".join(lines)
