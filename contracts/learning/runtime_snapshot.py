"""What learning is doing right now (DOC3 §0C.7) and the pending-ability mapping (§0C.6)."""

from enum import StrEnum

from contracts.base import Text80, Text160, Text240, UtcTime, Uuid, VersionedContract
from contracts.learning.proposal import InstallLane
from contracts.learning.session import BuildPolicy, LearningEntryMode, LearnSessionState, ObservationMode


class LearningRuntimeSnapshot(VersionedContract):
    """The answer to: what is being learned, from what, and is it usable yet."""

    learn_session_id: Uuid
    entry_mode: LearningEntryMode
    observation_mode: ObservationMode
    build_policy: BuildPolicy
    state: LearnSessionState
    observed_data_classes: tuple[Text80, ...] = ()
    active_boundary_ref: Text240 | None = None
    interpretation_id: Uuid | None = None
    proposal_id: Uuid | None = None
    validation_run_id: Uuid | None = None
    install_lane: InstallLane | None = None
    ability_id: Text160 | None = None
    ability_usable_now: bool | None = None
    reason_unusable: Text240 | None = None
    latest_receipt_ids: tuple[Uuid, ...] = ()
    snapshot_as_of: UtcTime


class PendingAbilityUiState(StrEnum):
    """How a not yet accepted ability is shown."""

    CAPTURING = "capturing"
    AWAITING_INPUT = "awaiting_input"
    DRAFTING = "drafting"
    TESTING = "testing"
    READY_FOR_REVIEW = "ready_for_review"
    PRIVATE_ACTIVE = "private_active"
    REVISION_REQUIRED = "revision_required"
