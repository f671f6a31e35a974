"""Account of a learning session (state, evidence, workflows), and the payload that reopens an object in a client.

DOC3 §18 "Final rule", §17, §0C.28 (account), §0A.23 (reopening).
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.availability import InstallLane
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text240,
    Text600,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.observation import ObservationScopeRuntime, WorkflowBoundary
from contracts.learning.proposal import ProposalState
from contracts.learning.responses import PendingAbilityUiState
from contracts.learning.session import (
    ActorMode,
    BuildPolicy,
    LearningEntryMode,
    LearnSessionState,
    ObservationMode,
)
from contracts.learning.state_machine import SessionCommand
from contracts.learning.validation import OverallResult


class LearningQueryContextPayload(VersionedContract):
    """Where a question about learning comes from, and what it refers to."""

    source_surface: Text120
    source_id: Text160 | None = None
    learn_session_id: Uuid | None = None
    proposal_id: Uuid | None = None
    trace_ids: tuple[Uuid, ...] = ()
    cluster_id: Uuid | None = None
    project_id: Text120 | None = None
    app_family: Text80 | None = None
    current_state: Text80 | None = None
    referenced_ids: tuple[Text160, ...] = ()


class ModeAccount(Contract):
    """Question 1: which learning mode is being used."""

    entry_mode: LearningEntryMode
    observation_mode: ObservationMode
    actor_mode: ActorMode
    build_policy: BuildPolicy


class StateAccount(Contract):
    """Question 2: whether this is the active session, and what can be done with it now."""

    state: LearnSessionState
    since: UtcTime
    is_active: bool = Field(description="It holds its owner's one place for a session.")
    pending_ui_state: PendingAbilityUiState | None = None
    actions: tuple[SessionCommand, ...] = Field(default=(), description="Commands it takes as it stands.")


class BoundaryAccount(Contract):
    """Question 4: where the workflow begins and ends."""

    marks: tuple[WorkflowBoundary, ...] = ()
    goal: Text600 | None = None


class MeaningAccount(Contract):
    """Question 5: what was understood."""

    interpretation_id: Uuid
    goal_summary: Text600
    success_conditions: tuple[Text240, ...] = ()
    checkpoints: tuple[Text240, ...] = ()
    weakest_confidence: float | None = Field(default=None, ge=0, le=1)
    open_questions: int = Field(default=0, ge=0)


class ProposalAccount(Contract):
    """Question 6: what is proposed."""

    proposal_id: Uuid
    title: Text160
    proposal_state: ProposalState
    revision: int
    content_hash: str
    lint_passed: bool


class TestsAccount(Contract):
    """Question 7: what was tested, and how it ended; ``stale`` results prove nothing of the draft as it is."""

    validation_run_id: Uuid
    overall_result: OverallResult
    stale: bool
    passed: tuple[Text160, ...] = ()
    failed: tuple[Text160, ...] = ()


class UseAccount(Contract):
    """Questions 8 to 10: the lane, whether the ability is usable now, and whether it will be found."""

    ability_id: Text160
    install_lane: InstallLane | None = None
    usable_now: bool
    reason_unusable: Text240 | None = None
    found_by: tuple[Text120, ...] = Field(
        default=(), description="Trigger phrases that the lookup routes to it as this is answered."
    )


class RecordsAccount(Contract):
    """Question 11: where all of this can be seen."""

    receipts: int = Field(ge=0)
    latest_receipt_ids: tuple[Uuid, ...] = ()
    events: Text240
    workflows: tuple[Text160, ...] = ()


class SessionAccount(VersionedContract):
    """The answers to all eleven questions about one session. What is not there yet is left out.

    ``missing`` says which parts this deployment lacks for the session; ``reopens`` leads back to exactly this
    session and proposal.
    """

    learn_session_id: Uuid
    mode: ModeAccount
    session: StateAccount
    observing: ObservationScopeRuntime
    boundary: BoundaryAccount
    meaning: MeaningAccount | None = None
    proposal: ProposalAccount | None = None
    tests: TestsAccount | None = None
    use: UseAccount | None = None
    records: RecordsAccount
    reopens: LearningQueryContextPayload
    missing: tuple[Text240, ...] = ()


class PartialDeployment(StrEnum):
    """What keeps learning from being whole (DOC3 §0C.28)."""

    NONE = "none"
    AVAILABILITY_PENDING = "availability_pending"
    CATALOG_PENDING = "catalog_pending"
    BRIDGE_PENDING = "bridge_pending"
    RECEIPT_PENDING = "receipt_pending"
    DEGRADED = "degraded"


class LearnPartialDeploymentState(VersionedContract):
    """The worst thing that keeps learning from being whole; ``blocking`` when nothing may be installed."""

    state: PartialDeployment
    blocking: bool
    reason_code: Text120 | None = None
    updated_at: UtcTime


class ComponentState(Contract):
    """One part of the whole: whether it is deployed and, where not, what clients do without it."""

    component: Text80
    deployed: bool
    without_it: Text240 = Field(description="What clients show or hide while it is missing.")
    disables: tuple[Text80, ...] = Field(default=(), description="Operations that are not offered.")


class DeploymentResponse(VersionedContract):
    """What of learning is deployed here, and what state that leaves it in."""

    partial_deployment: LearnPartialDeploymentState
    components: tuple[ComponentState, ...]
    disabled: tuple[Text80, ...] = Field(
        default=(),
        description="Operations that are refused now, by their ids: of missing parts, and installs.",
    )
