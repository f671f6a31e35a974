"""Who may call what: targets, decisions, their trace, and what-if (DOC3 §0.2D; precedence in ADR 15)."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from contracts.base import Contract, Text120, Text240, UtcTime, Uuid, VersionedContract
from contracts.mcp.provider import MCPProvider


class MCPGlobalTarget(Contract):
    """Every call."""

    target_kind: Literal["global"] = "global"


class MCPProviderTarget(Contract):
    """Every call of a provider's servers."""

    target_kind: Literal["provider"] = "provider"
    provider: MCPProvider


class MCPServerTarget(Contract):
    """Every call of one server."""

    target_kind: Literal["server"] = "server"
    server_id: Text120


class MCPToolTarget(Contract):
    """Every call of one tool."""

    target_kind: Literal["tool"] = "tool"
    server_id: Text120
    tool_name: Text120


class MCPTemporaryGrantTarget(Contract):
    """What one approval allows beyond its own call."""

    target_kind: Literal["temporary_grant"] = "temporary_grant"
    dispatch_id: Uuid


MCPPolicyTarget = Annotated[
    MCPGlobalTarget | MCPProviderTarget | MCPServerTarget | MCPToolTarget | MCPTemporaryGrantTarget,
    Field(discriminator="target_kind"),
]


class MCPPolicyMode(StrEnum):
    """What happens to a call."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    ASK_FIRST = "ask_first"


class MCPPolicyAuthor(StrEnum):
    """Who decided."""

    USER = "user"
    SYSTEM = "system"
    MIGRATION = "migration"


class MCPPolicyDecision(VersionedContract):
    """What was decided for a target, and until when."""

    mode: MCPPolicyMode
    expires_at: UtcTime | None = None
    reason_code: Text120 | None = None
    updated_by: MCPPolicyAuthor
    updated_at: UtcTime


class MCPInheritedFrom(StrEnum):
    """Where an effective decision comes from when not from the target itself."""

    NONE = "none"
    GLOBAL = "global"
    PROVIDER = "provider"
    SERVER = "server"


class MCPEffectivePolicy(VersionedContract):
    """What holds for a target."""

    target: MCPPolicyTarget
    decision: MCPPolicyDecision
    inherited_from: MCPInheritedFrom = MCPInheritedFrom.NONE


class MCPPolicyWish(VersionedContract):
    """What is to hold for a target. A time that has passed takes back what was decided for it.

    ``updated_by`` and ``updated_at`` may be given, as in a decision; what counts is who asks, and when.
    """

    mode: MCPPolicyMode
    expires_at: UtcTime | None = None
    reason_code: Text120 | None = None
    updated_by: MCPPolicyAuthor | None = None
    updated_at: UtcTime | None = None


class MCPPolicyUpdateRequest(VersionedContract):
    """Decides for a target; the newest decision replaces the one before."""

    target: MCPPolicyTarget
    decision: MCPPolicyWish
    client_request_id: Text120 | None = None


class MCPTraceStep(Contract):
    """One rule that was looked at, whether it holds, and what it says."""

    rule: Text120
    target: MCPPolicyTarget | None = None
    matched: bool
    mode: MCPPolicyMode | None = None
    why: Text240
    decisive: bool = Field(default=False, description="The one rule that the verdict follows.")


class MCPPolicyVerdict(VersionedContract):
    """What policy says of one call, and every rule that was looked at, the decisive one marked."""

    mode: MCPPolicyMode
    effective: MCPEffectivePolicy
    reason_code: Text120
    grant_id: Uuid | None = Field(default=None, description="The standing approval that lets it pass.")
    policy_version: int = Field(ge=0, description="Counts the owner's changes of policy.")
    trace: tuple[MCPTraceStep, ...] = ()
