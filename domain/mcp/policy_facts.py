"""Facts that policy judges: the call, its owner's decisions, policy targets, runtime lists, standing approvals.

DOC3 §1.1R ``MCPProviderPolicy``, §7D.2, L14029 (lists); L2443-2450, ADR 15 (standing approvals).

A token that is bound to a runtime calls as that runtime. Otherwise the caller names its runtime: a wrong name only
selects the lists of another provider, and no name is judged as ``other``; denials that must hold for every runtime
belong into the policy.

Identity of a caller at the tool gateway: user, token, agent runtime; and who may read a call's content.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import AskFirstDecision, DispatchCaller, DispatchView, GrantScope, MCPGrant
from contracts.mcp.policy import (
    MCPGlobalTarget,
    MCPInheritedFrom,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPProviderLists,
    MCPProviderPolicy,
    MCPProviderTarget,
    MCPRuntimeProvider,
    MCPServerTarget,
    MCPStandingDecision,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from contracts.platform.identity import Principal, Scope
from domain.mcp.policy_defaults import CONFIDENTIAL_CLASSES, STRICTNESS

SESSION_GRANT_LASTS = timedelta(hours=12)
"""The longest that an approval for a session holds."""

NEVER_FOR_A_SESSION = frozenset({ToolEffect.DELETE, ToolEffect.SEND})
"""What cannot be taken back is approved each time, or for one turn; a decision of policy may allow it for good."""

_FAMILIES = {
    MCPRuntimeProvider.CODEX: ("codex",),
    MCPRuntimeProvider.OPENAI: ("openai", "chatgpt", "gpt"),
    MCPRuntimeProvider.ANTHROPIC: ("anthropic", "claude"),
    MCPRuntimeProvider.OPENCLAW: ("openclaw",),
}


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


@dataclass(frozen=True)
class RuntimeFinding:
    """What one rule about runtimes says; ``mode`` is none where it has nothing against the call."""

    code: str
    mode: MCPPolicyMode | None
    why: str


def provider_of(runtime: str | None) -> MCPRuntimeProvider:
    """Whose runtime a name stands for: ``openai_responses`` is of openai, ``claude-code`` of anthropic."""
    name = (runtime or "").strip().casefold()
    for provider, beginnings in _FAMILIES.items():
        if name.startswith(beginnings):
            return provider
    return MCPRuntimeProvider.OTHER


def from_lists(
    runtime: MCPRuntimeProvider, server_id: str, tool_name: str, policies: Iterable[MCPProviderPolicy]
) -> RuntimeFinding:
    """What the provider's lists say: a denial wins over everything, then being asked first."""
    findings = [_from_list(policy, server_id, tool_name) for policy in policies if policy.provider is runtime]
    nothing = RuntimeFinding("runtime_lists", None, f"The lists of {runtime.value} say nothing against it.")
    return max((nothing, *findings), key=lambda found: (_severity(found), found.why))


def from_confidentiality(
    runtime: MCPRuntimeProvider,
    server_id: str,
    tool_name: str,
    data_classes: Collection[str],
    policies: Iterable[MCPProviderPolicy],
) -> RuntimeFinding:
    """A runtime from outside is asked about on confidential data, until its provider's lists allow it by name."""
    code = "runtime_confidential"
    if runtime is MCPRuntimeProvider.OPENCLAW:
        return RuntimeFinding(code, None, "It is the own runtime, openclaw.")
    if CONFIDENTIAL_CLASSES.isdisjoint(data_classes):
        return RuntimeFinding(code, None, "The data is not said to be confidential.")
    mine = [policy for policy in policies if policy.provider is runtime]
    if any(
        server_id in policy.allowed_servers
        or not _tool(server_id, tool_name).isdisjoint(policy.allowed_tools)
        for policy in mine
    ):
        return RuntimeFinding(code, None, f"The lists of {runtime.value} allow it by name.")
    return RuntimeFinding(
        code,
        MCPPolicyMode.ASK_FIRST,
        f"The data is confidential and {runtime.value} is a runtime from outside, so a person is asked first.",
    )


def may_use_server(policy: MCPProviderPolicy, server_id: str) -> bool:
    """Whether the lists leave a server to the provider's runtimes, whichever tool of it is called."""
    listed = not policy.allowed_servers or server_id in policy.allowed_servers
    return policy.allow_mcp and listed and server_id not in policy.denied_servers


def _from_list(policy: MCPProviderPolicy, server_id: str, tool_name: str) -> RuntimeFinding:
    whose, tool = policy.provider.value, _tool(server_id, tool_name)
    deny, ask = MCPPolicyMode.DISABLED, MCPPolicyMode.ASK_FIRST
    if not policy.allow_mcp:
        return RuntimeFinding("runtime_not_allowed", deny, f"Runtimes of {whose} may use no tool server.")
    if server_id in policy.denied_servers:
        return RuntimeFinding("runtime_server_denied", deny, f"{server_id} is denied to {whose}.")
    if not tool.isdisjoint(policy.denied_tools):
        return RuntimeFinding("runtime_tool_denied", deny, f"{tool_name} is denied to {whose}.")
    if policy.allowed_servers and server_id not in policy.allowed_servers:
        return RuntimeFinding(
            "runtime_server_not_listed", deny, f"{server_id} is not among the servers allowed to {whose}."
        )
    if policy.allowed_tools and tool.isdisjoint(policy.allowed_tools):
        return RuntimeFinding(
            "runtime_tool_not_listed", deny, f"{tool_name} is not among the tools allowed to {whose}."
        )
    if server_id in policy.ask_first_servers:
        return RuntimeFinding("runtime_ask_first", ask, f"{whose} has to ask first about {server_id}.")
    return RuntimeFinding("runtime_lists", None, f"The lists of {whose} say nothing against it.")


def _tool(server_id: str, tool_name: str) -> frozenset[str]:
    return frozenset({tool_name, f"{server_id}/{tool_name}"})


def _severity(found: RuntimeFinding) -> int:
    return -1 if found.mode is None else STRICTNESS[found.mode]


def scope_of(decision: AskFirstDecision) -> GrantScope | None:
    """How far an approval is to reach beyond its own call; none where it does not."""
    return {
        AskFirstDecision.APPROVE_UNTIL_END_OF_TURN: GrantScope.END_OF_TURN,
        AskFirstDecision.APPROVE_FOR_SESSION: GrantScope.SESSION,
    }.get(decision)


def may_be_granted(effect: ToolEffect, scope: GrantScope) -> bool:
    """Whether a call of this kind may be approved beyond itself this far."""
    return scope is GrantScope.END_OF_TURN or effect not in NEVER_FOR_A_SESSION


def grant_expiry(scope: GrantScope, now: datetime, ask_first_expiry: timedelta) -> datetime:
    """When a standing approval ends at the latest: a turn's after the ask-first expiry, a session's after 12 h."""
    return now + (ask_first_expiry if scope is GrantScope.END_OF_TURN else SESSION_GRANT_LASTS)


def covering(
    grants: Iterable[MCPGrant],
    *,
    owner: str,
    server_id: str,
    tool_name: str,
    effect: ToolEffect,
    definition_hash: str | None,
    turn_ref: str | None,
    session_ref: str | None,
    token_id: str | None,
    runtime: str | None,
    now: datetime,
) -> MCPGrant | None:
    """The grant that lets such a call pass: the one that lasts longest, of equal ones the first by its id.

    Turns and sessions are named by whoever calls, so a grant is for the token and the runtime whose call was
    approved, whatever another one names.
    """
    refs = {GrantScope.END_OF_TURN: turn_ref, GrantScope.SESSION: session_ref}
    fitting = [
        grant
        for grant in grants
        if (grant.owner_user_id, grant.server_id, grant.tool_name) == (owner, server_id, tool_name)
        and grant.tool_definition_hash == definition_hash
        and grant.scope_ref == refs[grant.scope]
        and (grant.token_id, grant.runtime) == (token_id, runtime)
        and grant.revoked_at is None
        and grant.expires_at > now
        and may_be_granted(effect, grant.scope)
    ]
    return min(fitting, key=lambda grant: (-grant.expires_at.timestamp(), grant.grant_id), default=None)


def calling_as(
    caller: Principal, runtime: str | None, turn_ref: str | None = None, session_ref: str | None = None
) -> DispatchCaller:
    """Who makes a call that names this runtime, turn and session.

    Raises:
        Refusal: ``FORBIDDEN`` for another runtime than the token is bound to.
    """
    return DispatchCaller(
        user_id=caller.user_id,
        token_id=caller.token_id,
        runtime=runtime_of(caller, runtime),
        turn_ref=turn_ref,
        session_ref=session_ref,
    )


def runtime_of(caller: Principal, said: str | None, otherwise: str | None = None) -> str | None:
    """The runtime that a token calls as: the one it is bound to, else what it says, else ``otherwise``.

    Another name of the same provider's runtimes is no other runtime: the lists of policy tell them apart no further.

    Raises:
        Refusal: ``FORBIDDEN`` for another provider's runtime than the token is bound to.
    """
    if caller.runtime is None:
        return said or otherwise
    if said and provider_of(said) is not provider_of(caller.runtime):
        raise Refusal(
            ErrorCode.FORBIDDEN,
            f"This token is bound to the runtime {caller.runtime} and calls tools as no other. Leave runtime out, "
            "or use a token of the runtime that you mean.",
        )
    return caller.runtime


_DECIDING = frozenset({Scope.APPROVE, Scope.ADMIN})


def shown_to(caller: Principal, view: DispatchView) -> DispatchView:
    """The call as this token may see it; without arguments and answers where another token made it."""
    if view.caller.token_id == caller.token_id or caller.scopes & _DECIDING:
        return view
    return view.changed(arguments=None, result=None, m365=None)
