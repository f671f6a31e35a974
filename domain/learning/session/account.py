"""Account and live status of a session, computed from its stored state (DOC3 §18, §0C.6-§0C.8; rows §3.9, §3.27)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.lookup import AbilityFit
from contracts.base import clipped
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.observation import (
    BoundaryKind,
    ObservationAdapterKind,
    ObservationScopeRuntime,
    RedactionMode,
    WorkflowBoundary,
)
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.responses import (
    HistoryOutcome,
    LearningRuntimeSnapshot,
    PendingAbilityUiState,
    ValidationRunsListResponse,
)
from contracts.learning.session import LearnSession, ObservationMode
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import AT_REST, SessionCommand
from contracts.learning.validation import StepResult
from contracts.learning.views.account import (
    BoundaryAccount,
    LearningQueryContextPayload,
    MeaningAccount,
    ModeAccount,
    ProposalAccount,
    StateAccount,
    TestsAccount,
    UseAccount,
)
from domain.learning.conditions.stated_conditions import marked

_ACTIVE_RUNTIMES = {
    ObservationMode.NONE: "none",
    ObservationMode.INSIDE_AGENT: "openclaw_native",
    ObservationMode.OUTSIDE_AGENT: "bridge_observer",
    ObservationMode.MIXED: "bridge_observer",
}

_CAPTURE_STATES = {S.IDLE: "idle", S.ARMED: "idle", S.CAPTURING: "capturing", S.PAUSED: "paused"}

_PENDING_UI_STATES = {
    S.CAPTURING: PendingAbilityUiState.CAPTURING,
    S.PAUSED: PendingAbilityUiState.CAPTURING,
    S.AWAITING_QUESTIONS: PendingAbilityUiState.AWAITING_INPUT,
    S.DRAFTING_PROPOSAL: PendingAbilityUiState.DRAFTING,
    S.TESTING_PROPOSAL: PendingAbilityUiState.TESTING,
    S.READY_FOR_REVIEW: PendingAbilityUiState.READY_FOR_REVIEW,
    S.INSTALLED_PRIVATE: PendingAbilityUiState.PRIVATE_ACTIVE,
    S.REJECTED: PendingAbilityUiState.REVISION_REQUIRED,
    S.QUARANTINED: PendingAbilityUiState.REVISION_REQUIRED,
}

_OUTCOMES = {
    S.APPROVED: HistoryOutcome.APPROVED,
    S.REJECTED: HistoryOutcome.REJECTED,
    S.CANCELLED: HistoryOutcome.CANCELLED,
    S.QUARANTINED: HistoryOutcome.QUARANTINED,
}


def runtime_snapshot(
    session: LearnSession,
    *,
    proposal: SkillBundleProposal | None,
    observed_data_classes: Collection[str],
    latest_receipt_ids: Iterable[str],
    ability_entry: AbilityAvailabilityEntry | None,
    now: datetime,
) -> LearningRuntimeSnapshot:
    """The answer to what is being learned and whether it is usable yet.

    ``latest_receipt_ids`` keep their order. The ability's own entry is the truth about its lane and use; an
    ability that is named but has no entry is not usable.
    """
    ability_id = ability_entry.ability_id if ability_entry else session.ability_id
    usable_now = None if ability_id is None else ability_entry is not None and ability_entry.usable_now
    reason = ability_entry.reason_unusable if ability_entry else None
    if ability_id is not None and ability_entry is None:
        reason = "Not in the availability snapshot yet."
    lane = proposal.install_lane if proposal else None
    return LearningRuntimeSnapshot(
        learn_session_id=session.learn_session_id,
        entry_mode=session.entry_mode,
        observation_mode=session.observation_mode,
        build_policy=session.build_policy,
        state=session.state,
        observed_data_classes=tuple(sorted(set(observed_data_classes))),
        active_boundary_ref=session.stop_boundary_ref or session.start_boundary_ref,
        interpretation_id=session.interpretation_id,
        proposal_id=session.proposal_id,
        validation_run_id=session.validation_run_id,
        install_lane=ability_entry.install_lane if ability_entry else lane,
        ability_id=ability_id,
        ability_usable_now=usable_now,
        reason_unusable=reason,
        latest_receipt_ids=tuple(latest_receipt_ids),
        snapshot_as_of=now,
    )


def observation_scope(
    session: LearnSession,
    *,
    dropped_off_target: int,
    adapters: Mapping[ObservationAdapterKind, RedactionMode],
    data_classes: Collection[str],
    started_at: datetime,
) -> ObservationScopeRuntime:
    """What is being observed right now, and how much of it is kept.

    ``adapters`` are those that have reported or are armed for the session, each with its redaction mode. They
    count as active only while the session captures; afterwards their redaction modes still say how what was
    captured was masked.
    """
    capturing = session.state is S.CAPTURING
    return ObservationScopeRuntime(
        learn_session_id=session.learn_session_id,
        adapters_active=tuple(sorted(adapters)) if capturing else (),
        data_classes_observed=tuple(sorted(set(data_classes))),
        redaction_modes={kind.value: adapters[kind].value for kind in sorted(adapters)},
        scope=session.observation_mode,
        target_app_whitelist=session.target_app_whitelist,
        off_target_events_dropped=dropped_off_target,
        capture_state=capture_state(session.state),
        active_runtime=_ACTIVE_RUNTIMES[session.observation_mode] if capturing else "none",
        started_at=started_at,
    )


def capture_state(state: S) -> str:
    """``idle`` before the capture, ``capturing`` or ``paused`` in it, ``stopped`` after it."""
    return _CAPTURE_STATES.get(state, "stopped")


def pending_ui_state(state: S, install_lane: InstallLane | None) -> PendingAbilityUiState | None:
    """How a session stands under Pending Abilities, or ``None`` where it does not belong there.

    DOC3 §0C.6 sends every state it does not name to "revision required". By decision (rows §3.27) an approved
    one is left out, as it is a skill now, and so are those shown under Active learning: before and after the
    capture, and while an install runs. A cancelled one is history: there is nothing to revise.
    """
    known = _PENDING_UI_STATES.get(state)
    privately_active = install_lane is InstallLane.EXPERIMENTAL_PRIVATE and state is S.INSTALLING_PRIVATE
    return PendingAbilityUiState.PRIVATE_ACTIVE if known is None and privately_active else known


def history_outcome(state: S) -> HistoryOutcome:
    """How a session ended. A privately installed one is still on its way to being approved."""
    return _OUTCOMES.get(state, HistoryOutcome.IN_PROGRESS)


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


def meaning(
    understood: SemanticWorkflowInterpretation, open_questions: int, untested: Sequence[str] = ()
) -> MeaningAccount:
    """What was understood, and how surely."""
    return MeaningAccount(
        interpretation_id=understood.interpretation_id,
        goal_summary=understood.goal_summary,
        success_conditions=tuple(
            clipped(one, 240) for one in marked(understood.success_conditions, untested)
        ),
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


def routes_to(ability_id: str, fitting: Sequence[AbilityFit]) -> bool:
    """Whether a request with these fitting abilities is routed to the ability: it fits best of those usable now."""
    best = next((one for one in fitting if one.usable_now), None)
    return best is not None and best.ability_id == ability_id


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
