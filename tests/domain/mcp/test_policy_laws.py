"""Laws of the judgement: it always decides, denials only add up, order and what is over never count."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import GrantScope, MCPGrant
from contracts.mcp.policy import (
    MCPGlobalTarget,
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
from domain.mcp.policy_defaults import STRICTNESS
from domain.mcp.policy_facts import CallFacts, Policies

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(hours=1), NOW + timedelta(hours=1)
HASHES = ("a" * 64, "b" * 64)
SERVERS, TOOLS, REFS = ("mail", "files"), ("send", "read"), ("one", "two")
DISPATCH = "00000000-0000-4000-8000-000000000001"

targets: st.SearchStrategy[MCPPolicyTarget] = st.one_of(
    st.just(MCPGlobalTarget()),
    st.builds(MCPProviderTarget, provider=st.sampled_from(MCPProvider)),
    st.builds(MCPServerTarget, server_id=st.sampled_from(SERVERS)),
    st.builds(MCPToolTarget, server_id=st.sampled_from(SERVERS), tool_name=st.sampled_from(TOOLS)),
)


def decisions(
    modes: st.SearchStrategy[MCPPolicyMode], until: st.SearchStrategy[datetime | None]
) -> st.SearchStrategy[MCPStandingDecision]:
    decision = st.builds(
        MCPPolicyDecision,
        mode=modes,
        expires_at=until,
        updated_by=st.just(MCPPolicyAuthor.USER),
        updated_at=st.sampled_from([PAST, NOW]),
    )
    return st.builds(MCPStandingDecision, target=targets, decision=decision)


def grants(
    revoked: st.SearchStrategy[datetime | None], until: st.SearchStrategy[datetime]
) -> st.SearchStrategy[MCPGrant]:
    return st.builds(
        MCPGrant,
        grant_id=st.uuids(version=4).map(str),
        owner_user_id=st.sampled_from(["ada", "bob"]),
        dispatch_id=st.just(DISPATCH),
        server_id=st.sampled_from(SERVERS),
        tool_name=st.sampled_from(TOOLS),
        tool_definition_hash=st.sampled_from([None, *HASHES]),
        scope=st.sampled_from(GrantScope),
        scope_ref=st.sampled_from(REFS),
        runtime=st.sampled_from([None, "openclaw"]),
        granted_by=st.just("ada"),
        created_at=st.just(PAST),
        expires_at=until,
        revoked_at=revoked,
    )


names = st.lists(st.sampled_from([*SERVERS, *TOOLS, "mail/send"]), max_size=2).map(tuple)
runtimes = st.builds(
    MCPProviderPolicy,
    provider=st.sampled_from(MCPRuntimeProvider),
    allow_mcp=st.booleans(),
    allowed_servers=names,
    denied_servers=names,
    ask_first_servers=names,
    allowed_tools=names,
    denied_tools=names,
)
facts_ = st.builds(
    CallFacts,
    owner=st.just("ada"),
    server_id=st.sampled_from(SERVERS),
    provider=st.sampled_from(MCPProvider),
    tool_name=st.sampled_from(TOOLS),
    effect=st.sampled_from(ToolEffect),
    tool_state=st.sampled_from(MCPToolState),
    definition_hash=st.sampled_from([None, *HASHES]),
    runtime=st.sampled_from([None, "openclaw", "claude-code", "openai_responses", "codex", "perplexity"]),
    data_class=st.sampled_from([None, "internal", "Confidential", "privileged"]),
    turn_ref=st.sampled_from([None, *REFS]),
    session_ref=st.sampled_from([None, *REFS]),
    server_data_classes=st.sampled_from([(), ("confidential",)]),
    server_enabled=st.booleans(),
)
any_time = st.sampled_from([None, PAST, NOW, FUTURE])
any_decision = decisions(st.sampled_from(MCPPolicyMode), any_time)
any_grant = grants(any_time, st.sampled_from([PAST, NOW, FUTURE]))
policies_ = st.builds(
    Policies,
    decisions=st.lists(any_decision, max_size=6).map(tuple),
    runtimes=st.lists(runtimes, max_size=3).map(tuple),
    version=st.integers(0, 9),
)


@given(facts_, policies_, st.lists(any_grant, max_size=4))
def test_there_is_always_one_verdict_and_its_trace_says_why(
    facts: CallFacts, policies: Policies, given_grants: list[MCPGrant]
) -> None:
    verdict = judge(facts, policies, given_grants, NOW)
    (decisive,) = [step for step in verdict.trace if step.decisive]
    assert decisive.matched
    assert decisive.mode is verdict.mode is verdict.effective.decision.mode
    assert all(step.why for step in verdict.trace)
    assert [step.rule for step in verdict.trace] == [
        *("registry", "global", "provider", "server", "tool"),
        *("default", "runtime_lists", "runtime_confidential", "grant"),
    ]
    assert verdict.policy_version == policies.version
    assert (verdict.grant_id is not None) == (decisive.rule == "grant")


@given(
    facts_, policies_, st.lists(any_grant, max_size=4), decisions(st.just(MCPPolicyMode.DISABLED), any_time)
)
def test_one_more_denial_never_permits_more(
    facts: CallFacts, policies: Policies, given_grants: list[MCPGrant], denial: MCPStandingDecision
) -> None:
    before = judge(facts, policies, given_grants, NOW)
    denied = replace(policies, decisions=(*policies.decisions, denial))
    after = judge(facts, denied, given_grants, NOW)
    assert STRICTNESS[after.mode] >= STRICTNESS[before.mode]


@given(facts_, policies_, st.lists(any_grant, max_size=4), runtimes)
def test_one_more_list_of_a_runtime_that_allows_nothing_by_name_never_permits_more(
    facts: CallFacts, policies: Policies, given_grants: list[MCPGrant], lists: MCPProviderPolicy
) -> None:
    lists = lists.changed(allowed_servers=(), allowed_tools=())
    before = judge(facts, policies, given_grants, NOW)
    stricter = replace(policies, runtimes=(*policies.runtimes, lists))
    assert STRICTNESS[judge(facts, stricter, given_grants, NOW).mode] >= STRICTNESS[before.mode]


@given(facts_, policies_, st.lists(any_grant, max_size=4), st.data())
def test_the_order_of_what_is_known_never_counts(
    facts: CallFacts, policies: Policies, given_grants: list[MCPGrant], data: st.DataObject
) -> None:
    shuffled = replace(
        policies,
        decisions=tuple(data.draw(st.permutations(policies.decisions))),
        runtimes=tuple(data.draw(st.permutations(policies.runtimes))),
    )
    other_grants = data.draw(st.permutations(given_grants))
    assert judge(facts, policies, given_grants, NOW) == judge(facts, shuffled, other_grants, NOW)


@given(
    facts_,
    policies_,
    st.lists(any_grant, max_size=4),
    decisions(st.sampled_from(MCPPolicyMode), st.sampled_from([PAST, NOW])),
    st.one_of(grants(st.none(), st.sampled_from([PAST, NOW])), grants(st.just(PAST), st.just(FUTURE))),
)
def test_what_is_over_or_revoked_never_matters(
    facts: CallFacts,
    policies: Policies,
    given_grants: list[MCPGrant],
    over: MCPStandingDecision,
    gone: MCPGrant,
) -> None:
    before = judge(facts, policies, given_grants, NOW)
    with_what_is_over = replace(policies, decisions=(*policies.decisions, over))
    after = judge(facts, with_what_is_over, [*given_grants, gone], NOW)
    assert (after.mode, after.effective, after.grant_id) == (before.mode, before.effective, before.grant_id)


@given(facts_, policies_, st.lists(any_grant, max_size=4))
def test_a_grant_lets_pass_what_would_be_asked_about_and_nothing_that_is_denied(
    facts: CallFacts, policies: Policies, given_grants: list[MCPGrant]
) -> None:
    without = judge(facts, policies, [], NOW)
    verdict = judge(facts, policies, given_grants, NOW)
    if verdict.mode is not without.mode:
        assert (without.mode, verdict.mode) == (MCPPolicyMode.ASK_FIRST, MCPPolicyMode.ENABLED)
        (used,) = [grant for grant in given_grants if grant.grant_id == verdict.grant_id]
        assert (used.server_id, used.tool_name) == (facts.server_id, facts.tool_name)
        assert used.tool_definition_hash == facts.definition_hash


@given(facts_, policies_, st.lists(any_grant, max_size=4))
def test_allowing_no_tool_server_at_all_is_final(
    facts: CallFacts, policies: Policies, given_grants: list[MCPGrant]
) -> None:
    off = MCPPolicyDecision(mode=MCPPolicyMode.DISABLED, updated_by=MCPPolicyAuthor.USER, updated_at=NOW)
    verdict = judge(facts, policies.proposing(MCPGlobalTarget(), off), given_grants, NOW)
    assert verdict.mode is MCPPolicyMode.DISABLED


@given(facts_, policies_)
def test_what_holds_for_a_tool_is_what_a_call_by_the_own_runtime_gets(
    facts: CallFacts, policies: Policies
) -> None:
    own = replace(
        facts,
        runtime="openclaw",
        data_class=None,
        server_enabled=True,
        tool_state=MCPToolState.CHANGED if facts.tool_state is MCPToolState.REMOVED else facts.tool_state,
    )
    nobodys_lists = replace(policies, runtimes=())
    held = effective_of(
        MCPToolTarget(server_id=own.server_id, tool_name=own.tool_name),
        nobodys_lists,
        NOW,
        provider=own.provider,
        effect=own.effect,
        tool_state=own.tool_state,
        data_classes=own.server_data_classes,
    )
    assert judge(own, nobodys_lists, [], NOW).effective == held
