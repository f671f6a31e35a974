"""The compact capability bridge that agent runtimes read (DOC3 §1.1C)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text80, Text120, Text160, Text200, Text240, UtcTime, VersionedContract


class HealthStatus(StrEnum):
    """How a capability is doing."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    QUARANTINED = "quarantined"
    DISABLED = "disabled"
    UNKNOWN = "unknown"


class OriginOwner(StrEnum):
    """Who owns the capability."""

    DOC3 = "doc3"
    DOC4_BRIDGE = "doc4_bridge"
    OPENCLAW_NATIVE = "openclaw_native"
    PROVISIONAL_SCANNER = "provisional_scanner"


class CapabilityRegistryBridgeEntry(VersionedContract):
    """One capability in its compact form."""

    capability_id: Text160
    family: Text80
    title: Text200
    aliases: tuple[Text80, ...] = Field(default=(), max_length=20)
    action_verbs: tuple[Text80, ...] = Field(default=(), max_length=20)
    route_tier: int = Field(ge=1, le=5)
    requires_supervision: bool = False
    dry_run_supported: bool = False
    routing_eligible: bool = True
    health_status: HealthStatus
    health_reason_code: Text120 | None = None
    origin_owner: OriginOwner
    built_in_openclaw: bool = False
    metadata_ref: Text240
    updated_at: UtcTime


class BridgeState(StrEnum):
    """Whether the bridge can be believed."""

    FRESH = "fresh"
    STALE = "stale"
    PARTIAL = "partial"


class CapabilityBridgeCurrent(VersionedContract):
    """The canonical file ``capabilities/bridge_entries_current.json``."""

    bridge_state: BridgeState
    entries: tuple[CapabilityRegistryBridgeEntry, ...]
    rebuilt_at: UtcTime
