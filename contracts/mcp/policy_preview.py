"""What a change of policy would have made of the newest calls (DOC3 §0.2D, §1.1R)."""

from typing import Self

from pydantic import Field, model_validator

from contracts.base import Contract, Text120, Text500, UtcTime, Uuid, VersionedContract
from contracts.mcp.policy import MCPPolicyMode, MCPPolicyTarget, MCPPolicyWish
from contracts.mcp.runtime_policy import MCPProviderLists


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
    was: MCPPolicyMode
    would_be: MCPPolicyMode
    why: Text500


class MCPPolicyPreviewResponse(VersionedContract):
    """What a proposal would change; nothing was changed."""

    replayed: int = Field(ge=0)
    unchanged: int = Field(ge=0)
    flips: tuple[MCPPolicyFlip, ...] = ()
