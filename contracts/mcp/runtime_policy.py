"""Which agent runtimes may use which tool servers, and the policy as a whole (DOC3 §1.1R, §7D.2, L14025)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts.base import Contract, Text80, Text120, Text240, UtcTime, VersionedContract
from contracts.mcp.policy import MCPPolicyDecision, MCPPolicyMode, MCPPolicyTarget

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


class MCPProviderPolicyUpdateRequest(MCPProviderLists):
    """Replaces what one provider's runtimes may use."""

    client_request_id: Text120 | None = None


class MCPProviderPolicyListResponse(VersionedContract):
    """One policy for each provider of runtimes, in the order of their names."""

    policies: tuple[MCPProviderPolicy, ...] = ()
    policy_version: int = Field(ge=0)


class MCPStandingDecision(Contract):
    """What somebody decided for one target."""

    target: MCPPolicyTarget
    decision: MCPPolicyDecision
    policy_version: int = Field(default=0, ge=0, description="The owner's policy since this decision.")


class MCPPolicyDefault(Contract):
    """What holds for some calls where nobody has decided. Of several that fit a call the strictest counts."""

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
