"""Redaction preparation is asked about each time (DOC3 §0.2F "Behavior rules" 3)."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import GrantScope, MCPGrant
from contracts.mcp.policy import (
    MCPGlobalTarget,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPProviderTarget,
    MCPServerTarget,
    MCPStandingDecision,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider
from domain.mcp.policy import effective_of, judge
from domain.mcp.policy_facts import CallFacts, Policies

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOOL = MCPToolTarget(server_id="acrobat-1", tool_name="redaction_prep")
TARGETS: tuple[MCPPolicyTarget, ...] = (
    MCPGlobalTarget(),
    MCPProviderTarget(provider=MCPProvider.ACROBAT),
    MCPServerTarget(server_id="acrobat-1"),
    TOOL,
)
CALL = CallFacts(
    owner="ada",
    server_id="acrobat-1",
    provider=MCPProvider.ACROBAT,
    tool_name="redaction_prep",
    effect=ToolEffect.UPDATE,
    definition_hash="a" * 64,
    session_ref="session-1",
)
GRANT = MCPGrant(
    grant_id="00000000-0000-4000-8000-000000000002",
    owner_user_id="ada",
    dispatch_id="00000000-0000-4000-8000-000000000001",
    server_id="acrobat-1",
    tool_name="redaction_prep",
    tool_definition_hash="a" * 64,
    scope=GrantScope.SESSION,
    scope_ref="session-1",
    granted_by="ada",
    created_at=NOW,
    expires_at=NOW + timedelta(hours=1),
)


def deciding(target: MCPPolicyTarget, mode: MCPPolicyMode) -> Policies:
    decision = MCPPolicyDecision(mode=mode, updated_by=MCPPolicyAuthor.USER, updated_at=NOW)
    return Policies(decisions=(MCPStandingDecision(target=target, decision=decision),))


@pytest.mark.acceptance("acrobat_redaction_prep_ask_first")
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.target_kind)
def test_neither_a_decision_nor_a_standing_approval_lets_it_pass(target: MCPPolicyTarget) -> None:
    policies = deciding(target, MCPPolicyMode.ENABLED)
    verdict = judge(CALL, policies, [GRANT], NOW)
    assert (verdict.mode, verdict.reason_code) == (MCPPolicyMode.ASK_FIRST, "always_ask_first")
    (decisive,) = [step for step in verdict.trace if step.decisive]
    assert decisive.rule == "always_ask_first"
    shown = effective_of(TOOL, policies, NOW, provider=MCPProvider.ACROBAT)
    assert shown.decision.mode is MCPPolicyMode.ASK_FIRST


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.target_kind)
def test_a_denial_still_denies_it(target: MCPPolicyTarget) -> None:
    policies = deciding(target, MCPPolicyMode.DISABLED)
    assert judge(CALL, policies, [GRANT], NOW).mode is MCPPolicyMode.DISABLED
    shown = effective_of(TOOL, policies, NOW, provider=MCPProvider.ACROBAT)
    assert shown.decision.mode is MCPPolicyMode.DISABLED


def test_a_tool_of_the_same_name_elsewhere_is_judged_as_any_other() -> None:
    policies = deciding(MCPGlobalTarget(), MCPPolicyMode.ENABLED)
    other = CallFacts(
        owner="ada",
        server_id="mine",
        provider=MCPProvider.CUSTOM_REMOTE,
        tool_name="redaction_prep",
        effect=ToolEffect.UPDATE,
    )
    assert judge(other, policies, [], NOW).mode is MCPPolicyMode.ENABLED
