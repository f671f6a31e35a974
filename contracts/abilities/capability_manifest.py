"""Capability manifests, their metadata sidecar, and the compact bridge that agent runtimes read.

DOC3 §1.1B, §1.1C.
"""

from enum import StrEnum
from typing import Literal

from pydantic import Field, JsonValue

from contracts.abilities.control_surface import ControlSurface
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text500,
    Text1000,
    UtcTime,
    VersionedContract,
)


class CapabilityKind(StrEnum):
    """What a capability is made of."""

    NATIVE_OPENCLAW_TOOL = "native_openclaw_tool"
    BRIDGE_TOOL = "bridge_tool"
    WRAPPER_SCRIPT = "wrapper_script"
    WORKFLOW_PATTERN = "workflow_pattern"
    PROMOTED_SKILL = "promoted_skill"


class VerificationRule(Contract):
    """How to see that the capability did its work."""

    kind: str = Field(
        pattern="^(tool_result|file_hash|window_state|snapshot_label|api_state|manual_confirmation)$"
    )
    target: Text240
    expected: Text240 | None = None


class HealthProbe(Contract):
    """How to see that the capability is there at all.

    Programs of a ``command`` are looked up; other kinds are not carried out. Neither makes a recheck good: that takes
    the taught method, run in the sandbox.
    """

    kind: str = Field(pattern="^(command|tool|browser|noop)$")
    target: Text240
    timeout_ms: int = Field(
        default=3000, gt=0, description="Of other runtimes; a lookup of programs needs none."
    )


class RuntimeBinding(Contract):
    """What runs it."""

    binding_kind: str = Field(pattern="^(native_tool|bridge_tool|script|workflow_pattern)$")
    target: Text240


class MCPBinding(Contract):
    """A tool that the capability goes through: as it was when it was shown (DOC3 L10908; hash and scopes added)."""

    capability_id: Text160
    server_id: Text120
    tool_name: Text120
    ask_first: bool = Field(default=False, description="Whether it changed something.")
    fallback_surface_order: tuple[ControlSurface, ...] = ()
    definition_hash: Sha256 | None = None
    scopes: tuple[Text160, ...] = ()


class LearningPolicy(Contract):
    """How the capability may be taught further."""

    teach_mode_allowed: bool = Field(default=True, description="Whether it may be improved by teaching.")
    promotion_source_template_id: Text160 | None = None
    auto_capture_trace: bool = Field(default=True, description="Whether its uses leave execution traces.")
    proposal_required_for_mutation: Literal[True] = Field(
        default=True, description="A capability changes by proposals alone (DOC3 §1.1J)."
    )


class CapabilityManifest(VersionedContract):
    """The machine-readable truth of one capability."""

    capability_id: Text160
    family: Text80
    kind: CapabilityKind
    title: Text200
    origin_skill: Text120
    aliases: tuple[Text80, ...] = ()
    action_verbs: tuple[Text80, ...] = ()
    surface_order: tuple[ControlSurface, ...] = Field(min_length=1)
    runtime_binding: RuntimeBinding
    required_runtime_caps: tuple[Text120, ...] = ()
    permissions: tuple[Text120, ...] = ()
    requires_supervision: bool = False
    dry_run_supported: bool = False
    routing_eligible: bool = True
    verification: tuple[VerificationRule, ...] = Field(min_length=1)
    health_probe: HealthProbe
    learning_policy: LearningPolicy
    tool_bindings: tuple[MCPBinding, ...] = ()
    input_schema: dict[str, JsonValue] | None = Field(
        default=None, description="JSON Schema of the parameters; absent where there are none."
    )


class ControlSurfaceNote(Contract):
    """A remark on one surface."""

    surface: Text80
    notes: Text500


class KnownFailureMode(Contract):
    """A failure seen before, and the way out."""

    trigger: Text240
    recovery_ref: Text240


class CapabilityMetadata(VersionedContract):
    """The richer sidecar behind the compact bridge entry; for this service only."""

    capability_id: Text160
    summary: Text1000
    source_refs: tuple[Text240, ...] = ()
    control_surface_notes: tuple[ControlSurfaceNote, ...] = ()
    dependency_refs: tuple[Text240, ...] = ()
    page_knowledge_refs: tuple[Text240, ...] = ()
    ui_anchor_refs: tuple[Text240, ...] = ()
    bucket_refs: tuple[Text240, ...] = ()
    known_failure_modes: tuple[KnownFailureMode, ...] = ()


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
    PARTIAL_DEPLOYMENT = "partial_deployment"


class CapabilityBridgeCurrent(VersionedContract):
    """The canonical file ``capabilities/bridge_entries_current.json``."""

    bridge_state: BridgeState
    entries: tuple[CapabilityRegistryBridgeEntry, ...]
    rebuilt_at: UtcTime
