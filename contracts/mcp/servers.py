"""Registry of tool servers, the server list with its badges, provider capabilities, and the probe of a server.

DOC3 §0.2D, §1.1S "Runtime adapter record".
"""

from enum import StrEnum
from typing import Annotated

from pydantic import AnyUrl, Field, StringConstraints

from contracts.base import (
    Contract,
    Sha256,
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
from contracts.mcp.auth import MCPServerAuthStatus
from contracts.mcp.health import MCPConnectionHealth
from contracts.mcp.m365 import M365ConnectorOptions
from contracts.mcp.policy import MCPEffectivePolicy
from contracts.mcp.provider import MCPInteractionMode, MCPProvider, MCPTransport
from contracts.mcp.tools import ToolFailure
from contracts.platform.lists import ListCounts


class MCPRuntimeKind(StrEnum):
    """A runtime that calls tools; none of them is a place where documents are."""

    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    CODEX = "codex"
    OPENCLAW_WORKER = "openclaw_worker"
    OTHER = "other"


class MCPRuntimeAdapter(VersionedContract):
    """What a runtime supports of its own; through the gateway every one has filtering, sign-in and receipts."""

    runtime: MCPRuntimeKind
    supports_remote_mcp: bool = False
    supports_local_bridge: bool = False
    supports_tool_filtering: bool = False
    supports_server_oauth: bool = False
    supports_receipt_hooks: bool = False


DataClasses = Annotated[tuple[Text80, ...], Field(max_length=50)]
ToolNames = Annotated[tuple[Text120, ...], Field(max_length=500)]
DisplayName = Annotated[str, StringConstraints(min_length=1, max_length=160, strip_whitespace=True)]


class MCPRateLimitProfile(StrEnum):
    """How generous a server is."""

    UNKNOWN = "unknown"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


FolderPath = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
FolderPaths = Annotated[tuple[FolderPath, ...], Field(max_length=50)]


class MCPServerCommand(Contract):
    """The program that a local server is.

    It starts with a clean environment and these references alone. Where the system can confine it, it reaches its own
    code, a folder of its own, its working folder, and the folders that are granted here.
    """

    program: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    arguments: tuple[Annotated[str, StringConstraints(max_length=2_000)], ...] = Field(
        default=(), max_length=100
    )
    working_folder: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    environment_refs: dict[Text120, Text120] = Field(
        default_factory=dict,
        max_length=50,
        description="Names of its variables, and the variables of the worker that hold their values.",
    )
    readable_folders: FolderPaths = Field(
        default=(), description="Further folders that a person lets it read, as absolute paths."
    )
    writable_folders: FolderPaths = Field(
        default=(), description="Further folders that a person lets it read and write, as absolute paths."
    )


class MCPServerRegistryEntry(VersionedContract):
    """One registered server."""

    server_id: Text120
    provider: MCPProvider
    display_name: DisplayName
    endpoint_url: AnyUrl | None = None
    command: MCPServerCommand | None = None
    transport: MCPTransport
    interaction_mode: MCPInteractionMode = MCPInteractionMode.INTERACTIVE_USER
    auth_profile_id: Text120 | None = None
    protocol_revision: Annotated[str, StringConstraints(max_length=40)] | None = None
    tool_schema_hash: Sha256 | None = None
    rate_limit_profile: MCPRateLimitProfile = MCPRateLimitProfile.UNKNOWN
    data_classes: DataClasses = ()
    supported_tools: ToolNames = ()
    enabled: bool = True
    active_build_surface: bool = True
    supports_smoke_test: bool = True
    m365: M365ConnectorOptions | None = Field(
        default=None, description="Of a server of Microsoft 365: what it offers as typed operations."
    )
    created_at: UtcTime
    updated_at: UtcTime


class MCPServerCreateRequest(VersionedContract):
    """Registers a server: an address for ``remote_http``, a command for ``local_bridge``."""

    provider: MCPProvider
    display_name: DisplayName
    endpoint_url: AnyUrl | None = None
    command: MCPServerCommand | None = None
    transport: MCPTransport
    interaction_mode: MCPInteractionMode = MCPInteractionMode.INTERACTIVE_USER
    auth_profile_id: Text120 | None = None
    data_classes: DataClasses = ()
    supported_tools: ToolNames = ()
    enabled: bool = True
    m365: M365ConnectorOptions | None = None
    client_request_id: Text120 | None = None


class MCPServerPatchRequest(VersionedContract):
    """What is to change; what is left out stays, and ``auth_profile_id: null`` detaches the sign-in."""

    display_name: DisplayName | None = None
    endpoint_url: AnyUrl | None = None
    auth_profile_id: Text120 | None = None
    enabled: bool | None = None
    data_classes: DataClasses | None = None
    supported_tools: ToolNames | None = None
    m365: M365ConnectorOptions | None = None
    readable_folders: FolderPaths | None = Field(
        default=None, description="Of a local server: all the folders that it may read besides its own."
    )
    writable_folders: FolderPaths | None = Field(
        default=None,
        description="Of a local server: all the folders that it may read and write besides its own.",
    )
    client_request_id: Text120 | None = None


class MCPAuthProfileAction(StrEnum):
    """What happened to the sign-in of a server that went."""

    NONE = "none"
    RETAINED_SHARED = "retained_shared"
    RETAINED_UNREFERENCED = "retained_unreferenced"
    DELETED_UNREFERENCED = "deleted_unreferenced"


class MCPServerDeleteResponse(VersionedContract):
    """What became of a server, and of its sign-in."""

    server_id: Text120
    deleted: bool
    auth_profile_action: MCPAuthProfileAction
    detached_auth_profile_id: Text120 | None = None
    grants_revoked: int = Field(
        default=0, ge=0, description="How many standing approvals were taken back with it."
    )
    receipt_id: Uuid | None = None


class MCPBadgeState(StrEnum):
    """What a card shows."""

    CONNECTED = "connected"
    APPROVAL_REQUIRED = "approval_required"
    AUTH_REQUIRED = "auth_required"
    DEGRADED = "degraded"
    DISABLED = "disabled"
    DEFERRED = "deferred"
    BACKGROUND_ONLY = "background_only"


class MCPServerAction(StrEnum):
    """What may be done with a server now."""

    CONNECT_AUTH = "connect_auth"
    REFRESH_AUTH = "refresh_auth"
    REVOKE_AUTH = "revoke_auth"
    EDIT = "edit"
    DELETE = "delete"
    SMOKE_TEST = "smoke_test"
    POLICY_UPDATE = "policy_update"


class MCPAbilityRelation(StrEnum):
    """How an ability uses a server."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    SUGGESTED = "suggested"


class MCPLinkedAbilityRef(Contract):
    """An ability that uses a server; the label ``Linked skills`` binds to these."""

    ability_id: Text160
    label: Text160 | None = None
    relation: MCPAbilityRelation = MCPAbilityRelation.PRIMARY


class MCPServerListItem(VersionedContract):
    """A server with all that its card shows; badges and actions are computed here and nowhere else."""

    registry: MCPServerRegistryEntry
    health: MCPConnectionHealth
    auth: MCPServerAuthStatus | None = None
    effective_policy: MCPEffectivePolicy
    badge_states: tuple[MCPBadgeState, ...] = ()
    linked_abilities: tuple[MCPLinkedAbilityRef, ...] = ()
    available_actions: tuple[MCPServerAction, ...] = ()
    last_receipt_id: Uuid | None = None
    changed_tools: int = Field(
        default=0, ge=0, description="Tools that are not what was listed or looked at before; they ask first."
    )
    deferred_design_only: bool = False
    runtime_adapter: MCPRuntimeAdapter | None = Field(
        default=None, description="Of a row that is a runtime: what it supports of its own."
    )
    confined: bool | None = Field(
        default=None, description="Of a local program: whether the system keeps it from other files."
    )
    confinement: Text500 | None = Field(
        default=None, description="Of a local program: what keeps it from keys and tokens here, in words."
    )


class MCPServerListResponse(ListCounts):
    """Every server of the caller, and those the documents defer."""

    servers: tuple[MCPServerListItem, ...] = ()
    generated_at: UtcTime


class MCPServerMutationResponse(VersionedContract):
    """A server after a change."""

    server: MCPServerListItem
    updated: bool = True
    accepted: bool = True
    receipt_id: Uuid | None = None


class DueOrder(Contract):
    """Asks for up to ``limit`` servers that are due at ``at``, by the clock of the workflow that asks."""

    limit: int = Field(ge=1, le=1_000)
    at: UtcTime


class DueServer(Contract):
    """A server that is to be probed."""

    server_id: Text120
    owner: Text120


class ProbeTask(Contract):
    """Asks for one look. ``by_hand``: a person waits for it, so a pause after failures is cut short; one that
    the server itself asked for is not."""

    server_id: Text120
    owner: Text120
    correlation_id: Text200
    by_hand: bool = False
    take_in_tools: bool = True
    max_duration_ms: int = Field(default=10_000, ge=1_000, le=60_000)
    at: UtcTime | None = Field(default=None, description="When its workflow asked for it, by its clock.")


class ProbeFindings(Contract):
    """What one look found."""

    server_id: Text120
    started_at: UtcTime
    completed_at: UtcTime
    not_tried: Text240 | None = Field(default=None, description="Why it was not looked at all, if so.")
    failure: ToolFailure | None = None
    sign_in_used: bool = False
    tools: int | None = Field(default=None, ge=0, description="How many tools it offers.")
    left_out: Text500 | None = Field(default=None, description="Which of its tools were not taken, and why.")
    health: MCPConnectionHealth
