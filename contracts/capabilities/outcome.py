"""How a use or a canary of a capability went, and what is remembered of it (DOC3 §1.1D, §1.1I)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text500,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.capabilities.bridge import HealthStatus


class OutcomeKind(StrEnum):
    """What was done with the capability."""

    USE = "use"
    CHECKPOINT = "checkpoint"
    CANARY = "canary"


class CapabilityOutcome(VersionedContract):
    """One use or canary, as ``capabilities/outcomes.jsonl`` keeps it. The same ``outcome_id`` counts once."""

    outcome_id: Uuid
    capability_id: Text160
    kind: OutcomeKind
    success: bool
    critical: bool = Field(default=False, description="A safety failure: one is enough for quarantine.")
    failure_fingerprint: Text160 | None = Field(
        default=None, description="Failures with the same one match; set on every failure."
    )
    summary: Text500 | None = Field(default=None, description="For people; secrets masked.")
    reported_by: Text120
    happened_at: UtcTime


class FailureNote(Contract):
    """A failure that still counts."""

    fingerprint: Text160
    happened_at: UtcTime


class CapabilityHealthRecord(VersionedContract):
    """The evidence behind a capability's health, since its present version was installed."""

    capability_id: Text160
    reason_codes: tuple[Text80, ...] = ()
    failures: tuple[FailureNote, ...] = Field(default=(), description="Of the last seven days, oldest first.")
    good_canaries: int = Field(default=0, ge=0, description="In a row, up to now.")
    last_verified_at: UtcTime | None = None
    cooldown_until: UtcTime | None = None
    uses: int = Field(default=0, ge=0)
    last_used_at: UtcTime | None = None
    checkpoints_reached: int = Field(default=0, ge=0)
    checkpoints_skipped: int = Field(default=0, ge=0)
    checkpoints_failed: int = Field(default=0, ge=0)


class CapabilityEventName(StrEnum):
    """What happens to a capability (DOC3 L4620-4636, those that are told here)."""

    HEALTH_CHANGED = "capability.health.changed"
    QUARANTINED = "capability.quarantined"
    REPROBE_SUCCEEDED = "capability.reprobe.succeeded"


class CapabilityEvent(VersionedContract):
    """One line of ``capabilities/events.jsonl``."""

    event: CapabilityEventName
    capability_id: Text160
    ability_id: Text160
    health_before: HealthStatus
    health_status: HealthStatus
    reason_codes: tuple[Text80, ...] = ()
    correlation_id: Text200
    created_at: UtcTime
