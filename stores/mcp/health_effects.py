"""What a change of a server's health leads to: its receipts, the files that show it, what capabilities make of it."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Connection, select

from contracts.base import rfc3339
from contracts.capabilities.outcome import CapabilityOutcome, OutcomeKind
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus, MCPThrottle
from contracts.mcp.provider import NEEDS_SIGN_IN
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.server_registry import MCPAbilityRelation
from domain.mcp.health import next_action
from stores.canonical import document_bytes
from stores.capability_health_effects import apply_outcome
from stores.documents import put_document
from stores.journal import JournalDraft
from stores.mcp.linked_abilities import linked_abilities
from stores.mcp.receipts import Told, receipt
from stores.mcp_tables import mcp_server_health, mcp_servers
from stores.tables import capabilities
from stores.turns import one_at_a_time

HEALTH_FILE = "system/mcp/health_current.json"
BACKOFF_FILE = "system/mcp/backoff_state_current.json"


def tell_change(
    connection: Connection, before: MCPConnectionHealth, now: MCPConnectionHealth, told: Told
) -> list[JournalDraft]:
    """Follows a contact: what it changed is told and shown; a contact that changed nothing costs nothing.

    A server that has become degraded counts as one failure of each capability that requires it.
    """
    entries = _receipts(before, now, told)
    if entries or before.backoff_until != now.backoff_until:
        project_health(connection)
    became_ill = now.health_status is MCPHealthStatus.DEGRADED
    if became_ill and before.health_status is not MCPHealthStatus.DEGRADED:
        entries += _capability_failures(connection, now, told)
    return entries


def project_health(connection: Connection) -> None:
    """Has the two files say how every server is now, and which are left alone until when."""
    one_at_a_time(connection, "mcp health")
    rows = connection.execute(
        select(mcp_servers.c.owner, mcp_servers.c.enabled, mcp_server_health.c.body)
        .join(mcp_server_health, mcp_server_health.c.server_id == mcp_servers.c.server_id)
        .where(mcp_servers.c.deleted_at.is_(None))
        .order_by(mcp_servers.c.owner, mcp_servers.c.server_id)
    )
    healths: list[dict[str, Any]] = []
    backoffs: list[dict[str, Any]] = []
    for row in rows:
        found = MCPConnectionHealth.model_validate_json(row.body)
        status = found.health_status if row.enabled else MCPHealthStatus.DISABLED
        whose = {"owner_user_id": row.owner, "server_id": found.server_id}
        shown = found.model_dump(
            mode="json",
            exclude_none=True,
            include={"health_reason_code", "failure_count_rolling", "auth_state", "schema_version"},
        )
        healths.append({**whose, **shown, "health_status": status.value})
        if found.backoff_until is not None:
            throttle = found.throttle_state.model_dump(mode="json", exclude_none=True)
            until = rfc3339(found.backoff_until)
            backoffs.append({**whose, "backoff_until": until, "throttle_state": throttle})
    put_document(connection, "memory", HEALTH_FILE, document_bytes(healths))
    put_document(connection, "memory", BACKOFF_FILE, document_bytes(backoffs))


def _capability_failures(
    connection: Connection, health: MCPConnectionHealth, told: Told
) -> list[JournalDraft]:
    linked = linked_abilities(connection, [health.server_id], told.owner)[health.server_id]
    requiring = [one.ability_id for one in linked if one.relation is MCPAbilityRelation.PRIMARY]
    query = select(capabilities.c.capability_id).where(capabilities.c.ability_id.in_(requiring))
    entries: list[JournalDraft] = []
    for capability_id in connection.scalars(query.order_by(capabilities.c.capability_id)).all():
        outcome = CapabilityOutcome(
            outcome_id=str(
                uuid5(NAMESPACE_URL, f"{health.server_id} {capability_id} {health.last_checked_at}")
            ),
            capability_id=capability_id,
            kind=OutcomeKind.USE,
            success=False,
            failure_fingerprint=f"mcp_connector_degraded:{health.server_id}",
            summary=f"The tool server it requires is degraded ({health.health_reason_code}).",
            reported_by=told.owner,
            happened_at=told.at,
        )
        entries += apply_outcome(connection, outcome, told.correlation_id)
    return entries


def _receipts(before: MCPConnectionHealth, now: MCPConnectionHealth, told: Told) -> list[JournalDraft]:
    said: list[tuple[MCPReceiptStatus, str]] = []
    if before.health_status is not now.health_status:
        reason = f" ({now.health_reason_code})" if now.health_reason_code else ""
        well = now.health_status is not MCPHealthStatus.DEGRADED
        status = MCPReceiptStatus.OK if well else MCPReceiptStatus.DEGRADED
        said.append((status, f"health {before.health_status.value} → {now.health_status.value}{reason}"))
    was, is_now = before.throttle_state.state, now.throttle_state.state
    if was is not is_now:
        eased = is_now is MCPThrottle.NONE
        status = MCPReceiptStatus.OK if eased else MCPReceiptStatus.BLOCKED
        until = "" if now.backoff_until is None else f", until {rfc3339(now.backoff_until)}"
        said.append((status, f"throttling {was.value} → {is_now.value}{until}"))
    if before.auth_state is not now.auth_state:
        refused = now.auth_state in NEEDS_SIGN_IN
        status = MCPReceiptStatus.BLOCKED if refused else MCPReceiptStatus.OK
        said.append((status, f"sign-in {before.auth_state.value} → {now.auth_state.value}"))
    todo = next_action(now)
    return [
        receipt(
            told,
            MCPReceiptKind.HEALTH_CHANGE,
            status,
            what if status is MCPReceiptStatus.OK or todo is None else f"{what}. {todo}",
            server_id=now.server_id,
        )[1]
        for status, what in said
    ]
