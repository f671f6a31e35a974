"""Policy in the store: one number a change, whoever changes at once; standing approvals used up or taken back."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import GrantScope, MCPGrant
from contracts.mcp.policy import (
    MCPGlobalTarget,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyUpdateRequest,
    MCPPolicyWish,
    MCPProviderPolicy,
    MCPProviderTarget,
    MCPRuntimeProvider,
    MCPServerTarget,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider
from contracts.mcp.tools import MCPToolDefinition
from domain.mcp.policy import judge
from domain.mcp.policy_facts import CallFacts
from stores.mcp.mcp_tables import GRANTS
from stores.mcp.policy.grants import GrantStore, live_grants, use_grant
from stores.mcp.policy.policies import PolicyStore, policies_of
from stores.mcp.receipts import RECEIPTS
from stores.mcp.servers.tools import ToolStore
from stores.platform.database import Database, PageRequest
from stores.platform.journal.journal import read_stream
from stores.platform.tables import journal
from tests.stores.mcp.registrations import NOW, key, registered, told

ON, OFF, ASK = MCPPolicyMode.ENABLED, MCPPolicyMode.DISABLED, MCPPolicyMode.ASK_FIRST


def wish(target: MCPPolicyTarget, mode: MCPPolicyMode = OFF) -> MCPPolicyUpdateRequest:
    return MCPPolicyUpdateRequest(target=target, decision=MCPPolicyWish(mode=mode))


def granted(store: Database, **changes: object) -> MCPGrant:
    """A standing approval of alice's on record."""
    fresh = MCPGrant(
        grant_id=str(uuid4()),
        owner_user_id="alice",
        dispatch_id=str(uuid4()),
        server_id="tickets",
        tool_name="close_ticket",
        scope=GrantScope.END_OF_TURN,
        scope_ref="turn-1",
        granted_by="alice",
        created_at=NOW,
        expires_at=NOW + timedelta(minutes=30),
    ).changed(**changes)
    with store.write() as connection:
        GRANTS.add_if_absent(connection, fresh)
    return fresh


def receipts(store: Database, kind: str) -> int:
    with store.read() as connection:
        query = select(func.count()).where(
            journal.c.stream == RECEIPTS, journal.c.document.contains(f'"{kind}"')
        )
        return connection.scalar(query) or 0


def test_every_change_has_a_number_of_its_own_however_many_are_made_at_once(store: Database) -> None:
    policies = PolicyStore(store)

    def change(number: int) -> None:
        if number % 2:
            policies.update(wish(MCPGlobalTarget()), key(), told())
        else:
            lists = MCPProviderPolicy(provider=MCPRuntimeProvider.CODEX, allow_mcp=False)
            policies.replace_runtime(lists, key(), told())

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(change, range(12)))
    with store.read() as connection:
        known = policies_of(connection, "alice")
        assert policies_of(connection, "bob").version == 0
    assert known.version == 12
    assert len(known.decisions) == len(known.runtimes) == 1
    assert receipts(store, "policy_update") == 12
    with store.read() as connection:
        events = read_stream(connection, "system/mcp/capability_events")
    assert [entry.document["event"] for entry in events] == ["mcp.policy.changed"] * 12


def test_the_same_key_decides_once_and_stands_for_one_decision(store: Database) -> None:
    policies, once = PolicyStore(store), key("mine")
    first = policies.update(wish(MCPGlobalTarget()), once, told())
    assert policies.update(wish(MCPGlobalTarget()), once, told()) == first
    with pytest.raises(Refusal) as refused:
        policies.update(wish(MCPGlobalTarget(), ON), key("mine", body="another"), told())
    assert refused.value.code is ErrorCode.IDEMPOTENCY_KEY_REUSED
    assert policies.list_for("alice", PageRequest()).policy_version == 1


def test_a_refused_decision_keeps_nothing(sqlite_store: Database) -> None:
    policies = PolicyStore(sqlite_store)
    server = registered(sqlite_store, "bob")
    for target, code in (
        (MCPServerTarget(server_id=server.server_id), ErrorCode.MCP_SERVER_NOT_FOUND),
        (MCPServerTarget(server_id="elnor-knowledge"), ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD),
        (MCPTemporaryGrantTarget(dispatch_id=str(uuid4())), ErrorCode.MCP_GRANT_NOT_FOUND),
    ):
        with pytest.raises(Refusal) as refused:
            policies.update(wish(target), key("same"), told())
        assert refused.value.code is code
    assert policies.list_for("alice", PageRequest()).policy_version == 0
    assert receipts(sqlite_store, "policy_update") == 0
    # Nor does the key stand for anything.
    policies.update(wish(MCPGlobalTarget()), key("same"), told())


def test_a_tool_that_is_announced_can_be_denied_before_it_is_discovered(sqlite_store: Database) -> None:
    policies = PolicyStore(sqlite_store)
    server = registered(sqlite_store, supported_tools=["close_ticket"])
    target = MCPToolTarget(server_id=server.server_id, tool_name="close_ticket")
    assert policies.effective("alice", target, NOW).decision.mode is ASK
    assert policies.update(wish(target), key(), told()).decision.mode is OFF


def test_what_holds_for_a_target_is_what_holds_above_it(sqlite_store: Database) -> None:
    policies = PolicyStore(sqlite_store)
    server = registered(sqlite_store)
    at_server = MCPServerTarget(server_id=server.server_id)
    assert policies.effective("alice", at_server, NOW).decision.mode is ON
    policies.update(wish(MCPProviderTarget(provider=MCPProvider.CUSTOM_REMOTE), ASK), key(), told())
    found = policies.effective("alice", at_server, NOW)
    assert (found.decision.mode, found.inherited_from.value) == (ASK, "provider")
    assert found.target == at_server


def test_disabling_what_an_approval_allowed_takes_it_back(sqlite_store: Database) -> None:
    grant = granted(sqlite_store)
    target = MCPTemporaryGrantTarget(dispatch_id=grant.dispatch_id)
    held = PolicyStore(sqlite_store).update(wish(target), key(), told())
    assert (held.target, held.decision.mode) == (target, OFF)
    (gone,) = GrantStore(sqlite_store).list_for("alice", NOW, include_past=True).grants
    assert (gone.revoked_by, gone.revoked_at) == ("alice", NOW)
    assert receipts(sqlite_store, "grant_revoke") == 1


def test_grants_are_live_until_they_expire_and_are_their_owners(store: Database) -> None:
    grant = granted(store)
    granted(store, tool_name="other")
    granted(store, expires_at=NOW)
    with store.read() as connection:
        assert live_grants(connection, "alice", "tickets", "close_ticket", NOW) == (grant,)
        assert live_grants(connection, "bob", "tickets", "close_ticket", NOW) == ()
        assert live_grants(connection, "alice", "tickets", "close_ticket", grant.expires_at) == ()
    grants = GrantStore(store)
    assert len(grants.list_for("alice", NOW).grants) == 2
    assert len(grants.list_for("alice", NOW, include_past=True).grants) == 3
    of_bob = key().changed(owner_user_id="bob")
    with pytest.raises(Refusal) as refused:
        grants.revoke(grant.grant_id, of_bob, told(owner="bob"))
    assert refused.value.code is ErrorCode.MCP_GRANT_NOT_FOUND


def test_a_grant_that_is_used_and_taken_back_at_once_is_used_before_or_not_at_all(store: Database) -> None:
    grants = GrantStore(store)
    for _ in range(5):
        grant = granted(store)

        def use(_: int, grant_id: str = grant.grant_id) -> bool:
            with store.write() as connection:
                return use_grant(connection, grant_id, "alice", NOW)

        with ThreadPoolExecutor(6) as pool:
            uses = [pool.submit(use, number) for number in range(6)]
            gone = pool.submit(grants.revoke, grant.grant_id, key(), told())
        used = sum(one.result() for one in uses)
        # What the revocation saw is what there was: nobody used it afterwards.
        assert gone.result().used == used
        assert not use(0)
    assert receipts(store, "grant_revoke") == 5


def test_a_grant_is_used_neither_by_another_nor_when_it_is_over(store: Database) -> None:
    grant = granted(store)
    with store.write() as connection:
        assert not use_grant(connection, grant.grant_id, "bob", NOW)
        assert not use_grant(connection, grant.grant_id, "alice", grant.expires_at)
        assert not use_grant(connection, str(uuid4()), "alice", NOW)
        assert use_grant(connection, grant.grant_id, "alice", NOW)


def test_who_takes_a_grant_back_second_learns_who_was_first(store: Database) -> None:
    grants, grant = GrantStore(store), granted(store)
    first = grants.revoke(grant.grant_id, key(), told())
    later = replace(told(), at=NOW + timedelta(minutes=1), actor="somebody")
    assert grants.revoke(grant.grant_id, key(), later) == first
    assert receipts(store, "grant_revoke") == 1


def test_what_reaches_a_tool_is_all_of_the_policy_that_judging_its_calls_needs(store: Database) -> None:
    server, other = registered(store, supported_tools=["a", "b"]), registered(store, supported_tools=["a"])
    policies = PolicyStore(store)
    targets: list[MCPPolicyTarget] = [
        MCPGlobalTarget(),
        MCPProviderTarget(provider=MCPProvider.CUSTOM_REMOTE),
        *(MCPServerTarget(server_id=one.server_id) for one in (server, other)),
        *(MCPToolTarget(server_id=server.server_id, tool_name=name) for name in ("a", "b")),
        MCPToolTarget(server_id=other.server_id, tool_name="a"),
    ]
    for target in targets:
        policies.update(wish(target, ASK), key(), told())
    lists = MCPProviderPolicy(provider=MCPRuntimeProvider.OPENAI, allow_mcp=False)
    policies.replace_runtime(lists, key(), told())
    tool = targets[4]
    assert isinstance(tool, MCPToolTarget)
    with store.read() as connection:
        everything = policies_of(connection, "alice")
        reaching = policies_of(connection, "alice", reaching=tool)
    assert (reaching.version, reaching.runtimes) == (8, everything.runtimes)
    assert {one.target.target_kind for one in reaching.decisions} == {"global", "provider", "server", "tool"}
    assert len(reaching.decisions) == 4
    facts = CallFacts(
        owner="alice",
        server_id=server.server_id,
        provider=MCPProvider.CUSTOM_REMOTE,
        tool_name="a",
        effect=ToolEffect.SEND,
    )
    assert judge(facts, reaching, [], NOW) == judge(facts, everything, [], NOW)


def test_a_decision_about_a_tool_that_is_not_there_holds_and_says_so(store: Database) -> None:
    server_id = registered(store).server_id
    policies = PolicyStore(store)
    held = policies.update(wish(MCPToolTarget(server_id=server_id, tool_name="sned")), key(), told("policy"))
    assert (held.decision.mode, held.note) == (
        OFF,
        "No tool of that name is known there now; it holds if one comes.",
    )
    of_server = policies.update(wish(MCPServerTarget(server_id=server_id)), key(), told("policy"))
    assert of_server.note is None


def test_a_list_that_names_a_tool_that_is_not_there_holds_and_says_so(store: Database) -> None:
    server_id = registered(store).server_id
    tools = (MCPToolDefinition(tool_name="send"),)
    ToolStore(store).take_in(server_id, "alice", tools, NOW, "discovery")
    lists = MCPProviderPolicy(
        provider=MCPRuntimeProvider.CODEX, denied_tools=("send", f"{server_id}/send", "sned")
    )
    replaced = PolicyStore(store).replace_runtime(lists, key(), told("policy"))
    assert replaced.note == "No tool of that name is known now: sned. It holds if one comes."
