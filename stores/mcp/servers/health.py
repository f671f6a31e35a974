"""The health of tool servers: recorded with every contact; receipts, projected files and capability outcomes."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Connection, select

from contracts.abilities.capability_health import CapabilityEventName, CapabilityOutcome, OutcomeKind
from contracts.base import clipped, rfc3339
from contracts.mcp.health import MCPConnectionHealth, MCPConnectionOutcome, MCPHealthStatus, MCPThrottle
from contracts.mcp.provider import NEEDS_SIGN_IN, MCPInteractionMode, MCPTransport
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.servers import DueServer, MCPAbilityRelation, MCPServerRegistryEntry
from domain.mcp.health import (
    PROBE_LEASE,
    Admission,
    admission,
    after,
    disabled,
    next_action,
    next_probe_at,
    probing,
    unknown,
    well_again,
    with_next_action,
    with_sign_in,
)
from stores.abilities.capability_health import apply_outcome
from stores.mcp.mcp_tables import HEALTHS, PROFILES, SERVERS, mcp_server_health, mcp_servers
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.server_rows import linked_abilities
from stores.platform.canonical import document_bytes
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalDraft, JournalEntries, append
from stores.platform.projection.documents import put_documents
from stores.platform.tables import capabilities

HEALTH_FILE = "system/mcp/health_current.json"
BACKOFF_FILE = "system/mcp/backoff_state_current.json"


def record_change(
    connection: Connection, before: MCPConnectionHealth, now: MCPConnectionHealth, context: ReceiptContext
) -> list[JournalDraft]:
    """The receipts of a changed health, after projecting it; an unchanged one writes nothing.

    A server that has become degraded counts as one failure of each capability that requires it.
    """
    entries = _receipts(before, now, context)
    if before.health_status is not now.health_status:
        said = JournalEntries(context.aggregate, context.owner, context.correlation_id, context.at)
        reasons = (clipped(now.health_reason_code, 80),) if now.health_reason_code else ()
        said.capability_event(
            CapabilityEventName.MCP_HEALTH_CHANGED,
            server_id=now.server_id,
            server_health=now.health_status.value,
            reason_codes=reasons,
        )
        entries += said.drafts
    if entries or before.backoff_until != now.backoff_until:
        project_health(connection)
    became_ill = now.health_status is MCPHealthStatus.DEGRADED
    if became_ill and before.health_status is not MCPHealthStatus.DEGRADED:
        entries += _capability_failures(connection, now, context)
    return entries


def project_health(connection: Connection) -> None:
    """Projects the health and the backoff of every server into their two files."""
    advisory_lock(connection, "mcp health")
    rows = connection.execute(
        select(mcp_servers.c.owner, mcp_servers.c.enabled, mcp_server_health.c.body)
        .join(mcp_server_health, mcp_server_health.c.server_id == mcp_servers.c.server_id)
        .where(mcp_servers.c.deleted_at.is_(None))
        .order_by(mcp_servers.c.owner, mcp_servers.c.server_id)
    )
    healths: list[dict[str, Any]] = []
    backoffs: list[dict[str, Any]] = []
    for row in rows:
        found = HEALTHS.parse(row.body)
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
    files = {HEALTH_FILE: document_bytes(healths), BACKOFF_FILE: document_bytes(backoffs)}
    put_documents(connection, "memory", files)


def _capability_failures(
    connection: Connection, health: MCPConnectionHealth, context: ReceiptContext
) -> list[JournalDraft]:
    linked = linked_abilities(connection, [health.server_id], context.owner)[health.server_id]
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
            reported_by=context.owner,
            happened_at=context.at,
        )
        entries += apply_outcome(connection, outcome, context.correlation_id)
    return entries


def _receipts(
    before: MCPConnectionHealth, now: MCPConnectionHealth, context: ReceiptContext
) -> list[JournalDraft]:
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
            context,
            MCPReceiptKind.HEALTH_CHANGE,
            status,
            what if status is MCPReceiptStatus.OK or todo is None else f"{what}. {todo}",
            server_id=now.server_id,
        )[1]
        for status, what in said
    ]


USUAL_PROBE_EVERY = timedelta(minutes=5)

_NOT_SOON = timedelta(days=1)
# A server that is only listed, or inside a provider, has nothing to probe; it is not to be looked at each time.


def health_of(connection: Connection, server_id: str) -> MCPConnectionHealth:
    """The health of a server as it is shown: switched off where it is, its sign-in as it stands, what to do.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``.
    """
    return _shown(connection, SERVERS.get(connection, server_id), _stored(connection, server_id))


@dataclass(frozen=True)
class RecordedContact:
    """A server's health after one contact."""

    health: MCPConnectionHealth
    """As it is shown now."""

    entries: list[JournalDraft]
    """The receipts of what changed, which the caller appends together with its own."""

    well_again: str | None = None
    """The server's id, where it has just recovered."""


def record_outcome(
    connection: Connection,
    server_id: str,
    owner: str,
    outcome: MCPConnectionOutcome,
    *,
    correlation_id: str,
    every: timedelta = USUAL_PROBE_EVERY,
) -> RecordedContact:
    """Records one contact within the caller's transaction.

    A server that is deleted meanwhile keeps nothing.
    """
    server = SERVERS.find(connection, server_id)
    if server is None:
        return RecordedContact(after(unknown(server_id), outcome), [])
    held = _locked(connection, server_id, owner, outcome.happened_at)
    before = _shown(connection, server, held)
    # Jitter spreads the retries of many; nothing secret hangs on it.
    kept = after(held, outcome, random.random())  # noqa: S311
    shown = _shown(connection, server, kept)
    _store(connection, kept, outcome.happened_at, next_probe_at(kept, every, outcome.happened_at))
    context = ReceiptContext(f"mcp-server/{server_id}", owner, correlation_id, outcome.happened_at)
    recovered = well_again(held, shown, outcome.happened_at)
    entries = record_change(connection, before, shown, context)
    return RecordedContact(shown, entries, server_id if recovered else None)


@dataclass(frozen=True)
class Admitted:
    """Whether a server may be called now (circuit breaker)."""

    admission: Admission
    health: MCPConnectionHealth
    until: datetime | None = None
    """The end of the wait; for a probe, the end of its lease."""


def admit(
    connection: Connection, server_id: str, owner: str, now: datetime, *, lasts: timedelta = PROBE_LEASE
) -> Admitted:
    """Whether a server may be called now, and if not, until when to wait. ``PROBE`` is an exclusive lease:
    until its outcome is recorded, or ``lasts`` is over, all others wait.
    """
    server = SERVERS.find(connection, server_id)
    if server is None or not server.enabled:
        return Admitted(Admission.REFUSED, disabled(unknown(server_id)))
    seen = _stored(connection, server_id)
    if admission(seen, now) is Admission.OPEN:
        # Nothing is written, so calls of a healthy server do not contend for its row.
        return Admitted(Admission.OPEN, seen)
    held = _locked(connection, server_id, owner, now)
    found = admission(held, now)
    if found is Admission.PROBE:
        _store(connection, probing(held, now, lasts), now, now + lasts)
        return Admitted(found, held, now + lasts)
    return Admitted(found, held, held.backoff_until if found is Admission.WAIT else None)


def is_open(connection: Connection, server_id: str, now: datetime) -> bool:
    """Whether the server may be called without a lease; reads only."""
    return admission(_stored(connection, server_id), now) is Admission.OPEN


class HealthStore:
    """The health of all servers. Safe to share between threads."""

    def __init__(self, database: Database, *, probe_every: timedelta = USUAL_PROBE_EVERY) -> None:
        """``probe_every`` is the time between two probes of a server that is well."""
        self._database = database
        self._every = probe_every

    def record(
        self, server_id: str, owner: str, outcome: MCPConnectionOutcome, correlation_id: str = "health"
    ) -> MCPConnectionHealth:
        """Records the outcome of one contact; the health afterwards. Only changes get a receipt."""
        return self.take_in(server_id, owner, outcome, correlation_id).health

    def take_in(
        self, server_id: str, owner: str, outcome: MCPConnectionOutcome, correlation_id: str
    ) -> RecordedContact:
        """As :func:`record_outcome`, in its own transaction."""
        with self._database.write() as connection:
            taken = record_outcome(
                connection, server_id, owner, outcome, correlation_id=correlation_id, every=self._every
            )
            append(connection, taken.entries)
        return taken

    def owned(self, server_id: str, owner: str) -> MCPConnectionHealth:
        """The health of one of the owner's servers.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``.
        """
        with self._database.read() as connection:
            server = SERVERS.owned(connection, server_id, owner)
            return _shown(connection, server, _stored(connection, server_id))

    def admit(self, server_id: str, owner: str, now: datetime) -> tuple[Admission, datetime | None]:
        """As :func:`admit`, in its own transaction."""
        with self._database.write() as connection:
            found = admit(connection, server_id, owner, now)
        return found.admission, found.until if found.admission is Admission.WAIT else None

    def claim_due(self, now: datetime, limit: int) -> tuple[DueServer, ...]:
        """Up to ``limit`` servers that are to be probed now. They are leased to this caller for a minute; a
        server without any contact yet is due at once.
        """
        query = (
            select(mcp_servers.c.server_id, mcp_servers.c.owner, mcp_servers.c.body)
            .outerjoin(mcp_server_health, mcp_server_health.c.server_id == mcp_servers.c.server_id)
            .where(mcp_servers.c.deleted_at.is_(None), mcp_servers.c.enabled.is_(True))
            .where(
                mcp_server_health.c.next_probe_at.is_(None)
                | (mcp_server_health.c.next_probe_at <= rfc3339(now))
            )
            .order_by(mcp_server_health.c.next_probe_at, mcp_servers.c.server_id)
            .limit(limit)
        )
        found: list[DueServer] = []
        with self._database.write() as connection:
            for row in connection.execute(query).all():
                entry = SERVERS.parse(row.body)
                can_be = entry.active_build_surface and entry.transport is not MCPTransport.PROVIDER_NATIVE
                held = _locked(connection, row.server_id, row.owner, now)
                _store(connection, held, now, now + (PROBE_LEASE if can_be else _NOT_SOON))
                if can_be:
                    found.append(DueServer(server_id=row.server_id, owner=row.owner))
        return tuple(found)


def _shown(
    connection: Connection, server: MCPServerRegistryEntry, kept: MCPConnectionHealth
) -> MCPConnectionHealth:
    shown = kept.changed(interactive_capable=server.interaction_mode is MCPInteractionMode.INTERACTIVE_USER)
    if server.auth_profile_id is not None:
        profile = PROFILES.find(connection, server.auth_profile_id)
        if profile is not None:
            shown = with_sign_in(shown, profile.status, profile.updated_at)
    return with_next_action(shown if server.enabled else disabled(shown))


def _stored(connection: Connection, server_id: str) -> MCPConnectionHealth:
    return HEALTHS.find(connection, server_id) or unknown(server_id)


def _locked(connection: Connection, server_id: str, owner: str, now: datetime) -> MCPConnectionHealth:
    """The stored health, its row locked until the transaction ends; inserted where there was none."""
    held = HEALTHS.find(connection, server_id, lock=True)
    if held is not None:
        return held
    HEALTHS.add_if_absent(connection, unknown(server_id), owner=owner, updated_at=rfc3339(now))
    return HEALTHS.get(connection, server_id, lock=True)


def _store(connection: Connection, health: MCPConnectionHealth, now: datetime, probe_at: datetime) -> None:
    HEALTHS.replace(connection, health, updated_at=rfc3339(now), next_probe_at=rfc3339(probe_at))
