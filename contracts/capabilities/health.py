"""How capabilities are doing and how often they were used (DOC3 §1.1D, §1.1C output files)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text80, Text160, UtcTime, VersionedContract
from contracts.capabilities.bridge import HealthStatus


class InstalledState(StrEnum):
    """Whether the capability's manifest is there."""

    PRESENT = "present"
    MISSING = "missing"


class SessionAvailability(StrEnum):
    """Whether the present runtime lets the capability be used."""

    SUPPORTED = "supported"
    DEGRADED = "degraded"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class CapabilityHealthState(VersionedContract):
    """Installed, healthy and usable now are three things (DOC3 §1.1D); this keeps them apart."""

    capability_id: Text160
    installed_state: InstalledState = InstalledState.PRESENT
    health_status: HealthStatus
    session_availability: SessionAvailability = SessionAvailability.UNKNOWN
    reason_codes: tuple[Text80, ...] = ()
    last_verified_at: UtcTime | None = None
    cooldown_until: UtcTime | None = None


class CapabilityHealthCurrent(VersionedContract):
    """The canonical file ``capabilities/health_current.json``."""

    capabilities: tuple[CapabilityHealthState, ...]
    health_as_of: UtcTime


class CapabilityStats(VersionedContract):
    """What is known of a capability's use, in counts."""

    capability_id: Text160
    uses: int = Field(default=0, ge=0, description="Times its ability was used after it was installed.")
    checkpoints_reached: int = Field(default=0, ge=0)
    checkpoints_skipped: int = Field(default=0, ge=0)
    checkpoints_failed: int = Field(default=0, ge=0)
    last_used_at: UtcTime | None = None


class CapabilityStatsCurrent(VersionedContract):
    """The canonical file ``capabilities/stats_current.json``."""

    capabilities: tuple[CapabilityStats, ...]
    stats_as_of: UtcTime
