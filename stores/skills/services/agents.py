"""Agents: made by people, changed atomically with optimistic locking, each change in the audit log.

CH-40…CH-47, O-11, O-15, X-26…X-28 of skill_rows.md. What an agent's wallet holds is the ledger's: it is read with the
agent, and setting it is a booking in the same transaction.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, delete
from uuid_utils import uuid7

from contracts.base import Contract, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.platform.commands import CommitKey
from contracts.skills.agents import (
    AgentProfile,
    AgentRecord,
    AgentStateRequest,
    CreateAgentRequest,
    StateUpdates,
)
from domain.skills.agent_states import transition_problem
from stores.platform.answers import answered
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database, PageCounts, PageRequest
from stores.platform.journal.journal import JournalEntries, append
from stores.skills.invocation_rows import AUDIT
from stores.skills.services.ledger import LedgerRefused, book_balance, find_wallet
from stores.skills.skill_tables import AGENTS, agents, skill_results

SHOWS_AGENTS = "get-agent-profile"
"""The skill whose kept answers a change makes wrong (X-26)."""


class AgentRefused(Exception):
    """A change that was refused, with a code of the documents; nothing was changed."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class AgentState(Contract):
    """An agent after a change."""

    profile: AgentProfile


class Agents:
    """All agents. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self, request: CreateAgentRequest, owner: str, correlation_id: str, now: datetime
    ) -> AgentProfile:
        """Makes an agent.

        Raises:
            Refusal: ``NOT_FOUND`` where the owner has no such wallet.
        """
        with self._database.write() as connection:
            address = request.wallet_address.lower() if request.wallet_address is not None else None
            if address is not None:
                wallet = find_wallet(connection, address)
                if wallet is None or wallet.owner_user_id != owner:
                    raise Refusal(
                        ErrorCode.NOT_FOUND,
                        "The owner has no wallet with this address; `apprentice wallets create` makes one.",
                    )
            record = AgentRecord(
                agent_id=str(uuid7()),
                owner_user_id=owner,
                name=request.name,
                capabilities=request.capabilities,
                wallet_address=address,
                created_at=now,
                updated_at=now,
            )
            AGENTS.add(connection, record)
            _audit(connection, record, correlation_id, now, "agent_created", {"name": record.name})
            return _profile(connection, record)

    def list_all(self, wanted: PageRequest) -> tuple[tuple[AgentProfile, ...], PageCounts]:
        """Agents of all owners, newest first."""
        order = (agents.c.created_at.desc(), agents.c.agent_id.desc())
        with self._database.read() as connection:
            page = AGENTS.page(connection, wanted, order_by=order)
            return tuple(_profile(connection, one) for one in page.documents), page.counts

    def profile(self, agent_id: str, owner: str) -> AgentProfile | None:
        """An agent of this owner as it stands."""
        with self._database.read() as connection:
            found = AGENTS.find(connection, agent_id, owner=owner)
            return _profile(connection, found) if found is not None else None

    def update(
        self, request: AgentStateRequest, owner: str, key: str, correlation_id: str, now: datetime
    ) -> AgentProfile:
        """Changes an agent's state, once under its key: the same request again gets the first answer.

        Raises:
            AgentRefused: ``AGENT_NOT_FOUND``, ``CONCURRENCY_ERROR`` with ``current_version``,
                ``INVALID_STATE_TRANSITION``, ``INVALID_INPUT``.
        """
        commit = CommitKey(
            owner_user_id=owner, key=f"agent-state/{key}", request_digest=digest_of(canonical_json(request))
        )

        def act(connection: Connection) -> AgentState:
            return AgentState(profile=_update(connection, request, owner, key, correlation_id, now))

        return answered(self._database, commit, AgentState, act).profile


def _update(
    connection: Connection,
    request: AgentStateRequest,
    owner: str,
    key: str,
    correlation_id: str,
    now: datetime,
) -> AgentProfile:
    before = AGENTS.find(connection, request.agent_id, owner=owner, lock=True)
    if before is None:
        raise AgentRefused("AGENT_NOT_FOUND", "There is no such agent of yours.")
    if request.expected_version not in (None, before.version):
        raise AgentRefused(
            "CONCURRENCY_ERROR",
            f"The agent is at version {before.version} meanwhile; read it again.",
            current_version=before.version,
        )
    updates = request.state_updates
    fields = _changes(before, updates)
    after = before.changed(**fields, version=before.version + 1, updated_at=now)
    if updates.wallet_balance is not None:
        _set_balance(connection, before, updates.wallet_balance, key, updates.reason, correlation_id, now)
    AGENTS.put(connection, after)
    connection.execute(
        delete(skill_results).where(skill_results.c.owner == owner, skill_results.c.skill == SHOWS_AGENTS)
    )
    shown = updates.model_dump(mode="json", exclude_none=True)
    facts = {"changes": shown, "from_status": before.status.value, "version": after.version}
    _audit(connection, after, correlation_id, now, "agent_state_changed", facts)
    return _profile(connection, after)


def _changes(before: AgentRecord, updates: StateUpdates) -> dict[str, Any]:
    names = ("status", "pending_tasks", "last_execution")
    fields = {name: value for name in names if (value := getattr(updates, name)) is not None}
    if not fields and updates.wallet_balance is None:
        raise AgentRefused("INVALID_INPUT", "state_updates: names nothing to change.")
    if updates.status is not None:
        problem = transition_problem(before.status, updates.status, updates.reason)
        if problem is not None:
            raise AgentRefused("INVALID_STATE_TRANSITION", problem)
    return fields


def _set_balance(
    connection: Connection,
    agent: AgentRecord,
    balance: Decimal,
    key: str,
    reason: str | None,
    correlation_id: str,
    now: datetime,
) -> None:
    """Has the agent's wallet hold ``balance``: a booking against the account of adjustments (X-27)."""
    if agent.wallet_address is None:
        raise AgentRefused("INVALID_INPUT", "state_updates.wallet_balance: the agent has no wallet.")
    description = reason or f"set by update_agent_state of {agent.agent_id}"
    try:
        book_balance(
            connection,
            agent.wallet_address,
            agent.owner_user_id,
            balance,
            f"adjust/{key}",
            description[:200],
            correlation_id,
            now,
        )
    except LedgerRefused as refused:
        raise AgentRefused(refused.code, f"state_updates.wallet_balance: {refused.message}") from None


def _profile(connection: Connection, record: AgentRecord) -> AgentProfile:
    wallet = find_wallet(connection, record.wallet_address) if record.wallet_address is not None else None
    names = AgentProfile.model_fields.keys() & AgentRecord.model_fields.keys()
    return AgentProfile(
        **{name: getattr(record, name) for name in names},
        wallet_balance=wallet.balance if wallet is not None else Decimal(0),
    )


def _audit(
    connection: Connection,
    agent: AgentRecord,
    correlation_id: str,
    now: datetime,
    when: str,
    facts: dict[str, Any],
) -> None:
    entries = JournalEntries(f"agent/{agent.agent_id}", agent.owner_user_id, correlation_id, now)
    entries.add(AUDIT, {"when": when, "agent_id": agent.agent_id, "timestamp": rfc3339(now), **facts})
    append(connection, entries.drafts)
