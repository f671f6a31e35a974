"""Which of a person's servers a call should go to: scored from what the store has now, and nothing is called."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, select

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.base import clipped
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import DispatchCaller
from contracts.mcp.policy import MCPEffectivePolicy, MCPServerTarget
from contracts.mcp.routing import (
    RouteActionClass,
    RouteCandidate,
    RouteExplainRequest,
    RouteExplanation,
    RouteLeftOut,
    RouteStanding,
    RouteVerdict,
)
from contracts.mcp.servers import MCPServerListItem, MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from domain.mcp.policy import effective_of, judge
from domain.mcp.policy_facts import CallFacts, Policies, facts_of, may_use_server, provider_of
from domain.mcp.registration import badge_states
from domain.mcp.route_scoring import (
    FORBIDDEN,
    NEVER_LISTED,
    RouteDecision,
    RouteWanted,
    resolve_route,
    servers_required,
    why_left_out,
)
from domain.projects.bindings import servers_of_project
from stores.mcp.policy.grants import live_grants
from stores.mcp.policy.policy_rows import policies_of
from stores.mcp.servers.server_rows import servers_of
from stores.mcp.servers.server_views import list_items
from stores.mcp.servers.tool_discovery import tools_of
from stores.platform.database import Database
from stores.platform.tables import capabilities
from stores.projects.bindings import bindings_of

_EFFECTS = {
    RouteActionClass.READ: ToolEffect.READ,
    RouteActionClass.WRITE: ToolEffect.UPDATE,
    RouteActionClass.ADMIN: ToolEffect.DELETE,
}
"""The effect that stands for a kind of work: for an administrator's, the one that is handled most strictly."""


@dataclass(frozen=True)
class _Seen:
    """A server under the policy of this call, and the reason of that policy."""

    item: MCPServerListItem
    why: str


class RouteReads:
    """Ways to the servers of all people. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def explain(self, asked: RouteExplainRequest, caller: DispatchCaller, now: datetime) -> RouteExplanation:
        """The way that a call of ``caller`` would go now."""
        with self._database.read() as connection:
            return explained(connection, asked, caller, now)


def explained(
    connection: Connection, asked: RouteExplainRequest, caller: DispatchCaller, now: datetime
) -> RouteExplanation:
    """As ``RouteReads.explain``, inside a transaction."""
    owner = caller.user_id
    policies = policies_of(connection, owner)
    items = list_items(connection, servers_of(connection, owner), owner, now)
    if asked.tool_name is None:
        seen = [_by_server(item, asked, policies, now) for item in items]
    else:
        seen = [_by_tool(connection, item, asked, caller, policies, now) for item in items]
    wanted, notes = _wanted(connection, asked, owner, [item.registry for item in items])
    wanted = _within_lists(wanted, asked, caller, policies, [item.registry.server_id for item in items])
    decision = resolve_route([one.item for one in seen], wanted)
    left_out = _left_out(seen, wanted, decision)
    by_id = {one.item.registry.server_id: one for one in seen}
    return RouteExplanation(
        decision=decision.verdict,
        server_id=decision.server_id,
        score_breakdown=tuple(
            RouteCandidate(
                server_id=scored.server_id,
                display_name=by_id[scored.server_id].item.registry.display_name,
                score=scored.score,
                standing=scored.standing,
                reasons=scored.reasons,
                policy=by_id[scored.server_id].item.effective_policy.decision.mode,
                policy_reason=by_id[scored.server_id].why,
            )
            for scored in decision.scores
        ),
        left_out=left_out,
        notes=notes,
        next_step=_next_step(decision, left_out),
        policy_version=policies.version,
        explained_at=now,
    )


def _by_server(
    item: MCPServerListItem, asked: RouteExplainRequest, policies: Policies, now: datetime
) -> _Seen:
    entry = item.registry
    classes = (*entry.data_classes, *((asked.data_class,) if asked.data_class else ()))
    policy = effective_of(
        MCPServerTarget(server_id=entry.server_id),
        policies,
        now,
        provider=entry.provider,
        effect=_EFFECTS[asked.action_class],
        data_classes=classes,
    )
    decision = policy.decision
    why = decision.reason_code or f"decided for this {policy.target.target_kind}"
    return _Seen(_under(item, policy), clipped(f"{decision.mode.value}: {why}", 240))


def _by_tool(
    connection: Connection,
    item: MCPServerListItem,
    asked: RouteExplainRequest,
    caller: DispatchCaller,
    policies: Policies,
    now: datetime,
) -> _Seen:
    entry, name = item.registry, asked.tool_name or ""
    tools = {
        tool.definition.tool_name: tool
        for tool in tools_of(connection, entry)
        if tool.state is not MCPToolState.REMOVED
    }
    facts = _facts(entry, tools.get(name), asked, caller)
    grants = live_grants(connection, caller.user_id, entry.server_id, name, now)
    verdict = judge(facts, policies, grants, now)
    names = tuple(tools) or entry.supported_tools
    entry = entry.changed(supported_tools=names)
    mode = verdict.effective.decision.changed(mode=verdict.mode)
    policy = verdict.effective.changed(decision=mode)
    why = next((step.why for step in verdict.trace if step.decisive), verdict.reason_code)
    return _Seen(_under(item.changed(registry=entry), policy), why)


def _facts(
    entry: MCPServerRegistryEntry, tool: MCPTool | None, asked: RouteExplainRequest, caller: DispatchCaller
) -> CallFacts:
    if tool is not None:
        return facts_of(caller.user_id, entry, tool, caller, asked.data_class)
    # An unknown tool is judged as a call of it would be: new, and one that writes.
    return CallFacts(
        owner=caller.user_id,
        server_id=entry.server_id,
        provider=entry.provider,
        tool_name=asked.tool_name or "",
        effect=ToolEffect.UPDATE,
        tool_state=MCPToolState.ADDED,
        runtime=caller.runtime,
        data_class=asked.data_class,
        server_data_classes=entry.data_classes,
        server_enabled=entry.enabled,
    )


def _under(item: MCPServerListItem, policy: MCPEffectivePolicy) -> MCPServerListItem:
    """The server under the policy of this call; its badges follow, for the score reads them."""
    badges = badge_states(item.registry, item.health, item.auth, policy)
    return item.changed(effective_policy=policy, badge_states=badges)


def _wanted(
    connection: Connection,
    asked: RouteExplainRequest,
    owner: str,
    servers: Sequence[MCPServerRegistryEntry],
) -> tuple[RouteWanted, tuple[str, ...]]:
    notes: list[str] = []
    allowed = None if asked.allowed_servers is None else frozenset(asked.allowed_servers)
    if asked.capability_id is not None:
        required = _required_by(connection, asked.capability_id)
        if required:
            allowed = required if allowed is None else allowed & required
        else:
            notes.append("The capability requires no certain server.")
    bound: frozenset[str] = frozenset()
    if asked.project_id is not None:
        binding = next((b for b in bindings_of(connection, owner) if b.project_id == asked.project_id), None)
        bound = frozenset() if binding is None else servers_of_project(binding, servers)
        if not bound:
            notes.append("No server of yours is bound to the project, so it decides nothing.")
    wanted = RouteWanted(
        # What is judged by the tool or by its kind of work already has the effect in its policy.
        effect=ToolEffect.READ,
        tool_name=asked.tool_name,
        provider=asked.provider,
        allowed_servers=allowed,
        ask_first_servers=frozenset(asked.ask_first_servers),
        project_servers=bound,
        native_path=asked.native_path,
    )
    return wanted, tuple(notes)


def _within_lists(
    wanted: RouteWanted,
    asked: RouteExplainRequest,
    caller: DispatchCaller,
    policies: Policies,
    server_ids: Sequence[str],
) -> RouteWanted:
    """What the lists of the runtime's provider say of servers; of a named tool its policy has it already."""
    lists = next((one for one in policies.runtimes if one.provider is provider_of(caller.runtime)), None)
    if lists is None or asked.tool_name is not None:
        return wanted
    may = frozenset(one for one in server_ids if may_use_server(lists, one))
    allowed = may if wanted.allowed_servers is None else wanted.allowed_servers & may
    asks = wanted.ask_first_servers | frozenset(lists.ask_first_servers)
    return replace(wanted, allowed_servers=allowed, ask_first_servers=asks)


def _required_by(connection: Connection, capability_id: str) -> frozenset[str]:
    text = connection.scalar(
        select(capabilities.c.manifest).where(capabilities.c.capability_id == capability_id)
    )
    return frozenset(
        servers_required(CapabilityManifest.model_validate_json(text)) if text is not None else ()
    )


def _left_out(
    seen: Sequence[_Seen], wanted: RouteWanted, decision: RouteDecision
) -> tuple[RouteLeftOut, ...]:
    scored = {one.server_id for one in decision.scores}
    found: list[RouteLeftOut] = []
    for one in seen:
        entry = one.item.registry
        why = why_left_out(one.item, wanted)
        if entry.server_id in scored or why is None:
            continue
        if why == FORBIDDEN:
            why = clipped(f"{why} {one.why}", 240)
        found.append(RouteLeftOut(server_id=entry.server_id, display_name=entry.display_name, why=why))
    return tuple(sorted(found, key=lambda left: left.server_id))


def _next_step(decision: RouteDecision, left_out: Sequence[RouteLeftOut]) -> str:
    if decision.verdict is RouteVerdict.NO_ROUTE and any(one.why == NEVER_LISTED for one in left_out):
        return "No server of yours is known to have it: run the smoke test of those whose tools were never listed."
    best = decision.scores[0] if decision.scores else None
    if decision.verdict is RouteVerdict.DEGRADED and best and best.standing is RouteStanding.AUTH_REQUIRED:
        return "Somebody has to sign in to this server first: POST /api/mcp/servers/{id}/auth/start. None else will do."
    return _STEPS[decision.verdict]


_STEPS = {
    RouteVerdict.ALLOW: "Call the tool of this server; the call is judged once more when it is made.",
    RouteVerdict.ASK_FIRST: "Call the tool of this server; a person decides before anything is sent.",
    RouteVerdict.DEGRADED: "This server is ill and there is no other: say so and take a way that is approved, or "
    "wait until it is well.",
    RouteVerdict.DENY: "Policy leaves no server for this: do not try another way; a person may change it.",
    RouteVerdict.NO_ROUTE: "No server of yours fits: register one, or ask for another tool or provider.",
}
