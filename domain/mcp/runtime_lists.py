"""What the lists of a runtime's provider say of a call (DOC3 §1.1R ``MCPProviderPolicy``, §7D.2, L14029).

A token that is bound to a runtime calls as that one. Otherwise a runtime names itself: one that names itself wrongly
gains nothing but the lists of another provider, and one that names nothing is judged as ``other``; denials that must
hold whatever a runtime says belong into the policy.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from contracts.mcp.policy import MCPPolicyMode
from contracts.mcp.runtime_policy import MCPProviderPolicy, MCPRuntimeProvider
from domain.mcp.policy_defaults import CONFIDENTIAL_CLASSES, STRICTNESS

_FAMILIES = {
    MCPRuntimeProvider.CODEX: ("codex",),
    MCPRuntimeProvider.OPENAI: ("openai", "chatgpt", "gpt"),
    MCPRuntimeProvider.ANTHROPIC: ("anthropic", "claude"),
    MCPRuntimeProvider.OPENCLAW: ("openclaw",),
}


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
