"""The rules that a call is held against, each as a step of the trace with what it would decide (ADR 15)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.base import clipped, rfc3339
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.policy import (
    MCPInheritedFrom,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
    MCPTraceStep,
)
from contracts.mcp.runtime_policy import MCPProviderPolicy, MCPStandingDecision
from contracts.mcp.tools import MCPToolState
from domain.mcp.call_facts import CallFacts
from domain.mcp.grant_rules import covering
from domain.mcp.policy_defaults import STRICTNESS, default_for
from domain.mcp.policy_targets import inherited, named, target_key
from domain.mcp.runtime_lists import RuntimeFinding, from_confidentiality, from_lists, provider_of

UNREVIEWED = frozenset({MCPToolState.ADDED, MCPToolState.CHANGED})
"""A tool's own ``enabled`` was said of a definition that a person had seen: it does not cover these."""

_SAID = {
    MCPPolicyMode.ENABLED: "Allowed",
    MCPPolicyMode.ASK_FIRST: "Asking first is decided",
    MCPPolicyMode.DISABLED: "Disabled",
}


@dataclass(frozen=True)
class Rung:
    """A rule that was looked at, with what it would make the effective policy."""

    step: MCPTraceStep
    code: str
    decision: MCPPolicyDecision | None = None
    inherited_from: MCPInheritedFrom = MCPInheritedFrom.NONE
    grant: MCPGrant | None = None

    @property
    def forbids(self) -> int:
        """How strict it is; below zero where it has nothing to say."""
        return STRICTNESS[self.step.mode] if self.step.matched and self.step.mode is not None else -1


def from_registry(facts: CallFacts) -> Rung:
    """What the registry says: a server that is switched off, or a tool that is gone, is called by nobody."""
    off, gone = not facts.server_enabled, facts.tool_state is MCPToolState.REMOVED
    if off:
        why, code = f"The server {facts.server_id} is switched off in the registry.", "server_switched_off"
    elif gone:
        why, code = f"{facts.server_id} no longer has {facts.tool_name}.", "tool_removed"
    else:
        why, code = "The server is switched on and has the tool.", "registry"
    mode = MCPPolicyMode.DISABLED if off or gone else None
    return _rung("registry", code, mode, why, level=MCPInheritedFrom.SERVER)


def from_level(
    at: MCPPolicyTarget,
    asked: MCPPolicyTarget,
    decisions: Iterable[MCPStandingDecision],
    tool_state: MCPToolState,
    now: datetime,
) -> Rung:
    """What was decided for the target ``at``, as far as it reaches ``asked``; what has expired says nothing."""
    key, rule = target_key(at), at.target_kind
    here = [one.decision for one in decisions if target_key(one.target) == key]
    live = [one for one in here if one.expires_at is None or one.expires_at > now]
    if not live:
        what = "What was decided has expired" if here else "Nothing is decided"
        return _rung(rule, rule, None, f"{what} for {named(at)}.", target=at)
    counts = live[0] if len(live) == 1 else max(live, key=_order)
    if isinstance(at, MCPToolTarget) and counts.mode is MCPPolicyMode.ENABLED and tool_state in UNREVIEWED:
        why = (
            f"The tool was allowed; its definition is {tool_state.value} since, and nobody has looked at it."
        )
        return _rung(rule, rule, None, why, target=at)
    until = f" until {rfc3339(counts.expires_at)}" if counts.expires_at else ""
    return Rung(
        step=MCPTraceStep(
            rule=rule,
            target=at,
            matched=True,
            mode=counts.mode,
            why=clipped(f"{_SAID[counts.mode]}{until} for {named(at)}.", 240),
        ),
        code=f"{rule}_{counts.mode.value}",
        decision=counts,
        inherited_from=inherited(at, asked),
    )


def from_default(facts: CallFacts, *, nobody_decided: bool) -> Rung:
    """The default for such a call; it counts where nobody decided."""
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
        matched=nobody_decided,
        mode=rule.mode,
        why=rule.why if nobody_decided else "Somebody has decided, so the default does not count.",
    )
    return Rung(step=step, code=rule.code, decision=rule.decision, inherited_from=MCPInheritedFrom.GLOBAL)


def from_runtime(facts: CallFacts, policies: Sequence[MCPProviderPolicy]) -> tuple[Rung, Rung]:
    """What the lists of the runtime's provider say, and what its being from outside does."""
    runtime = provider_of(facts.runtime)
    lists = from_lists(runtime, facts.server_id, facts.tool_name, policies)
    care = from_confidentiality(runtime, facts.server_id, facts.tool_name, facts.data_classes, policies)
    return _found("runtime_lists", lists), _found("runtime_confidential", care)


def _found(rule: str, finding: RuntimeFinding) -> Rung:
    return _rung(rule, finding.code, finding.mode, finding.why, level=MCPInheritedFrom.GLOBAL)


def from_grants(facts: CallFacts, grants: Sequence[MCPGrant], now: datetime, *, asked: bool) -> Rung:
    """The standing approval that lets pass what would be ``asked`` about."""
    if not asked:
        return _rung("grant", "grant", None, "Nobody would be asked, so no standing approval is needed.")
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
        return _rung("grant", "grant", None, "No standing approval covers this call.")
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
    return Rung(step=step, code=f"granted_{found.scope.value}", decision=decision, grant=found)


def _rung(
    rule: str,
    code: str,
    mode: MCPPolicyMode | None,
    why: str,
    *,
    target: MCPPolicyTarget | None = None,
    level: MCPInheritedFrom = MCPInheritedFrom.NONE,
) -> Rung:
    step = MCPTraceStep(rule=rule, target=target, matched=mode is not None, mode=mode, why=clipped(why, 240))
    return Rung(step=step, code=code, inherited_from=level)


def _order(decision: MCPPolicyDecision) -> tuple[int, str, str, str]:
    """The strictest first, then the newest: so the order in which decisions are given never counts."""
    until = rfc3339(decision.expires_at) if decision.expires_at else "~"
    return STRICTNESS[decision.mode], rfc3339(decision.updated_at), until, decision.reason_code or ""
