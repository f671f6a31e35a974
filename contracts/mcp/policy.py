"""Policy of tool calls: targets, decisions, trace, what-if, provider lists, and replay of a change on recent calls.

DOC3 §0.2D, §1.1R, §7D.2, L14025; precedence in ADR 15.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from contracts.base import Contract, Text80, Text120, Text240, Text500, UtcTime, Uuid, VersionedContract
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
    waiting_calls: int | None = Field(
        default=None,
        ge=0,
        description="After a change: how many calls that waited are decided by policy now.",
    )
    note: Text240 | None = Field(default=None, description="After a change: what to know about it.")


class MCPPolicyWish(VersionedContract):
    """What is to hold for a target. A time that has passed takes back what was decided for it.

    ``updated_by`` and ``updated_at`` may be given, as in a decision; what counts is who asks, and when.
    """

    mode: MCPPolicyMode = Field(description="A decision is taken back by an ``expires_at`` that has passed.")
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


ServerIds = Annotated[tuple[Text120, ...], Field(max_length=500)]
ToolRefs = Annotated[tuple[Text240, ...], Field(max_length=500)]
"""Tools by name, on whichever server, or as ``server_id/tool_name``."""


class MCPRuntimeProvider(StrEnum):
    """Whose agent runtime makes a call. ``other`` is every runtime that is not named here, or not at all."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CODEX = "codex"
    OPENCLAW = "openclaw"
    OTHER = "other"


class MCPProviderLists(VersionedContract):
    """What one provider's runtimes may use. An empty list of what is allowed allows everything."""

    provider: MCPRuntimeProvider
    allow_mcp: bool = True
    allowed_servers: ServerIds = ()
    denied_servers: ServerIds = ()
    ask_first_servers: ServerIds = ()
    allowed_tools: ToolRefs = ()
    denied_tools: ToolRefs = ()


class MCPProviderPolicy(MCPProviderLists):
    """What one provider's runtimes may use, and since when."""

    updated_at: UtcTime | None = Field(default=None, description="None where nobody has decided yet.")
    note: Text500 | None = Field(default=None, description="After a change: what to know about it.")


class MCPProviderPolicyUpdateRequest(MCPProviderLists):
    """Replaces what one provider's runtimes may use."""

    client_request_id: Text120 | None = None


class MCPProviderPolicyListResponse(VersionedContract):
    """One policy for each provider of runtimes, in the order of their names."""

    policies: tuple[MCPProviderPolicy, ...] = ()
    policy_version: int = Field(ge=0)


class MCPStandingDecision(Contract):
    """A decision for one target."""

    target: MCPPolicyTarget
    decision: MCPPolicyDecision
    policy_version: int = Field(default=0, ge=0, description="The owner's policy since this decision.")


class MCPPolicyDefault(Contract):
    """A default for some calls without a decision. Of several that fit a call the strictest counts."""

    code: Text80
    mode: MCPPolicyMode
    applies_to: Text240
    why: Text240


class MCPPolicyListResponse(VersionedContract):
    """The caller's policy: a page of what was decided, newest first, and what holds without a decision."""

    policy_version: int = Field(ge=0)
    decisions: tuple[MCPStandingDecision, ...] = ()
    total: int = Field(ge=0, description="How many decisions there are.")
    page: int = Field(ge=1)
    page_size: int = Field(ge=1, le=100)
    defaults: tuple[MCPPolicyDefault, ...] = ()
    providers: tuple[MCPProviderPolicy, ...] = ()


class MCPPolicyPreviewRequest(VersionedContract):
    """Which of the newest calls would go otherwise under this proposal: a decision, or the lists of runtimes."""

    target: MCPPolicyTarget | None = None
    decision: MCPPolicyWish | None = Field(default=None, description="What would be decided for the target.")
    runtimes: MCPProviderLists | None = Field(
        default=None, description="The lists of one provider's runtimes, in the place of target and decision."
    )
    newest: int = Field(default=100, ge=1, le=1_000, description="How many calls to replay.")

    @model_validator(mode="after")
    def _proposes_one_thing(self) -> Self:
        if (self.target is None) is not (self.decision is None) or (self.target is None) is (
            self.runtimes is None
        ):
            raise ValueError("say target and decision, or runtimes in their place")
        return self


class MCPPolicyFlip(Contract):
    """A call that would have gone otherwise."""

    dispatch_id: Uuid
    server_id: Text120
    tool_name: Text120
    happened_at: UtcTime
    was: MCPPolicyMode = Field(description="By policy as it is now.")
    would_be: MCPPolicyMode
    why: Text500


class MCPPolicyPreviewResponse(VersionedContract):
    """What a proposal would change; nothing was changed."""

    replayed: int = Field(ge=0)
    unchanged: int = Field(ge=0)
    flips: tuple[MCPPolicyFlip, ...] = ()
