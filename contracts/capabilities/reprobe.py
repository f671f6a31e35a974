"""Rechecking a capability by a low-risk canary (DOC3 §1.1I "Reprobe")."""

from pydantic import Field

from contracts.base import Contract, Text120, Text160, Text200, Text240, UtcTime, Uuid, VersionedContract
from contracts.capabilities.bridge import HealthStatus

MOST_CANARIES = 5
"""How many canaries one request may ask for: as many as bring a quarantined capability back."""


class ReprobeRequest(VersionedContract):
    """Asks for a recheck now, whatever the cooldown says."""

    capability_id: Text160
    canaries: int = Field(
        default=1, ge=1, le=MOST_CANARIES, description="One after another; a bad one ends it."
    )
    client_request_id: Text120 | None = None


class ReprobeResponse(VersionedContract):
    """The recheck was started; ``GET /api/capabilities/health`` shows what it finds."""

    capability_id: Text160
    canaries: int = Field(ge=1)
    health_status: HealthStatus = Field(description="When it was asked for.")
    workflow_id: Text240


class ReprobeSelection(Contract):
    """Which capabilities to recheck: the one named, or those whose cooldown is over."""

    capability_id: Text160 | None = None
    now: UtcTime


class CanaryTask(Contract):
    """One canary. ``outcome_id`` makes a repeated one count once."""

    capability_id: Text160
    outcome_id: Uuid
    requested_by: Text120
    correlation_id: Text200


class CanaryResult(Contract):
    """How a canary went, and how the capability is doing now."""

    capability_id: Text160
    success: bool
    health_status: HealthStatus
    good_canaries: int = Field(ge=0)
    summary: Text240 | None = None
