"""Agents that skills work for: created by people, changed by update_agent_state (CH-40…CH-47, O-1, O-11)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text80, Text120, Text240, UtcTime, Uuid, VersionedContract
from contracts.platform.commands import Command
from contracts.platform.lists import Page
from contracts.skills.wallets import Amount, WalletAddress

MAX_CAPABILITIES = 50


class AgentStatus(StrEnum):
    """What an agent does at the moment (002 L511)."""

    ACTIVE = "active"
    BUSY = "busy"
    PAUSED = "paused"
    ERROR = "error"


class AgentRecord(VersionedContract):
    """An agent as it is stored; ``version`` goes up by one with each change. Its balance is the ledger's."""

    agent_id: Uuid
    owner_user_id: Text120
    name: Text120
    status: AgentStatus = AgentStatus.ACTIVE
    capabilities: tuple[Text80, ...] = Field(default=(), max_length=MAX_CAPABILITIES)
    wallet_address: WalletAddress | None = None
    pending_tasks: int = Field(default=0, ge=0)
    last_execution: UtcTime | None = None
    version: int = Field(default=1, ge=1)
    public_key: Text120 | None = None
    created_at: UtcTime
    updated_at: UtcTime


class AgentProfile(VersionedContract):
    """An agent as it stands, with what its wallet holds; 0 without a wallet."""

    agent_id: Uuid
    name: Text120
    status: AgentStatus
    capabilities: tuple[Text80, ...] = ()
    wallet_address: WalletAddress | None = None
    wallet_balance: Amount
    pending_tasks: int
    last_execution: UtcTime | None = None
    version: int
    owner_user_id: Text120
    public_key: Text120 | None = None


class CreateAgentRequest(Command):
    """Makes an agent, with the status active."""

    name: Text120 = Field(min_length=1)
    owner_user_id: Text120 | None = None
    capabilities: tuple[Text80, ...] = Field(default=(), max_length=MAX_CAPABILITIES)
    wallet_address: WalletAddress | None = None


class AgentListResponse(Page):
    """Agents, newest first."""

    agents: tuple[AgentProfile, ...]


class StateUpdates(Contract):
    """What is to be changed: all of it, or nothing. ``reason`` is needed to and from the status error."""

    status: AgentStatus | None = None
    pending_tasks: int | None = Field(default=None, ge=0)
    last_execution: UtcTime | None = None
    wallet_balance: Amount | None = Field(default=None, ge=0)
    reason: Text240 | None = None


class AgentStateRequest(Contract):
    """A change of an agent's state; with ``expected_version``, only if that is its version still."""

    agent_id: Uuid
    state_updates: StateUpdates
    expected_version: int | None = None
