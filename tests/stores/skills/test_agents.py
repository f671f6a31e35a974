from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select

from contracts.errors import ErrorCode, Refusal
from contracts.skills.agents import AgentProfile, AgentStateRequest, AgentStatus, CreateAgentRequest
from contracts.skills.wallets import CreateWalletRequest, Currency
from stores.platform.database import Database
from stores.platform.journal.journal import JournalFilter, count_entries
from stores.skills.invocation_rows import AUDIT
from stores.skills.services.agents import AgentRefused, Agents
from stores.skills.services.ledger import Ledger
from stores.skills.skill_tables import ledger_postings

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
ADDRESS = "0x" + "ab" * 20


@pytest.fixture
def agents(store: Database) -> Agents:
    return Agents(store)


@pytest.fixture
def nora(store: Database, agents: Agents) -> AgentProfile:
    ledger = Ledger(store)
    ledger.create(CreateWalletRequest(wallet_address=ADDRESS, currency=Currency.USDC), "alice", "test", NOW)
    ledger.fund(ADDRESS, Decimal(20), "fund-1", "alice", "test", NOW)
    request = CreateAgentRequest(name="Nora", capabilities=("trends",), wallet_address=ADDRESS)
    return agents.create(request, "alice", "test", NOW)


def _asked(agent: AgentProfile, version: int | None = None, **updates: Any) -> AgentStateRequest:
    return AgentStateRequest.model_validate(
        {"agent_id": agent.agent_id, "state_updates": updates, "expected_version": version}
    )


def _update(agents: Agents, asked: AgentStateRequest, owner: str = "alice") -> AgentProfile:
    return agents.update(asked, owner, str(uuid4()), "test", NOW)


def _audited(store: Database, agent: AgentProfile) -> int:
    with store.read() as connection:
        return count_entries(connection, JournalFilter(streams=(AUDIT,), aggregate=f"agent/{agent.agent_id}"))


@pytest.mark.acceptance("CH-40")
@pytest.mark.acceptance("O-15")
def test_a_new_agent_is_active_and_shows_what_its_wallet_holds(agents: Agents, nora: AgentProfile) -> None:
    assert (nora.status, nora.version, nora.wallet_balance) == (AgentStatus.ACTIVE, 1, Decimal(20))
    assert agents.profile(nora.agent_id, "alice") == nora


@pytest.mark.acceptance("CH-42")
@pytest.mark.produces("update-agent-state", "AGENT_NOT_FOUND")
def test_somebody_elses_agent_is_not_found(agents: Agents, nora: AgentProfile) -> None:
    assert agents.profile(nora.agent_id, "bob") is None
    with pytest.raises(AgentRefused) as refused:
        _update(agents, _asked(nora, pending_tasks=1), "bob")
    assert refused.value.code == "AGENT_NOT_FOUND"


@pytest.mark.acceptance("CH-44", "CH-46")
def test_each_change_is_one_version_and_one_line_of_the_audit_log(
    store: Database, agents: Agents, nora: AgentProfile
) -> None:
    for number, pending in enumerate((3, 4, 5), start=2):
        assert _update(agents, _asked(nora, pending_tasks=pending)).version == number
    # The agent's own line is one more.
    assert _audited(store, nora) == 4


@pytest.mark.acceptance("CH-45")
def test_of_fifty_changes_of_one_version_at_once_one_is_made(
    store: Database, agents: Agents, nora: AgentProfile
) -> None:
    def one(number: int) -> str:
        try:
            return str(_update(agents, _asked(nora, 1, pending_tasks=number)).version)
        except AgentRefused as refused:
            return f"{refused.code} {refused.details['current_version']}"

    with ThreadPoolExecutor(20) as pool:
        came = list(pool.map(one, range(50)))
    assert sorted(came) == ["2"] + ["CONCURRENCY_ERROR 2"] * 49
    assert _audited(store, nora) == 2


@pytest.mark.acceptance("CH-46")
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"status": "error"}, "INVALID_STATE_TRANSITION"),
        ({"wallet_balance": "0.00000001"}, "INVALID_INPUT"),
    ],
)
def test_one_wrong_field_leaves_all_as_it_was(
    store: Database, agents: Agents, nora: AgentProfile, wrong: dict[str, Any], code: str
) -> None:
    updates: dict[str, Any] = {"pending_tasks": 7, "last_execution": NOW, "wallet_balance": "5", **wrong}
    with pytest.raises(AgentRefused) as refused:
        _update(agents, _asked(nora, **updates))
    assert refused.value.code == code
    assert agents.profile(nora.agent_id, "alice") == nora
    assert _audited(store, nora) == 1


@pytest.mark.acceptance("CH-43")
@pytest.mark.acceptance("X-27")
def test_a_balance_that_is_set_is_booked_twice_over_and_adds_up(
    store: Database, agents: Agents, nora: AgentProfile
) -> None:
    changed = _update(agents, _asked(nora, wallet_balance="12.5"))
    assert changed.wallet_balance == Decimal("12.5")
    with store.read() as connection:
        postings = connection.execute(select(ledger_postings.c.account, ledger_postings.c.amount)).all()
    assert ("external:adjusted", "7500000") in {tuple(one) for one in postings}
    assert sum(int(one.amount) for one in postings) == 0


def test_an_agent_without_a_wallet_has_no_balance_to_set(agents: Agents) -> None:
    poor = agents.create(CreateAgentRequest(name="Poor"), "alice", "test", NOW)
    assert poor.wallet_balance == 0
    with pytest.raises(AgentRefused, match="no wallet"):
        _update(agents, _asked(poor, wallet_balance=1))


@pytest.mark.acceptance("CH-43")
def test_updates_that_name_nothing_are_refused(agents: Agents, nora: AgentProfile) -> None:
    with pytest.raises(AgentRefused) as refused:
        _update(agents, _asked(nora, reason="none"))
    assert refused.value.code == "INVALID_INPUT"


@pytest.mark.acceptance("CH-01")
def test_the_same_change_under_one_key_is_made_once(agents: Agents, nora: AgentProfile) -> None:
    asked = _asked(nora, 1, pending_tasks=2)
    first = agents.update(asked, "alice", "k", "test", NOW)
    assert agents.update(asked, "alice", "k", "test", NOW) == first
    assert first.version == 2


def test_an_agent_is_given_only_a_wallet_of_its_owner(agents: Agents, nora: AgentProfile) -> None:
    with pytest.raises(Refusal) as refused:
        agents.create(CreateAgentRequest(name="Mallory", wallet_address=ADDRESS), "bob", "test", NOW)
    assert refused.value.code is ErrorCode.NOT_FOUND
