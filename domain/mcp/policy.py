"""Policy verdict of a tool call: a pure function that returns the mode and a trace of every rule (ADR 15).

A denial at any level wins. Calls that always ask (DOC3 §0.2F "Behavior rules" 3) still ask where a decision enables
them or a standing approval covers them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.base import clipped, rfc3339
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPInheritedFrom,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyVerdict,
    MCPProviderPolicy,
    MCPServerTarget,
    MCPStandingDecision,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
    MCPTraceStep,
)
from contracts.mcp.provider import MCPProvider
from contracts.mcp.tools import MCPToolState
from domain.mcp.policy_defaults import DEFAULTS_SINCE, STRICTNESS, default_for
from domain.mcp.policy_facts import (
    CallFacts,
    Policies,
    RuntimeFinding,
    covering,
    from_confidentiality,
    from_lists,
    inherited,
    levels_above,
    named,
    provider_of,
    target_key,
)

UNREVIEWED = frozenset({MCPToolState.ADDED, MCPToolState.CHANGED})
"""Tool states that a tool's own ``enabled`` does not cover: it was decided for another definition."""

ALWAYS_ASKED = frozenset({(MCPProvider.ACROBAT, "redaction_prep")})
"""Provider and tool of calls that need an approval each time."""

ALWAYS_ASKED_CODE = "always_ask_first"

_DECIDED = {
    MCPPolicyMode.ENABLED: "Allowed",
    MCPPolicyMode.ASK_FIRST: "Asking first is decided",
    MCPPolicyMode.DISABLED: "Disabled",
}


@dataclass(frozen=True)
class PolicyRule:
    """An evaluated rule: its step of the trace, and the decision that it would make effective."""

    step: MCPTraceStep
    code: str
    decision: MCPPolicyDecision | None = None
    inherited_from: MCPInheritedFrom = MCPInheritedFrom.NONE
    grant: MCPGrant | None = None

    @property
    def strictness(self) -> int:
        """The strictness of its mode; -1 where it does not match."""
        return STRICTNESS[self.step.mode] if self.step.matched and self.step.mode is not None else -1


def judge(
    facts: CallFacts, policies: Policies, grants: Sequence[MCPGrant], now: datetime
) -> MCPPolicyVerdict:
    """The verdict on a call, with every rule in the order of precedence.

    A denial at any level wins. Then the most specific decision counts, or the default; the lists of the
    runtime's provider and the calls that always ask can only make it stricter; a standing approval allows what
    would be asked about.
    """
    target = MCPToolTarget(server_id=facts.server_id, tool_name=facts.tool_name)
    registry = _registry_rule(facts)
    levels = [
        _decision_rule(at, target, policies.decisions, facts.tool_state, now)
        for at in levels_above(target, facts.provider)
    ]
    default = _default_rule(facts, undecided=all(level.strictness < 0 for level in levels))
    runtime = _runtime_rules(facts, policies.runtimes)
    always = _always_asked_rule(facts.provider, facts.tool_name)
    decisive = _decisive(registry, levels, default, runtime)
    if always is not None and decisive.strictness <= always.strictness:
        decisive = always
    usable = () if always else grants
    grant = _grant_rule(facts, usable, now, asked=decisive.step.mode is MCPPolicyMode.ASK_FIRST)
    if grant.step.matched:
        decisive = grant
    rules = (registry, *levels, default, *runtime, *((always,) if always else ()), grant)
    return MCPPolicyVerdict(
        mode=decisive.step.mode or MCPPolicyMode.DISABLED,
        effective=_effective(decisive, target),
        reason_code=decisive.code,
        grant_id=decisive.grant.grant_id if decisive.grant else None,
        policy_version=policies.version,
        trace=tuple(rule.step.changed(decisive=True) if rule is decisive else rule.step for rule in rules),
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
    """The effective policy of a target by decisions and defaults, for any caller; runtime lists apply at a call.

    ``effect`` and ``tool_state`` are the tool's; without a tool the policy is that of a read.
    """
    levels = [
        _decision_rule(at, target, policies.decisions, tool_state, now)
        for at in levels_above(target, provider)
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
    always = _always_asked_rule(provider, target.tool_name) if isinstance(target, MCPToolTarget) else None
    if always is not None and (found is None or found.strictness < always.strictness):
        return _effective(always, target)
    if found is not None:
        return _effective(found, target)
    return MCPEffectivePolicy(target=target, decision=rule.decision, inherited_from=MCPInheritedFrom.GLOBAL)


def _decisive(
    registry: PolicyRule,
    levels: list[PolicyRule],
    default: PolicyRule,
    runtime: tuple[PolicyRule, PolicyRule],
) -> PolicyRule:
    forbidding = STRICTNESS[MCPPolicyMode.DISABLED]
    for rule in (registry, *levels, *runtime):
        if rule.strictness == forbidding:
            return rule
    standing = next((level for level in reversed(levels) if level.step.matched), default)
    # The first of the strictest: a decision goes before a list of equal strictness.
    return max((standing, *runtime), key=lambda rule: rule.strictness)


def _effective(decisive: PolicyRule, target: MCPPolicyTarget) -> MCPEffectivePolicy:
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


def _registry_rule(facts: CallFacts) -> PolicyRule:
    """Registry: a server that is switched off, or a tool that was removed, cannot be called."""
    off, gone = not facts.server_enabled, facts.tool_state is MCPToolState.REMOVED
    if off:
        why, code = f"The server {facts.server_id} is switched off in the registry.", "server_switched_off"
    elif gone:
        why, code = f"{facts.server_id} no longer has {facts.tool_name}.", "tool_removed"
    else:
        why, code = "The server is switched on and has the tool.", "registry"
    mode = MCPPolicyMode.DISABLED if off or gone else None
    return _rule("registry", code, mode, why, level=MCPInheritedFrom.SERVER)


def _decision_rule(
    at: MCPPolicyTarget,
    asked: MCPPolicyTarget,
    decisions: Iterable[MCPStandingDecision],
    tool_state: MCPToolState,
    now: datetime,
) -> PolicyRule:
    """The unexpired decision for the target ``at``, as it applies to ``asked``."""
    key, rule = target_key(at), at.target_kind
    here = [one.decision for one in decisions if target_key(one.target) == key]
    live = [one for one in here if one.expires_at is None or one.expires_at > now]
    if not live:
        what = "What was decided has expired" if here else "Nothing is decided"
        return _rule(rule, rule, None, f"{what} for {named(at)}.", target=at)
    counts = live[0] if len(live) == 1 else max(live, key=_strictest_newest)
    if isinstance(at, MCPToolTarget) and counts.mode is MCPPolicyMode.ENABLED and tool_state in UNREVIEWED:
        why = (
            f"The tool was allowed; its definition is {tool_state.value} since, and nobody has looked at it."
        )
        return _rule(rule, rule, None, why, target=at)
    until = f" until {rfc3339(counts.expires_at)}" if counts.expires_at else ""
    return PolicyRule(
        step=MCPTraceStep(
            rule=rule,
            target=at,
            matched=True,
            mode=counts.mode,
            why=clipped(f"{_DECIDED[counts.mode]}{until} for {named(at)}.", 240),
        ),
        code=f"{rule}_{counts.mode.value}",
        decision=counts,
        inherited_from=inherited(at, asked),
    )


def _strictest_newest(decision: MCPPolicyDecision) -> tuple[int, str, str, str]:
    """Sort key: the strictest, then the newest, so that the order of decisions never matters."""
    until = rfc3339(decision.expires_at) if decision.expires_at else "~"
    return STRICTNESS[decision.mode], rfc3339(decision.updated_at), until, decision.reason_code or ""


def _default_rule(facts: CallFacts, *, undecided: bool) -> PolicyRule:
    """The default for such a call; it matches where there is no decision."""
    rule = default_for(
        effect=facts.effect,
        tool_state=facts.tool_state,
        provider=facts.provider,
        data_classes=facts.data_classes,
        server_id=facts.server_id,
        runtime=provider_of(facts.runtime),
    )
    step = MCPTraceStep(
        rule="default",
        matched=undecided,
        mode=rule.mode,
        why=rule.why if undecided else "Somebody has decided, so the default does not count.",
    )
    return PolicyRule(
        step=step, code=rule.code, decision=rule.decision, inherited_from=MCPInheritedFrom.GLOBAL
    )


def _runtime_rules(facts: CallFacts, policies: Sequence[MCPProviderPolicy]) -> tuple[PolicyRule, PolicyRule]:
    """The lists of the runtime's provider, and the limits on confidential data for outside runtimes."""
    runtime = provider_of(facts.runtime)
    lists = from_lists(runtime, facts.server_id, facts.tool_name, policies)
    care = from_confidentiality(runtime, facts.server_id, facts.tool_name, facts.data_classes, policies)
    return _runtime_rule("runtime_lists", lists), _runtime_rule("runtime_confidential", care)


def _runtime_rule(rule: str, finding: RuntimeFinding) -> PolicyRule:
    return _rule(rule, finding.code, finding.mode, finding.why, level=MCPInheritedFrom.GLOBAL)


def _grant_rule(facts: CallFacts, grants: Sequence[MCPGrant], now: datetime, *, asked: bool) -> PolicyRule:
    """The standing approval that covers the call, where it would be ``asked`` about."""
    if not asked:
        return _rule("grant", "grant", None, "Nobody would be asked, so no standing approval is needed.")
    found = covering(
        grants,
        owner=facts.owner,
        server_id=facts.server_id,
        tool_name=facts.tool_name,
        effect=facts.effect,
        definition_hash=facts.definition_hash,
        turn_ref=facts.turn_ref,
        session_ref=facts.session_ref,
        token_id=facts.token_id,
        runtime=facts.runtime,
        now=now,
    )
    if found is None:
        return _rule("grant", "grant", None, "No standing approval covers this call.")
    decision = MCPPolicyDecision(
        mode=MCPPolicyMode.ENABLED,
        expires_at=found.expires_at,
        reason_code=f"granted_{found.scope.value}",
        updated_by=MCPPolicyAuthor.USER,
        updated_at=found.created_at,
    )
    target = MCPTemporaryGrantTarget(dispatch_id=found.dispatch_id)
    why = f"{found.granted_by} approved it for this {found.scope.value.removeprefix('end_of_')}."
    step = MCPTraceStep(
        rule="grant", target=target, matched=True, mode=MCPPolicyMode.ENABLED, why=clipped(why, 240)
    )
    return PolicyRule(step=step, code=f"granted_{found.scope.value}", decision=decision, grant=found)


def _always_asked_rule(provider: MCPProvider | None, tool_name: str) -> PolicyRule | None:
    """The rule that asks each time, for the calls it is about."""
    if (provider, tool_name) not in ALWAYS_ASKED:
        return None
    step = MCPTraceStep(
        rule=ALWAYS_ASKED_CODE,
        matched=True,
        mode=MCPPolicyMode.ASK_FIRST,
        why=f"A person is asked about {tool_name} each time, whatever is decided otherwise.",
    )
    return PolicyRule(step=step, code=ALWAYS_ASKED_CODE)


def _rule(
    rule: str,
    code: str,
    mode: MCPPolicyMode | None,
    why: str,
    *,
    target: MCPPolicyTarget | None = None,
    level: MCPInheritedFrom = MCPInheritedFrom.NONE,
) -> PolicyRule:
    step = MCPTraceStep(rule=rule, target=target, matched=mode is not None, mode=mode, why=clipped(why, 240))
    return PolicyRule(step=step, code=code, inherited_from=level)
