"""The precedence of policy, rule by rule."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import GrantScope, MCPGrant
from contracts.mcp.policy import (
    MCPGlobalTarget,
    MCPInheritedFrom,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPProviderPolicy,
    MCPProviderTarget,
    MCPRuntimeProvider,
    MCPServerTarget,
    MCPStandingDecision,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider
from contracts.mcp.tools import MCPToolState
from domain.mcp.policy import effective_of, judge
from domain.mcp.policy_facts import CallFacts, Policies, grant_expiry, may_be_granted, provider_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ON, OFF, ASK = MCPPolicyMode.ENABLED, MCPPolicyMode.DISABLED, MCPPolicyMode.ASK_FIRST
AGENT = "00000000-0000-4000-8000-00000000000a"
TOOL = MCPToolTarget(server_id="mail", tool_name="send_mail")
SERVER = MCPServerTarget(server_id="mail")
PROVIDER = MCPProviderTarget(provider=MCPProvider.CUSTOM_REMOTE)
EVERYTHING = MCPGlobalTarget()
SENDING = CallFacts(
    owner="ada",
    server_id="mail",
    provider=MCPProvider.CUSTOM_REMOTE,
    tool_name="send_mail",
    effect=ToolEffect.SEND,
    definition_hash="a" * 64,
    runtime="openclaw",
    turn_ref="turn-1",
    session_ref="session-1",
    token_id=AGENT,
)
READING = replace(SENDING, effect=ToolEffect.READ, tool_name="list_mail")


def said(mode: MCPPolicyMode, until: datetime | None = None) -> MCPPolicyDecision:
    return MCPPolicyDecision(
        mode=mode, expires_at=until, updated_by=MCPPolicyAuthor.USER, updated_at=NOW - timedelta(days=1)
    )


def policy(
    *decided: tuple[MCPPolicyTarget, MCPPolicyMode], runtime: MCPProviderPolicy | None = None
) -> Policies:
    return Policies(
        decisions=tuple(MCPStandingDecision(target=target, decision=said(mode)) for target, mode in decided),
        runtimes=(runtime,) if runtime else (),
        version=4,
    )


def lists(provider: MCPRuntimeProvider = MCPRuntimeProvider.OPENAI, **fields: object) -> MCPProviderPolicy:
    return MCPProviderPolicy.model_validate({"provider": provider, **fields})


def grant(scope: GrantScope = GrantScope.END_OF_TURN, **changes: object) -> MCPGrant:
    fresh = MCPGrant(
        grant_id="00000000-0000-4000-8000-000000000002",
        owner_user_id="ada",
        dispatch_id="00000000-0000-4000-8000-000000000001",
        server_id="mail",
        tool_name="send_mail",
        tool_definition_hash="a" * 64,
        token_id=AGENT,
        runtime="openclaw",
        scope=scope,
        scope_ref="turn-1" if scope is GrantScope.END_OF_TURN else "session-1",
        granted_by="ada",
        created_at=NOW - timedelta(minutes=1),
        expires_at=NOW + timedelta(minutes=5),
    )
    return fresh.changed(**changes)


@pytest.mark.parametrize("effect", ToolEffect)
def test_reads_are_allowed_and_everything_else_asks_first_by_default(effect: ToolEffect) -> None:
    verdict = judge(replace(SENDING, effect=effect), Policies(), [], NOW)
    assert verdict.mode is (ON if effect is ToolEffect.READ else ASK)
    assert verdict.effective.decision.updated_by is MCPPolicyAuthor.SYSTEM
    assert verdict.effective.inherited_from is MCPInheritedFrom.GLOBAL


@pytest.mark.parametrize(
    ("decided", "mode", "from_level"),
    [
        ([(EVERYTHING, ON)], ON, "global"),
        ([(EVERYTHING, ON), (PROVIDER, ASK)], ASK, "provider"),
        ([(EVERYTHING, ASK), (PROVIDER, ASK), (SERVER, ON)], ON, "server"),
        ([(SERVER, ON), (TOOL, ASK)], ASK, "none"),
        ([(SERVER, ASK), (TOOL, ON)], ON, "none"),
        ([(SERVER, OFF), (TOOL, ON)], OFF, "server"),
        ([(EVERYTHING, OFF), (PROVIDER, ON), (SERVER, ON), (TOOL, ON)], OFF, "global"),
        ([(TOOL, OFF), (EVERYTHING, ON)], OFF, "none"),
    ],
)
def test_a_denial_wins_and_then_the_most_specific_decision(
    decided: list[tuple[MCPPolicyTarget, MCPPolicyMode]], mode: MCPPolicyMode, from_level: str
) -> None:
    verdict = judge(SENDING, policy(*decided), [], NOW)
    assert (verdict.mode, verdict.effective.inherited_from.value) == (mode, from_level)
    assert (
        effective_of(TOOL, policy(*decided), NOW, provider=SENDING.provider, effect=ToolEffect.SEND)
        == verdict.effective
    )


def test_a_decision_counts_until_it_expires_and_the_trace_says_that_it_has() -> None:
    until = Policies(decisions=(MCPStandingDecision(target=TOOL, decision=said(ON, NOW)),))
    assert judge(SENDING, until, [], NOW - timedelta(seconds=1)).mode is ON
    over = judge(SENDING, until, [], NOW)
    assert over.mode is ASK
    assert "expired" in next(step.why for step in over.trace if step.rule == "tool")


@pytest.mark.parametrize("state", [MCPToolState.ADDED, MCPToolState.CHANGED])
def test_a_tool_nobody_has_looked_at_falls_to_what_holds_for_its_server(state: MCPToolState) -> None:
    new = replace(SENDING, tool_state=state)
    assert judge(new, policy((TOOL, ON)), [], NOW).mode is ASK
    assert judge(new, policy((TOOL, ON), (SERVER, ON)), [], NOW).mode is ON
    assert judge(new, policy((TOOL, ASK), (SERVER, ON)), [], NOW).mode is ASK
    assert judge(new, policy((TOOL, OFF), (SERVER, ON)), [], NOW).mode is OFF


def test_reading_with_a_tool_that_changed_asks_first_and_with_a_new_one_does_not() -> None:
    assert judge(replace(READING, tool_state=MCPToolState.CHANGED), Policies(), [], NOW).mode is ASK
    assert judge(replace(READING, tool_state=MCPToolState.ADDED), Policies(), [], NOW).mode is ON


def test_a_tool_that_is_gone_or_a_server_that_is_off_is_called_by_nobody() -> None:
    everything = policy((TOOL, ON), (SERVER, ON))
    assert judge(replace(SENDING, tool_state=MCPToolState.REMOVED), everything, [], NOW).mode is OFF
    off = judge(replace(SENDING, server_enabled=False), everything, [grant()], NOW)
    assert (off.mode, off.reason_code) == (OFF, "server_switched_off")


def test_a_grant_covers_its_tool_its_definition_and_its_turn_alone() -> None:
    passed = judge(SENDING, Policies(), [grant()], NOW)
    assert (passed.mode, passed.grant_id) == (ON, grant().grant_id)
    assert passed.effective.target.target_kind == "temporary_grant"
    for other in (
        replace(SENDING, tool_name="delete_mail"),
        replace(SENDING, server_id="other"),
        replace(SENDING, owner="bob"),
        replace(SENDING, definition_hash="b" * 64),
        replace(SENDING, turn_ref="turn-2"),
        replace(SENDING, turn_ref=None),
        replace(SENDING, token_id="00000000-0000-4000-8000-00000000000b"),
        replace(SENDING, runtime="codex"),
        replace(SENDING, runtime=None),
    ):
        assert judge(other, Policies(), [grant()], NOW).mode is ASK
    assert judge(SENDING, Policies(), [grant(revoked_at=NOW)], NOW).mode is ASK
    assert judge(SENDING, Policies(), [grant(expires_at=NOW)], NOW).mode is ASK


def test_a_grant_passes_asking_first_that_was_decided_and_never_a_denial() -> None:
    assert judge(SENDING, policy((TOOL, ASK)), [grant()], NOW).mode is ON
    assert judge(SENDING, policy((PROVIDER, OFF)), [grant()], NOW).mode is OFF
    denied = lists(MCPRuntimeProvider.OPENCLAW, denied_tools=["send_mail"])
    assert judge(SENDING, policy(runtime=denied), [grant()], NOW).mode is OFF


def test_what_deletes_or_sends_is_not_approved_for_a_session() -> None:
    session = grant(GrantScope.SESSION)
    assert judge(replace(SENDING, effect=ToolEffect.UPDATE), Policies(), [session], NOW).mode is ON
    for effect in (ToolEffect.DELETE, ToolEffect.SEND):
        assert judge(replace(SENDING, effect=effect), Policies(), [session], NOW).mode is ASK
        assert not may_be_granted(effect, GrantScope.SESSION)
        assert may_be_granted(effect, GrantScope.END_OF_TURN)


def test_standing_approvals_end_by_themselves() -> None:
    half_an_hour = timedelta(minutes=30)
    assert grant_expiry(GrantScope.END_OF_TURN, NOW, half_an_hour) == NOW + half_an_hour
    assert grant_expiry(GrantScope.SESSION, NOW, half_an_hour) == NOW + timedelta(hours=12)


@pytest.mark.acceptance("9.18-5")
@pytest.mark.parametrize(
    "fields",
    [
        {"allow_mcp": False},
        {"denied_servers": ["mail"]},
        {"denied_tools": ["list_mail"]},
        {"denied_tools": ["mail/list_mail"]},
        {"allowed_servers": ["files"]},
        {"allowed_tools": ["files/list_mail"]},
    ],
)
def test_what_one_runtime_is_denied_the_others_may(fields: dict[str, object]) -> None:
    openai = policy((EVERYTHING, ON), runtime=lists(**fields))
    assert judge(replace(READING, runtime="openai_responses"), openai, [], NOW).mode is OFF
    for other in ("claude-code", "codex", "openclaw", None):
        assert judge(replace(READING, runtime=other), openai, [], NOW).mode is ON


def test_a_runtimes_lists_make_stricter_and_never_looser() -> None:
    from_openai = replace(READING, runtime="openai")
    asks = policy((TOOL, ON), (SERVER, ON), runtime=lists(ask_first_servers=["mail"]))
    assert judge(from_openai, asks, [], NOW).mode is ASK
    allows = policy((SERVER, ASK), runtime=lists(allowed_servers=["mail"]))
    assert judge(from_openai, allows, [], NOW).mode is ASK


def test_a_runtime_from_outside_asks_about_confidential_data_until_it_is_allowed_by_name() -> None:
    for secret in ({"data_class": "confidential"}, {"server_data_classes": ("Privileged",)}):
        from_openai = replace(READING, runtime="openai", **secret)
        asked = judge(from_openai, policy((SERVER, ON)), [], NOW)
        assert (asked.mode, asked.reason_code) == (ASK, "runtime_confidential")
        assert judge(replace(from_openai, runtime="openclaw"), Policies(), [], NOW).mode is ON
        allowed = policy((SERVER, ON), runtime=lists(allowed_servers=["mail"]))
        assert judge(from_openai, allowed, [], NOW).mode is ON


def test_confidential_data_of_microsoft_is_asked_about_by_default() -> None:
    of_m365 = replace(READING, provider=MCPProvider.M365)
    assert judge(of_m365, Policies(), [], NOW).mode is ON
    assert judge(replace(of_m365, data_class="confidential"), Policies(), [], NOW).mode is ASK


def test_the_local_files_server_is_off_and_the_admin_server_is_for_openclaw_until_somebody_decides() -> None:
    # As registrations make them: the name, and ten digits of chance.
    files = replace(READING, server_id="local-files-0a1b2c3d4e")
    assert judge(files, Policies(), [], NOW).mode is OFF
    assert judge(files, policy((MCPServerTarget(server_id=files.server_id), ON)), [], NOW).mode is ON
    other = replace(READING, server_id="local-files-of-bob-0a1b2c3d4e")
    assert judge(other, Policies(), [], NOW).mode is ON
    admin = replace(READING, server_id="elnor-admin-health-0a1b2c3d4e")
    assert judge(admin, Policies(), [], NOW).mode is ON
    assert judge(replace(admin, runtime="codex"), Policies(), [], NOW).mode is OFF


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai_responses", "openai"),
        ("ChatGPT", "openai"),
        ("claude", "anthropic"),
        ("anthropic_messages", "anthropic"),
        ("codex", "codex"),
        ("openclaw_worker", "openclaw"),
        ("perplexity", "other"),
        ("", "other"),
        (None, "other"),
    ],
)
def test_a_runtime_is_known_by_the_beginning_of_its_name(name: str | None, provider: str) -> None:
    assert provider_of(name).value == provider
