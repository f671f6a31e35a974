"""Feedback records of a session's decision: what a person said of its proposal (DOC3 L4562-4569)."""

from collections.abc import Iterator
from typing import Any

from contracts.abilities.availability import InstallLane
from contracts.base import clipped
from contracts.learning.aggregate import SessionCommit
from contracts.learning.lifecycle import LearningLifecycleEvent, LifecycleChange
from contracts.learning.proposal import ProposalFeedbackKind, SkillProposalFeedback
from contracts.learning.validation import REQUIRED_CHECKS

_MOST_TEXT = 2000


def feedback_of(commit: SessionCommit) -> Iterator[SkillProposalFeedback]:
    """What a person answered, changed, asked for or decided; nothing of what a session does by itself."""
    session, proposal = commit.aggregate.session, commit.aggregate.proposal
    if proposal is None:
        return
    said: list[tuple[ProposalFeedbackKind, str | None, dict[str, Any]]] = [
        (ProposalFeedbackKind.CLARIFICATION, answer.answer, {}) for answer in commit.answers
    ]
    for change in commit.changes:
        kind = _kind_of(change, commit)
        if kind is not None:
            text = change.reason or change.payload.get("instructions") or change.payload.get("note")
            said.append((kind, text, _edited(change, commit)))
    for kind, text, edited in said:
        yield SkillProposalFeedback(
            proposal_id=proposal.proposal_id,
            feedback_kind=kind,
            feedback_text=clipped(text, _MOST_TEXT) if text else None,
            edited_fields=edited,
            created_at=session.updated_at,
        )


def _kind_of(change: LifecycleChange, commit: SessionCommit) -> ProposalFeedbackKind | None:
    match change.event:
        case LearningLifecycleEvent.PROPOSAL_REVISED if "instructions" in change.payload:
            return ProposalFeedbackKind.EDIT
        case LearningLifecycleEvent.SESSION_REJECTED:
            return ProposalFeedbackKind.REJECT
        case LearningLifecycleEvent.VALIDATION_STARTED if _more_tests(change, commit):
            return ProposalFeedbackKind.REQUEST_TESTS
        case LearningLifecycleEvent.INSTALL_STARTED if _asked(commit):
            private = change.payload["install_lane"] == InstallLane.EXPERIMENTAL_PRIVATE.value
            return ProposalFeedbackKind.INSTALL_PRIVATE if private else ProposalFeedbackKind.APPROVE
        case _:
            return None


def _more_tests(change: LifecycleChange, commit: SessionCommit) -> bool:
    """Whether a run goes beyond the one that every draft has: of chosen checks, or of what was at review already."""
    from_review = commit.changes[0].event is LearningLifecycleEvent.PROPOSAL_REVISED
    return from_review or set(change.payload["checks"]) != {check.value for check in REQUIRED_CHECKS}


def _asked(commit: SessionCommit) -> bool:
    install = commit.aggregate.install
    return install is not None and install.asked_under is not None


def _edited(change: LifecycleChange, commit: SessionCommit) -> dict[str, Any]:
    edits = commit.aggregate.edits
    return {name: edits[name] for name in change.payload.get("edited_fields", ()) if name in edits}
