"""Capability health and use: current state, outcomes of uses and canaries, reprobe, runtime inventory, use receipts.

DOC3 §1.1D, §1.1C output files and "runtime capability check output", §1.1I (outcomes and "Reprobe"), §0.8 L4934,
§1.1U L6125, §0.2H L3138 (use receipts).
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.capability_manifest import HealthStatus
from contracts.abilities.control_surface import ControlSurface
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text500,
    UtcTime,
    Uuid,
    VersionedContract,
)


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
    installed_state: InstalledState
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
    not_run: bool = Field(
        default=False, description="A canary that could not be run: neither good nor a failure."
    )
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
    """Events of capabilities and of what they depend on (DOC3 L4620-4636)."""

    MANIFEST_CREATED = "capability.manifest.created"
    MANIFEST_UPDATED = "capability.manifest.updated"
    MANIFEST_DELETED = "capability.manifest.deleted"
    HEALTH_CHANGED = "capability.health.changed"
    QUARANTINED = "capability.quarantined"
    REPROBE_SUCCEEDED = "capability.reprobe.succeeded"
    SKILL_IMPORTED = "skill.imported"
    SKILL_PROMOTED = "skill.promoted"
    TEACH_SESSION_CREATED = "teach.session.created"
    TEACH_SESSION_CANCELLED = "teach.session.cancelled"
    TEACH_PROPOSAL_SUBMITTED = "teach.proposal.submitted"
    MCP_HEALTH_CHANGED = "mcp.health.changed"
    MCP_POLICY_CHANGED = "mcp.policy.changed"
    MCP_RECEIPT_CREATED = "mcp.receipt.created"
    BROWSER_RELAY_DETACHED = "browser.relay.detached"


class CapabilityEvent(VersionedContract):
    """One line of ``capabilities/events.jsonl``: the ids of what it tells of, and no others.

    Events of tool servers and of teaching are in ``mcp/`` and ``learning/capability_events.jsonl``.
    """

    event: CapabilityEventName
    capability_id: Text160 | None = None
    ability_id: Text160 | None = None
    learn_session_id: Uuid | None = None
    proposal_id: Uuid | None = None
    server_id: Text120 | None = None
    receipt_id: Uuid | None = None
    health_before: HealthStatus | None = Field(
        default=None, description="Of the capability; absent where there was none before."
    )
    health_status: HealthStatus | None = Field(default=None, description="Of the capability.")
    server_health: Text80 | None = Field(default=None, description="Of the tool server, after the change.")
    reason_codes: tuple[Text80, ...] = ()
    correlation_id: Text200
    created_at: UtcTime


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
    """Which capabilities to recheck: the one named, that of an ability, or those whose cooldown is over."""

    capability_id: Text160 | None = None
    ability_id: Text160 | None = None
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
    not_run: bool = Field(default=False, description="Nothing was proved, either way; `summary` says why.")
    health_status: HealthStatus
    good_canaries: int = Field(ge=0)
    summary: Text240 | None = None


class RuntimeCapabilityCheck(Contract):
    """One thing that capabilities require of the runtime, such as ``program:tar``."""

    name: Text120
    present: bool


class RuntimeInventory(VersionedContract):
    """The canonical file ``capabilities/runtime_inventory_current.json``."""

    checks: tuple[RuntimeCapabilityCheck, ...] = Field(default=(), description="By name.")
    checked_at: UtcTime


class UseResult(StrEnum):
    """How a use ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    DENIED = "denied"
    CANCELLED = "cancelled"


class ApprovalMode(StrEnum):
    """By whose leave it was used."""

    AUTONOMOUS = "autonomous"
    STANDING_ORDER = "standing_order"
    ASK_FIRST = "ask_first"
    MANUAL_CLICK = "manual_click"


class ApprovalState(StrEnum):
    """Whether a person was asked, and the answer."""

    NOT_NEEDED = "not_needed"
    PROMPTED = "prompted"
    GRANTED = "granted"
    DENIED = "denied"


class ActionClass(StrEnum):
    """What kind of action it was."""

    SEARCH = "search"
    FETCH = "fetch"
    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    SEND = "send"
    SCHEDULE = "schedule"
    OTHER = "other"


class IdentityKind(StrEnum):
    """Whose permission was used."""

    LOCAL_USER = "local_user"
    OAUTH_USER = "oauth_user"
    SERVICE_PRINCIPAL = "service_principal"
    UNKNOWN = "unknown"


class CapabilityUseReceipt(VersionedContract):
    """One use of a capability, as ``capabilities/use_receipts.jsonl`` keeps it: names, and no values."""

    receipt_id: Uuid
    capability_id: Text160
    route_surface: ControlSurface
    runtime: Text80 = Field(default="other", description="The agent runtime that asked for it.")
    provider: Text80 | None = None
    connector_server_id: Text120 | None = None
    tool_name: Text120 | None = None
    dispatch_id: Text200 | None = None
    operation_id: Text200 | None = None
    route_trace_id: Text200 | None = Field(
        default=None, description="Its line in capabilities/traces.jsonl; absent where nothing was attempted."
    )
    project_id: Text160 | None = None
    action_class: ActionClass = ActionClass.OTHER
    data_class: Text80 | None = None
    approval_mode: ApprovalMode = ApprovalMode.AUTONOMOUS
    approval_state: ApprovalState = ApprovalState.NOT_NEEDED
    result: UseResult
    auth_profile_id: Text120 | None = None
    identity_asserted_kind: IdentityKind = IdentityKind.UNKNOWN
    identity_asserted_ref: Text240 | None = None
    started_at: UtcTime
    completed_at: UtcTime | None = None
    correlation_id: Uuid | None = None
    created_at: UtcTime
