"""What policy judges a call by: the facts of the call, and the policy of its owner."""

from dataclasses import dataclass, replace

from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.dispatch import DispatchCaller
from contracts.mcp.policy import MCPPolicyDecision, MCPPolicyTarget
from contracts.mcp.provider import MCPProvider
from contracts.mcp.runtime_policy import MCPProviderLists, MCPProviderPolicy, MCPStandingDecision
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from domain.mcp.policy_targets import target_key


@dataclass(frozen=True)
class CallFacts:
    """What is known of a call before it is made.

    ``data_class`` is what the caller says of the data, ``server_data_classes`` what the registry says: both
    count. ``definition_hash`` is that of the tool as it is now.
    """

    owner: str
    server_id: str
    provider: MCPProvider
    tool_name: str
    effect: ToolEffect
    tool_state: MCPToolState = MCPToolState.PINNED
    definition_hash: str | None = None
    runtime: str | None = None
    data_class: str | None = None
    turn_ref: str | None = None
    session_ref: str | None = None
    token_id: str | None = None
    server_data_classes: tuple[str, ...] = ()
    server_enabled: bool = True

    @property
    def data_classes(self) -> frozenset[str]:
        """Every class that the data is said to be of, in lower case."""
        said = (*self.server_data_classes, *((self.data_class,) if self.data_class else ()))
        return frozenset(one.strip().casefold() for one in said)


@dataclass(frozen=True)
class Policies:
    """One owner's policy. ``version`` counts its changes."""

    decisions: tuple[MCPStandingDecision, ...] = ()
    runtimes: tuple[MCPProviderPolicy, ...] = ()
    version: int = 0

    def proposing(self, target: MCPPolicyTarget, decision: MCPPolicyDecision) -> "Policies":
        """The policy as it would be with ``decision`` in the place of what was decided for ``target``."""
        key = target_key(target)
        others = tuple(one for one in self.decisions if target_key(one.target) != key)
        return replace(self, decisions=(*others, MCPStandingDecision(target=target, decision=decision)))

    def with_lists(self, lists: MCPProviderLists) -> "Policies":
        """The policy as it would be with these lists in the place of those of the same provider's runtimes."""
        others = tuple(one for one in self.runtimes if one.provider is not lists.provider)
        proposed = MCPProviderPolicy.model_validate(lists, from_attributes=True)
        return replace(self, runtimes=(*others, proposed))


def facts_of(
    owner: str,
    server: MCPServerRegistryEntry,
    tool: MCPTool,
    caller: DispatchCaller,
    data_class: str | None = None,
) -> CallFacts:
    """The facts of a call of ``tool``, from the registry and from what the caller said."""
    return CallFacts(
        owner=owner,
        server_id=server.server_id,
        provider=server.provider,
        tool_name=tool.definition.tool_name,
        effect=tool.effect,
        tool_state=tool.state,
        definition_hash=tool.definition_hash,
        runtime=caller.runtime,
        data_class=data_class,
        turn_ref=caller.turn_ref,
        session_ref=caller.session_ref,
        token_id=caller.token_id,
        server_data_classes=server.data_classes,
        server_enabled=server.enabled,
    )
