"""Servers as their cards show them: registry, health, sign-in, policy, abilities and the last receipt together.

Smoke tests: the receipt of one and its answer, kept under the key that it was asked with.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select

from contracts.mcp.auth import MCPAuthProfile, MCPServerAuthStatus
from contracts.mcp.health import (
    MCPConnectionHealth,
    MCPHealthStatus,
    MCPSmokeTestResponse,
    MCPSmokeTestStatus,
)
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPServerTarget,
)
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus, MCPReceiptSummary
from contracts.mcp.servers import MCPServerListItem, MCPServerRegistryEntry
from contracts.platform.commands import CommitKey
from domain.mcp.auth_status import auth_status
from domain.mcp.deferred_rows import DEFERRED_ROWS, DeferredRow
from domain.mcp.policy import effective_of
from domain.mcp.registration import available_actions, badge_states
from host.confined_program import confinement
from stores.mcp.auth.profiles import stored_profile
from stores.mcp.policy.policy_rows import policies_of
from stores.mcp.receipts import RECEIPTS, ReceiptContext, receipt
from stores.mcp.servers.health import health_of
from stores.mcp.servers.server_rows import linked_abilities
from stores.mcp.servers.tool_discovery import changed_tools
from stores.platform.answers import answered, kept_under
from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.platform.tables import commits, journal, journal_heads


def list_items(
    connection: Connection, entries: Sequence[MCPServerRegistryEntry], owner: str, now: datetime
) -> tuple[MCPServerListItem, ...]:
    """The owner's servers ``entries`` as cards, in their order."""
    policies = policies_of(connection, owner)
    linked = linked_abilities(connection, [entry.server_id for entry in entries], owner)
    receipts = _last_receipts(connection, [entry.server_id for entry in entries])
    changed = changed_tools(connection, [entry.server_id for entry in entries])
    confined, said = confinement()
    items: list[MCPServerListItem] = []
    for entry in entries:
        profile, auth = _sign_in(connection, entry, owner, now)
        health = health_of(connection, entry.server_id)
        policy = effective_of(
            MCPServerTarget(server_id=entry.server_id),
            policies,
            now,
            provider=entry.provider,
            data_classes=entry.data_classes,
        )
        items.append(
            MCPServerListItem(
                registry=entry,
                health=health,
                auth=auth,
                effective_policy=policy,
                badge_states=badge_states(entry, health, auth, policy),
                linked_abilities=linked.get(entry.server_id, ()),
                available_actions=available_actions(entry, profile, auth),
                last_receipt_id=receipts.get(entry.server_id),
                changed_tools=changed.get(entry.server_id, 0),
                confined=confined if entry.command is not None else None,
                confinement=said if entry.command is not None else None,
            )
        )
    return tuple(items)


def deferred_items() -> tuple[MCPServerListItem, ...]:
    """The rows of servers that are listed but not active in this build, with the reason as next action."""
    return tuple(_deferred_item(row) for row in DEFERRED_ROWS)


def _deferred_item(row: DeferredRow) -> MCPServerListItem:
    entry = row.entry
    health = MCPConnectionHealth(
        server_id=entry.server_id,
        health_status=MCPHealthStatus.DISABLED,
        health_reason_code="NOT_ACTIVE_IN_BUILD",
        interactive_capable=False,
        next_action=row.why,
    )
    policy = MCPEffectivePolicy(
        target=MCPServerTarget(server_id=entry.server_id),
        decision=MCPPolicyDecision(
            mode=MCPPolicyMode.DISABLED,
            reason_code="not_active_in_build",
            updated_by=MCPPolicyAuthor.SYSTEM,
            updated_at=entry.updated_at,
        ),
    )
    return MCPServerListItem(
        registry=entry,
        health=health,
        effective_policy=policy,
        badge_states=badge_states(entry, health, None, policy),
        available_actions=available_actions(entry, None, None),
        deferred_design_only=True,
        runtime_adapter=row.adapter,
    )


def _sign_in(
    connection: Connection, entry: MCPServerRegistryEntry, owner: str, now: datetime
) -> tuple[MCPAuthProfile | None, MCPServerAuthStatus | None]:
    if entry.auth_profile_id is None:
        return None, None
    stored = stored_profile(connection, entry.auth_profile_id, owner)
    endpoint = None if entry.endpoint_url is None else str(entry.endpoint_url)
    return stored.profile, auth_status(entry.server_id, stored.profile, stored.connection, now, endpoint)


def _last_receipts(connection: Connection, server_ids: Sequence[str]) -> dict[str, str]:
    of_servers = [f"mcp-server/{server_id}" for server_id in server_ids]
    query = (
        select(journal.c.document)
        .join(
            journal_heads,
            (journal_heads.c.aggregate == journal.c.aggregate)
            & (journal_heads.c.aggregate_seq == journal.c.aggregate_seq),
        )
        .where(
            journal.c.aggregate.in_(of_servers),
            # Said of both: PostgreSQL does not conclude the one from the other, and may walk all heads.
            journal_heads.c.aggregate.in_(of_servers),
            journal.c.stream == RECEIPTS,
        )
    )
    found = (MCPReceiptSummary.model_validate_json(document) for document in connection.scalars(query))
    return {one.server_id: one.receipt_id for one in found if one.server_id is not None}


_STATUSES = {
    MCPSmokeTestStatus.PASSED: MCPReceiptStatus.OK,
    MCPSmokeTestStatus.DEGRADED: MCPReceiptStatus.DEGRADED,
    MCPSmokeTestStatus.BLOCKED: MCPReceiptStatus.BLOCKED,
    MCPSmokeTestStatus.FAILED: MCPReceiptStatus.FAILED,
}


class SmokeTestStore:
    """What smoke tests found. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recall(self, key: CommitKey) -> MCPSmokeTestResponse | None:
        """What was answered under this key before.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            kept = kept_under(connection, key, commits.c.response)
        return None if kept is None else MCPSmokeTestResponse.model_validate_json(kept)

    def close(
        self, found: MCPSmokeTestResponse, key: CommitKey, context: ReceiptContext
    ) -> MCPSmokeTestResponse:
        """Writes the receipt of a smoke test and keeps its answer; under a known key, the first answer.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """

        def act(connection: Connection) -> MCPSmokeTestResponse:
            receipt_id, entry = receipt(
                context,
                MCPReceiptKind.SMOKE_TEST,
                _STATUSES[found.status],
                f"Smoke test {found.status.value}: {found.summary or 'no details'}",
                server_id=found.server_id,
            )
            append(connection, [entry])
            return found.changed(receipt_id=receipt_id)

        return answered(self._database, key, MCPSmokeTestResponse, act)
