"""Whether a call of a tool may be made: one pure judgement, with every rule that it looked at (ADR 15)."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPInheritedFrom,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyVerdict,
    MCPServerTarget,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider
from contracts.mcp.tools import MCPToolState
from domain.mcp.always_asked import always_asked
from domain.mcp.call_facts import CallFacts, Policies, facts_of
from domain.mcp.policy_defaults import DEFAULTS_SINCE, STRICTNESS, default_for
from domain.mcp.policy_rungs import (
    Rung,
    from_default,
    from_grants,
    from_level,
    from_registry,
    from_runtime,
)
from domain.mcp.policy_targets import levels_above

__all__ = ["CallFacts", "Policies", "effective_of", "facts_of", "judge"]


def judge(
    facts: CallFacts, policies: Policies, grants: Sequence[MCPGrant], now: datetime
) -> MCPPolicyVerdict:
    """What policy says of a call; always a verdict, with the rules in the order of their precedence.

    A denial at any level wins. Then the most specific decision counts, or the default; the lists of the
    runtime's provider, and what is always asked about, can only make it stricter; a standing approval lets pass
    what would be asked about.
    """
    target = MCPToolTarget(server_id=facts.server_id, tool_name=facts.tool_name)
    registry = from_registry(facts)
    levels = [
        from_level(at, target, policies.decisions, facts.tool_state, now)
        for at in levels_above(target, facts.provider)
    ]
    default = from_default(facts, nobody_decided=all(level.forbids < 0 for level in levels))
    runtime = from_runtime(facts, policies.runtimes)
    always = always_asked(facts.provider, facts.tool_name)
    decisive = _decisive(registry, levels, default, runtime)
    if always is not None and decisive.forbids <= always.forbids:
        decisive = always
    usable = () if always else grants
    grant = from_grants(facts, usable, now, asked=decisive.step.mode is MCPPolicyMode.ASK_FIRST)
    if grant.step.matched:
        decisive = grant
    rungs = (registry, *levels, default, *runtime, *((always,) if always else ()), grant)
    return MCPPolicyVerdict(
        mode=decisive.step.mode or MCPPolicyMode.DISABLED,
        effective=_effective(decisive, target),
        reason_code=decisive.code,
        grant_id=decisive.grant.grant_id if decisive.grant else None,
        policy_version=policies.version,
        trace=tuple(
            rung.step.model_copy(update={"decisive": True}) if rung is decisive else rung.step
            for rung in rungs
        ),
    )


def effective_of(
    target: MCPPolicyTarget,
    policies: Policies,
    now: datetime,
    *,
    provider: MCPProvider | None = None,
    effect: ToolEffect = ToolEffect.READ,
    tool_state: MCPToolState = MCPToolState.PINNED,
    data_classes: Iterable[str] = (),
) -> MCPEffectivePolicy:
    """What holds for a target by decisions and defaults, whoever calls; runtimes' lists come on top at a call.

    ``effect`` and ``tool_state`` are the tool's; without a tool the answer is that for reading.
    """
    levels = [
        from_level(at, target, policies.decisions, tool_state, now) for at in levels_above(target, provider)
    ]
    rule = default_for(
        effect=effect,
        tool_state=tool_state,
        provider=provider,
        data_classes=[one.strip().casefold() for one in data_classes],
        server_id=target.server_id if isinstance(target, MCPServerTarget | MCPToolTarget) else None,
    )
    denial = next((level for level in levels if level.step.mode is MCPPolicyMode.DISABLED), None)
    found = denial or next((level for level in reversed(levels) if level.step.matched), None)
    always = always_asked(provider, target.tool_name) if isinstance(target, MCPToolTarget) else None
    if always is not None and (found is None or found.forbids < always.forbids):
        return _effective(always, target)
    if found is not None:
        return _effective(found, target)
    return MCPEffectivePolicy(target=target, decision=rule.decision, inherited_from=MCPInheritedFrom.GLOBAL)


def _decisive(registry: Rung, levels: list[Rung], default: Rung, runtime: tuple[Rung, Rung]) -> Rung:
    forbidding = STRICTNESS[MCPPolicyMode.DISABLED]
    for rung in (registry, *levels, *runtime):
        if rung.forbids == forbidding:
            return rung
    standing = next((level for level in reversed(levels) if level.step.matched), default)
    # The first of the strictest: what policy says itself goes before a list that says the same.
    return max((standing, *runtime), key=lambda rung: rung.forbids)


def _effective(decisive: Rung, target: MCPPolicyTarget) -> MCPEffectivePolicy:
    mode = decisive.step.mode or MCPPolicyMode.DISABLED
    decision = decisive.decision or MCPPolicyDecision(
        mode=mode,
        reason_code=decisive.code,
        updated_by=MCPPolicyAuthor.SYSTEM,
        updated_at=DEFAULTS_SINCE,
    )
    if decisive.grant is not None and decisive.step.target is not None:
        target = decisive.step.target
    return MCPEffectivePolicy(target=target, decision=decision, inherited_from=decisive.inherited_from)
