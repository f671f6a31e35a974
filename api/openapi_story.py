"""The objects of the story that the API's examples tell: the sales report that is taught and installed."""

from datetime import UTC, datetime, timedelta

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilitySource,
)
from contracts.errors import ErrorCode
from contracts.learning.allowed_actions import LearnSessionView, ProposalView, RefusedAction, SessionActions
from contracts.learning.commands import SessionCommand
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from contracts.learning.proposal import (
    InstallLane,
    ProposalState,
    SkillBundleProposal,
)
from contracts.learning.saga import InstallSaga, SagaState, SagaStep, SagaStepName, SagaStepState
from contracts.learning.session import (
    ActorMode,
    LearningEntryMode,
    LearnSession,
    LearnSessionState,
    ObservationMode,
)
from contracts.learning.validation import OverallResult, ValidationRun, ValidationRunKind
from contracts.maintenance.runs import (
    MaintenanceRun,
    MaintenanceState,
    MaintenanceTrigger,
)
from contracts.runtime.identity import (
    AccessToken,
    Scope,
)


def example_id(number: int) -> str:
    """An id that can be told from others."""
    return f"0199aa10-7c00-7000-8000-{number:012x}"


BEGUN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
THEN = BEGUN + timedelta(minutes=4)
SESSION_ID, EVENT_ID, PROPOSAL_ID, RUN_ID, SAGA_ID, TRACE_ID, TOKEN_ID = map(example_id, range(1, 8))
HASH = "5c" * 32
TITLE = "Summarise the sales figures"
SLUG = "summarise-the-sales-figures"
ABILITY_ID = f"learned.{SLUG}"
LANE = InstallLane.APPROVED_WORKSPACE

SESSION = LearnSession(
    learn_session_id=SESSION_ID,
    owner_user_id="alice",
    entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
    observation_mode=ObservationMode.OUTSIDE_AGENT,
    state=LearnSessionState.CAPTURING,
    actor_mode=ActorMode.USER_DRIVEN,
    active_trace_ids=(TRACE_ID,),
    created_at=BEGUN,
    updated_at=THEN,
)
EVENT = ObservedActionEvent(
    event_id=EVENT_ID,
    learn_session_id=SESSION_ID,
    adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
    app_family="terminal",
    action_label="sort -t, -k2 -nr sales.csv > top.txt",
    caused_state_change=True,
    terminal=TerminalObservation(
        command="sort -t, -k2 -nr sales.csv > top.txt",
        exit_class=ExitClass.OK,
        working_folder=".",
        produced_files=(ProducedFile(path="top.txt", change="created", size_bytes=16),),
    ),
    created_at=BEGUN,
)
PROPOSAL = SkillBundleProposal(
    proposal_id=PROPOSAL_ID,
    owner_user_id="alice",
    learn_session_id=SESSION_ID,
    source_trace_ids=(TRACE_ID,),
    title=TITLE,
    proposed_skill_slug=SLUG,
    trigger_phrases=("summarise the sales figures",),
    draft_skill_path=f"skills/{SLUG}/SKILL.md",
    draft_manifest_path=f"capabilities/{ABILITY_ID}.json",
    content_hash=HASH,
    proposal_state=ProposalState.READY_FOR_REVIEW,
    ability_id=ABILITY_ID,
    created_at=BEGUN,
    updated_at=THEN,
)
SESSION_VIEW = LearnSessionView.model_validate(
    {
        **dict(SESSION),
        "allowed_actions": (
            SessionCommand.PAUSE,
            SessionCommand.STOP,
            SessionCommand.CANCEL,
            SessionCommand.MARK,
            SessionCommand.TRIM,
            SessionCommand.SET_TEST_POLICY,
        ),
    }
)
PROPOSAL_ACTIONS = SessionActions(
    allowed_actions=(
        SessionCommand.REVISE,
        SessionCommand.VALIDATE,
        SessionCommand.INSTALL,
        SessionCommand.REJECT,
    ),
    allowed_lanes=(InstallLane.EXPERIMENTAL_PRIVATE,),
    refused_actions=(
        RefusedAction(
            action=SessionCommand.APPROVE,
            code=ErrorCode.INSTALL_LANE_DENIED,
            reason="What the agent practised alone is installed privately first: as experimental_private.",
        ),
    ),
)
PROPOSAL_VIEW = ProposalView.model_validate(dict(PROPOSAL) | dict(PROPOSAL_ACTIONS))
RUN = ValidationRun(
    validation_run_id=RUN_ID,
    proposal_id=PROPOSAL_ID,
    run_kind=ValidationRunKind.REHEARSAL,
    content_hash=HASH,
    started_at=BEGUN,
    overall_result=OverallResult.PARTIAL,
)
SAGA = InstallSaga(
    saga_id=SAGA_ID,
    proposal_id=PROPOSAL_ID,
    learn_session_id=SESSION_ID,
    ability_id=ABILITY_ID,
    skill_slug=SLUG,
    install_lane=LANE,
    version=1,
    state=SagaState.INSTALLED,
    steps=tuple(
        SagaStep(name=name, state=SagaStepState.DONE, attempts=1, updated_at=THEN) for name in SagaStepName
    ),
    workflow_id=f"install-saga/{SAGA_ID}",
    started_at=BEGUN,
    updated_at=THEN,
)
ABILITY = AbilityAvailabilityEntry(
    ability_id=ABILITY_ID,
    owner_user_id="alice",
    title=TITLE,
    family="terminal",
    source=AbilitySource.LEARNED,
    skill_slug=SLUG,
    install_lane=LANE,
    enabled=True,
    usable_now=True,
    trigger_phrases=("summarise the sales figures",),
    last_validated_at=THEN,
)
MAINTENANCE = MaintenanceRun(
    run_id=RUN_ID,
    trigger=MaintenanceTrigger.MANUAL,
    dry_run=True,
    state=MaintenanceState.RUNNING,
    requested_by="admin",
    workflow_id="nightly-maintenance-manual",
    started_at=BEGUN,
    updated_at=BEGUN,
)
TOKEN = AccessToken(
    token_id=TOKEN_ID, name="Laptop", user_id="alice", scopes=(Scope.READ, Scope.LEARN), created_at=BEGUN
)
