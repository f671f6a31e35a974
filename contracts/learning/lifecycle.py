"""Lifecycle events and receipts of a learning session.

DOC3 §0C.12, §0C.13, §0A.26; additions: decisions "Learning".
"""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.base import Contract, Text80, Text160, Text200, Text240, UtcTime, Uuid, VersionedContract
from contracts.learning.session import LearnSessionState


class LearningLifecycleEvent(StrEnum):
    """Everything that can happen to a session, a proposal or an ability."""

    SESSION_STARTED = "learn.session.started"
    SESSION_ARMED = "learn.session.armed"
    SESSION_CANCELLED = "learn.session.cancelled"
    SESSION_APPROVED = "learn.session.approved"
    SESSION_REJECTED = "learn.session.rejected"
    SESSION_REVIEWING = "learn.session.reviewing"
    SESSION_QUARANTINED = "learn.session.quarantined"
    SESSION_ARCHIVED = "session.archived"
    CAPTURE_STARTED = "learn.capture.started"
    CAPTURE_PAUSED = "learn.capture.paused"
    CAPTURE_RESUMED = "learn.capture.resumed"
    CAPTURE_STOPPED = "learn.capture.stopped"
    BOUNDARY_MARKED = "learn.boundary.marked"
    PRACTICE_STARTED = "learn.practice.started"
    PRACTICE_ATTEMPTED = "learn.practice.attempted"
    PRACTICE_ENDED = "learn.practice.ended"
    TEST_POLICY_SET = "learn.test_policy.set"
    PROPOSAL_CREATED = "learn.proposal.created"
    PROPOSAL_REVISED = "learn.proposal.revised"
    QUESTIONS_REQUESTED = "learn.proposal.questions_requested"
    QUESTIONS_ANSWERED = "learn.questions.answered"
    QUESTIONS_EXPIRED = "learn.questions.expired"
    VALIDATION_STARTED = "learn.validation.started"
    VALIDATION_COMPLETED = "learn.validation.completed"
    INSTALL_STARTED = "learn.install.started"
    INSTALL_COMPLETED = "learn.install.completed"
    INSTALL_FAILED = "learn.install.failed"
    BRIDGE_REBUILD_STARTED = "bridge.rebuild.started"
    BRIDGE_REBUILD_COMPLETED = "bridge.rebuild.completed"
    ABILITY_SNAPSHOT_UPDATED = "ability.snapshot.updated"
    ABILITY_ROUTE_ENABLED = "ability.route.enabled"
    ABILITY_ACTIVATED = "ability.activated"
    ABILITY_DEACTIVATED = "ability.deactivated"
    ABILITY_QUARANTINED = "ability.quarantined"
    ABILITY_UNQUARANTINED = "ability.unquarantined"
    ABILITY_PROMOTED = "ability.promoted"
    ABILITY_DEMOTED = "ability.demoted"
    ABILITY_ARCHIVED = "ability.archived"
    ABILITY_ROLLED_BACK = "ability.rolled_back"


class LearningReceiptKind(StrEnum):
    """DOC3's fifteen kinds and those that §0C.12 asks for beyond them (rows §2.6)."""

    SESSION_STARTED = "session_started"
    OBSERVATION_ARMED = "observation_armed"
    CAPTURE_STARTED = "capture_started"
    CAPTURE_PAUSED = "capture_paused"
    CAPTURE_RESUMED = "capture_resumed"
    CAPTURE_STOPPED = "capture_stopped"
    PRACTICE_STARTED = "practice_started"
    PRACTICE_ENDED = "practice_ended"
    PROPOSAL_DRAFTED = "proposal_drafted"
    QUESTIONS_REQUESTED = "questions_requested"
    QUESTIONS_ANSWERED = "questions_answered"
    TESTS_STARTED = "tests_started"
    TESTS_PASSED = "tests_passed"
    TESTS_FAILED = "tests_failed"
    TESTS_CANCELLED = "tests_cancelled"
    INSTALL_REQUESTED = "install_requested"
    INSTALLED_PRIVATE = "installed_private"
    INSTALL_FAILED = "install_failed"
    BRIDGE_REBUILT = "bridge_rebuilt"
    AVAILABILITY_UPDATED = "availability_updated"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    QUARANTINED = "quarantined"
    ACTIVATED = "activated"
    DEACTIVATED = "deactivated"
    ARCHIVED = "archived"
    USED_LATER = "used_later"
    CANDIDATE_FOUND = "candidate_found"
    CANDIDATE_ACCEPTED = "candidate_accepted"
    CANDIDATE_BUILT = "candidate_built"
    CANDIDATE_DISMISSED = "candidate_dismissed"
    UNQUARANTINED = "unquarantined"
    PROMOTED = "promoted"
    DEMOTED = "demoted"
    ROLLED_BACK = "rolled_back"
    TRIAL_STARTED = "trial_started"
    TRIAL_ENDED = "trial_ended"
    IMPORT_UPLOADED = "import_uploaded"
    IMPORT_UPLOAD_DELETED = "import_upload_deleted"
    IMPORT_SCAN_REQUESTED = "import_scan_requested"
    IMPORT_STAGE_REQUESTED = "import_stage_requested"
    IMPORT_INSTALL_REQUESTED = "import_install_requested"
    IMPORT_RETRIED = "import_retried"
    IMPORT_APPROVED = "import_approved"
    IMPORT_OVERRIDDEN = "import_overridden"
    IMPORT_REJECTED = "import_rejected"
    IMPORT_DISCARDED = "import_discarded"
    IMPORT_SCANNED = "import_scanned"
    IMPORT_STAGED = "import_staged"
    IMPORT_INSTALLED = "import_installed"
    IMPORT_FAILED = "import_failed"
    IMPORT_EXPIRED = "import_expired"
    MIGRATION_BACKFILL = "migration_backfill"
    PACK_CHANGED = "pack_changed"
    PACK_DELETED = "pack_deleted"
    PACK_INSTALL_REQUESTED = "pack_install_requested"
    PACK_INSTALL_CANCELLED = "pack_install_cancelled"
    PACK_INSTALLED = "pack_installed"
    PACK_INSTALL_FAILED = "pack_install_failed"


class LearningReceipt(VersionedContract):
    """Proof that a lifecycle change happened, and why."""

    receipt_id: Uuid
    learn_session_id: Uuid | None = None
    proposal_id: Uuid | None = None
    ability_id: Text160 | None = None
    import_id: Uuid | None = None
    event_kind: LearningReceiptKind
    reason: Text240 | None = None
    correlation_id: Text200
    created_at: UtcTime


class LifecycleChange(Contract):
    """What a workflow says has happened; the store makes the journal entry and the receipt of it."""

    event: LearningLifecycleEvent
    state: LearnSessionState = Field(description="The session's state after the change.")
    receipt: LearningReceiptKind | None = None
    reason: Text240 | None = None
    ability_id: Text160 | None = None
    payload: dict[str, Any] = Field(default_factory=dict)


class LearnSessionEvent(Contract):
    """One event of a session's live stream (DOC3 §0C.16A)."""

    event_kind: Text80
    session_id: Uuid
    payload: dict[str, Any] = Field(default_factory=dict)
    timestamp: UtcTime


class LearnSessionEventEnvelope(VersionedContract):
    """The event as it is sent (DOC3 §0C.16E)."""

    event: Text80
    data: LearnSessionEvent
