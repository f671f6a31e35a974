"""How a session shows itself in the Temporal UI."""

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

with workflow.unsafe.imports_passed_through():
    from contracts.base import rfc3339
    from contracts.learning.aggregate import LearnSessionAggregate
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.state_machine import legal_commands


STATE_ATTRIBUTE = SearchAttributeKey.for_keyword("ApprenticeState")
OWNER_ATTRIBUTE = SearchAttributeKey.for_keyword("ApprenticeOwner")
KIND_ATTRIBUTE = SearchAttributeKey.for_keyword("ApprenticeKind")


def search_attributes_of(kind: str, owner: str | None = None) -> TypedSearchAttributes:
    """What a workflow is found by from its start: its kind, and whose it is."""
    pairs: list[SearchAttributePair[str]] = [SearchAttributePair(KIND_ATTRIBUTE, kind)]
    if owner is not None:
        pairs.append(SearchAttributePair(OWNER_ATTRIBUTE, owner))
    return TypedSearchAttributes(pairs)


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
    lines.append(f"**Changes:** {aggregate.change}")
    return "\n\n".join(lines)
