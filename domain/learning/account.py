"""A session's answers about itself, put together from what the store says (DOC3 §18)."""

from collections.abc import Sequence

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import ROUTE_FROM_SCORE, AbilityMatch
from contracts.learning.account import (
    BoundaryAccount,
    MeaningAccount,
    ModeAccount,
    ProposalAccount,
    StateAccount,
    TestsAccount,
    UseAccount,
)
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.commands import SessionCommand
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.observation import BoundaryKind, WorkflowBoundary
from contracts.learning.query_context import LearningQueryContextPayload
from contracts.learning.responses import ValidationRunsListResponse
from contracts.learning.state_machine import AT_REST
from contracts.learning.validation import StepResult
from domain.learning.runtime_truth import pending_ui_state


def mode(aggregate: LearnSessionAggregate) -> ModeAccount:
    """Which learning mode is being used."""
    session = aggregate.session
    return ModeAccount(
        entry_mode=session.entry_mode,
        observation_mode=session.observation_mode,
        actor_mode=session.actor_mode,
        build_policy=session.build_policy,
    )


def state(aggregate: LearnSessionAggregate, actions: Sequence[SessionCommand]) -> StateAccount:
    """Where the session stands, and what it takes now: ``actions``."""
    session = aggregate.session
    return StateAccount(
        state=session.state,
        since=aggregate.state_since,
        is_active=session.state not in AT_REST,
        pending_ui_state=pending_ui_state(
            session.state, aggregate.install.lane if aggregate.install else None
        ),
        actions=tuple(actions),
    )


def boundary(marks: Sequence[WorkflowBoundary]) -> BoundaryAccount:
    """Where the workflow begins and ends; the newest goal counts."""
    goals = [mark.label for mark in marks if mark.kind is BoundaryKind.MARK_GOAL and mark.label]
    return BoundaryAccount(marks=tuple(marks), goal=goals[-1] if goals else None)


def meaning(understood: SemanticWorkflowInterpretation, open_questions: int) -> MeaningAccount:
    """What was understood, and how surely."""
    return MeaningAccount(
        interpretation_id=understood.interpretation_id,
        goal_summary=understood.goal_summary,
        success_conditions=understood.success_conditions,
        checkpoints=tuple(checkpoint.goal for checkpoint in understood.checkpoints),
        weakest_confidence=min((field.confidence for field in understood.confidences), default=None),
        open_questions=open_questions,
    )


def proposal(aggregate: LearnSessionAggregate) -> ProposalAccount | None:
    """What is proposed."""
    found = aggregate.proposal
    if found is None:
        return None
    return ProposalAccount(
        proposal_id=found.proposal_id,
        title=found.title,
        proposal_state=found.proposal_state,
        revision=found.revision,
        content_hash=found.content_hash,
        lint_passed=aggregate.lint_passed,
    )


def tests(newest: ValidationRunsListResponse) -> TestsAccount | None:
    """The newest validation run and its outcome."""
    if not newest.runs:
        return None
    run = newest.runs[0]
    steps = [step for step in newest.steps if step.validation_run_id == run.validation_run_id]
    return TestsAccount(
        validation_run_id=run.validation_run_id,
        overall_result=run.overall_result,
        stale=run.stale,
        passed=tuple(step.test_case_id for step in steps if step.result is StepResult.PASSED),
        failed=tuple(step.test_case_id for step in steps if step.result is StepResult.FAILED),
    )


def use(ability_id: str, entry: AbilityAvailabilityEntry | None, found_by: Sequence[str]) -> UseAccount:
    """Whether the ability is usable now, and by which of its phrases it is found."""
    if entry is None:
        return UseAccount(
            ability_id=ability_id, usable_now=False, reason_unusable="It is not installed, or not any more."
        )
    return UseAccount(
        ability_id=ability_id,
        install_lane=entry.install_lane,
        usable_now=entry.usable_now,
        reason_unusable=entry.reason_unusable,
        found_by=tuple(found_by),
    )


def routes_to(ability_id: str, matches: Sequence[AbilityMatch]) -> bool:
    """Whether a lookup with these matches would route to the ability: the best one, usable and sure enough."""
    best = matches[0] if matches else None
    return (
        best is not None
        and best.ability_id == ability_id
        and best.usable_now
        and best.score >= ROUTE_FROM_SCORE
    )


def reopens(aggregate: LearnSessionAggregate) -> LearningQueryContextPayload:
    """What leads back to exactly this session, proposal and state (DOC3 §0A.23)."""
    session = aggregate.session
    found = aggregate.proposal
    return LearningQueryContextPayload(
        source_surface="learn_session",
        source_id=session.learn_session_id,
        learn_session_id=session.learn_session_id,
        proposal_id=found.proposal_id if found else None,
        trace_ids=session.active_trace_ids,
        project_id=session.project_id,
        current_state=session.state.value,
        referenced_ids=(found.ability_id,) if found and found.ability_id else (),
    )
