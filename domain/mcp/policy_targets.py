"""What a policy may be decided for, how a target is called, and which targets a call falls under."""

from contracts.mcp.policy import (
    MCPGlobalTarget,
    MCPInheritedFrom,
    MCPPolicyTarget,
    MCPProviderTarget,
    MCPServerTarget,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider


def target_key(target: MCPPolicyTarget) -> str:
    """The one spelling of a target: two are the same when their keys are."""
    if isinstance(target, MCPGlobalTarget):
        return "global"
    if isinstance(target, MCPProviderTarget):
        return f"provider:{target.provider.value}"
    if isinstance(target, MCPServerTarget):
        return f"server:{target.server_id}"
    if isinstance(target, MCPToolTarget):
        # A server's id holds no slash, so the first one ends it.
        return f"tool:{target.server_id}/{target.tool_name}"
    return f"grant:{target.dispatch_id}"


def named(target: MCPPolicyTarget) -> str:
    """A target in words, for people."""
    if isinstance(target, MCPGlobalTarget):
        return "all tool servers"
    if isinstance(target, MCPProviderTarget):
        return f"every server of {target.provider.value}"
    if isinstance(target, MCPServerTarget):
        return f"the server {target.server_id}"
    if isinstance(target, MCPToolTarget):
        return f"{target.tool_name} of {target.server_id}"
    return f"what the approval of {target.dispatch_id} allowed"


def levels_above(target: MCPPolicyTarget, provider: MCPProvider | None) -> tuple[MCPPolicyTarget, ...]:
    """The targets whose decisions reach ``target``, from the broadest to ``target`` itself.

    ``provider`` is that of the server, where the target is one or a tool of one.
    """
    broadest: tuple[MCPPolicyTarget, ...] = (MCPGlobalTarget(),)
    if isinstance(target, MCPGlobalTarget | MCPTemporaryGrantTarget):
        return broadest
    if isinstance(target, MCPProviderTarget):
        return (*broadest, target)
    upper = (*broadest, MCPProviderTarget(provider=provider)) if provider else broadest
    if isinstance(target, MCPServerTarget):
        return (*upper, target)
    return (*upper, MCPServerTarget(server_id=target.server_id), target)


def inherited(from_target: MCPPolicyTarget, target: MCPPolicyTarget) -> MCPInheritedFrom:
    """How ``target`` comes by a decision that was made for ``from_target``."""
    if from_target == target:
        return MCPInheritedFrom.NONE
    return MCPInheritedFrom(from_target.target_kind)
