"""Evaluates stored calls again: pending ones after a policy change, recent ones under a proposed policy."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import clipped, rfc3339
from contracts.errors import Refusal
from contracts.mcp.dispatch import DispatchStatus, MCPGrant
from contracts.mcp.dispatch_work import DispatchRecord
from contracts.mcp.policy import (
    MCPPolicyFlip,
    MCPPolicyMode,
    MCPPolicyPreviewRequest,
    MCPPolicyPreviewResponse,
    MCPPolicyVerdict,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from domain.mcp.policy import judge
from domain.mcp.policy_facts import CallFacts, Policies
from stores.mcp.mcp_tables import DISPATCHES, GRANTS, mcp_dispatches
from stores.mcp.policy.grants import live_grants
from stores.mcp.policy.policies import decision_of, policies_of
from stores.mcp.policy.policy_rows import must_end_grant, named_by
from stores.mcp.servers.server_rows import server_of
from stores.mcp.servers.tool_discovery import tool_of
from stores.platform.database import Database


class _Registry:
    """Caches the servers and tools that calls name."""

    def __init__(self, connection: Connection, owner: str) -> None:
        self._connection = connection
        self._owner = owner
        self._servers: dict[str, MCPServerRegistryEntry | None] = {}
        self._tools: dict[tuple[str, str], MCPTool | None] = {}

    def facts_of(self, record: DispatchRecord) -> CallFacts | None:
        """The call's facts as they were when it was judged; none where it never came to that."""
        order = record.order
        if record.verdict is None or record.provider is None or record.effect is None:
            return None
        server, tool = self._server(order.server_id), self._tool(order.server_id, order.tool_name)
        is_the_same = tool is not None and tool.definition_hash == record.definition_hash
        return CallFacts(
            owner=record.owner,
            server_id=order.server_id,
            provider=record.provider,
            tool_name=order.tool_name,
            effect=record.effect,
            tool_state=tool.state if tool is not None and is_the_same else MCPToolState.PINNED,
            definition_hash=record.definition_hash,
            runtime=order.caller.runtime,
            data_class=order.data_class,
            turn_ref=order.caller.turn_ref,
            session_ref=order.caller.session_ref,
            token_id=order.caller.token_id,
            server_data_classes=server.data_classes if server else (),
        )

    def _server(self, server_id: str) -> MCPServerRegistryEntry | None:
        if server_id not in self._servers:
            try:
                self._servers[server_id] = server_of(self._connection, server_id, self._owner)
            except Refusal:
                self._servers[server_id] = None
        return self._servers[server_id]

    def _tool(self, server_id: str, tool_name: str) -> MCPTool | None:
        key = (server_id, tool_name)
        if key not in self._tools:
            self._tools[key] = tool_of(self._connection, server_id, tool_name)
        return self._tools[key]


def decided_otherwise(connection: Connection, owner: str, now: datetime) -> tuple[str, ...]:
    """The calls of an owner that wait for a person and would not be asked about any more, the oldest first."""
    waiting = DISPATCHES.all(
        connection,
        mcp_dispatches.c.owner == owner,
        mcp_dispatches.c.status == DispatchStatus.PENDING_APPROVAL.value,
        mcp_dispatches.c.expires_at > rfc3339(now),
        order_by=(mcp_dispatches.c.created_at, mcp_dispatches.c.dispatch_id),
    )
    policies, registry = policies_of(connection, owner), _Registry(connection, owner)
    grants: dict[tuple[str, str], tuple[MCPGrant, ...]] = {}
    found: list[str] = []
    for record in waiting:
        facts = registry.facts_of(record)
        if facts is None:
            continue
        tool = (facts.server_id, facts.tool_name)
        if tool not in grants:
            grants[tool] = live_grants(connection, owner, *tool, now)
        if judge(facts, policies, grants[tool], now).mode is not MCPPolicyMode.ASK_FIRST:
            found.append(record.dispatch_id)
    return tuple(found)


@dataclass(frozen=True)
class _Proposal:
    """Current and proposed policy, the dispatch whose grant would be revoked, the tool that would be pinned."""

    now: Policies
    then: Policies
    ended: str | None = None
    allowed: tuple[str, str] | None = None


class PolicyReplay:
    """Judges kept calls again; changes nothing. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self, owner: str, now: datetime) -> tuple[str, ...]:
        """As ``decided_otherwise``."""
        with self._database.read() as connection:
            return decided_otherwise(connection, owner, now)

    def preview(self, owner: str, asked: MCPPolicyPreviewRequest, now: datetime) -> MCPPolicyPreviewResponse:
        """Which of the owner's newest calls would go otherwise under the proposal than under policy as it is.

        A call keeps the standing approval that let it pass. What policy never judged is not replayed.

        Raises:
            Refusal: as ``stores.mcp.policy.policies.decide``.
        """
        flips: list[MCPPolicyFlip] = []
        replayed = 0
        with self._database.read() as connection:
            proposal = _proposal(connection, owner, asked, now)
            registry = _Registry(connection, owner)
            newest = DISPATCHES.all(
                connection,
                mcp_dispatches.c.owner == owner,
                order_by=(mcp_dispatches.c.created_at.desc(), mcp_dispatches.c.dispatch_id.desc()),
                limit=asked.newest,
            )
            for record in newest:
                facts = registry.facts_of(record)
                if facts is None:
                    continue
                replayed += 1
                flip = _flip(record, facts, proposal, _its_grants(connection, record.verdict, now), now)
                if flip is not None:
                    flips.append(flip)
        return MCPPolicyPreviewResponse(
            replayed=replayed, unchanged=replayed - len(flips), flips=tuple(flips)
        )


def _proposal(connection: Connection, owner: str, asked: MCPPolicyPreviewRequest, now: datetime) -> _Proposal:
    policies = policies_of(connection, owner)
    if asked.target is None or asked.decision is None:
        return _Proposal(policies, policies.with_lists(asked.runtimes) if asked.runtimes else policies)
    if isinstance(asked.target, MCPTemporaryGrantTarget):
        must_end_grant(connection, owner, asked.target, asked.decision)
        return _Proposal(policies, policies, ended=asked.target.dispatch_id)
    named_by(connection, owner, asked.target)
    proposed = policies.proposing(asked.target, decision_of(asked.decision, now))
    if isinstance(asked.target, MCPToolTarget) and asked.decision.mode is MCPPolicyMode.ENABLED:
        return _Proposal(policies, proposed, allowed=(asked.target.server_id, asked.target.tool_name))
    return _Proposal(policies, proposed)


def _its_grants(
    connection: Connection, verdict: MCPPolicyVerdict | None, now: datetime
) -> tuple[MCPGrant, ...]:
    if verdict is None or verdict.grant_id is None:
        return ()
    grant = GRANTS.find(connection, verdict.grant_id)
    if grant is None:
        return ()
    # It held when the call was made, whatever became of it since.
    as_it_was = {"revoked_at": None, "expires_at": now + timedelta(seconds=1)}
    return (grant.changed(**as_it_was),)


def _flip(
    record: DispatchRecord,
    facts: CallFacts,
    proposal: _Proposal,
    grants: tuple[MCPGrant, ...],
    now: datetime,
) -> MCPPolicyFlip | None:
    was = judge(facts, proposal.now, grants, now)
    left = tuple(grant for grant in grants if grant.dispatch_id != proposal.ended)
    if proposal.allowed == (facts.server_id, facts.tool_name) and facts.tool_state is MCPToolState.ADDED:
        facts = replace(facts, tool_state=MCPToolState.PINNED)
    then = judge(facts, proposal.then, left, now)
    if then.mode is was.mode:
        return None
    decisive = next(step for step in then.trace if step.decisive)
    return MCPPolicyFlip(
        dispatch_id=record.dispatch_id,
        server_id=facts.server_id,
        tool_name=facts.tool_name,
        happened_at=record.order.created_at,
        was=was.mode,
        would_be=then.mode,
        why=clipped(decisive.why, 500),
    )
