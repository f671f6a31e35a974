"""How each tool server is: the last known health, kept up by every contact, shown with what lies beside it."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_profile import MCPAuthProfile
from contracts.mcp.health import (
    MCPConnectionHealth,
    MCPConnectionOutcome,
)
from contracts.mcp.probe import DueServer
from contracts.mcp.provider import MCPInteractionMode, MCPTransport
from contracts.mcp.server_registry import MCPServerRegistryEntry
from domain.mcp.health import (
    PROBE_LEASE,
    Admission,
    admission,
    after,
    disabled,
    next_probe_at,
    probing,
    unknown,
    well_again,
    with_next_action,
    with_sign_in,
)
from stores.canonical import canonical_json
from stores.database import Database
from stores.journal import JournalDraft, append
from stores.mcp.health_effects import tell_change
from stores.mcp.receipts import Told
from stores.mcp_tables import mcp_auth_profiles, mcp_server_health, mcp_servers
from stores.upsert import insert_or

USUAL_PROBE_EVERY = timedelta(minutes=5)

_NOT_SOON = timedelta(days=1)
# A server that is only listed, or inside a provider, has nothing to probe; it is not to be looked at each time.


def health_of(connection: Connection, server_id: str) -> MCPConnectionHealth:
    """The health of a server as it is shown: switched off where it is, its sign-in as it stands, what to do.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``.
    """
    server = _server_row(connection, server_id)
    if server is None:
        raise _no_server()
    return _shown(connection, server, _kept(connection, server_id))


@dataclass(frozen=True)
class TakenIn:
    """What one contact made of a server's health."""

    health: MCPConnectionHealth
    """As it is shown now."""

    entries: list[JournalDraft]
    """The receipts of what changed, which the caller appends together with its own."""

    well_again: str | None = None
    """The server's id, where it was degraded until now and lets everybody pass."""


def take_in_outcome(
    connection: Connection,
    server_id: str,
    owner: str,
    outcome: MCPConnectionOutcome,
    *,
    correlation_id: str,
    every: timedelta = USUAL_PROBE_EVERY,
) -> TakenIn:
    """Takes in one contact within the caller's transaction.

    A server that is deleted meanwhile keeps nothing.
    """
    server = _server_row(connection, server_id)
    if server is None:
        return TakenIn(after(unknown(server_id), outcome), [])
    held = _held(connection, server_id, owner, outcome.happened_at)
    before = _shown(connection, server, held)
    # Jitter spreads the retries of many; nothing secret hangs on it.
    kept = after(held, outcome, random.random())  # noqa: S311
    shown = _shown(connection, server, kept)
    _keep(connection, kept, outcome.happened_at, next_probe_at(kept, every, outcome.happened_at))
    told = Told(f"mcp-server/{server_id}", owner, correlation_id, outcome.happened_at)
    recovered = well_again(held, shown, outcome.happened_at)
    entries = tell_change(connection, before, shown, told)
    return TakenIn(shown, entries, server_id if recovered else None)


@dataclass(frozen=True)
class Admitted:
    """What a server's health says to somebody who wants to go there now."""

    admission: Admission
    health: MCPConnectionHealth
    until: datetime | None = None
    """How long to wait; of a probe, how long everybody else does."""


def admit(
    connection: Connection, server_id: str, owner: str, now: datetime, *, lasts: timedelta = PROBE_LEASE
) -> Admitted:
    """Whether somebody may go to a server now, and if not, until when to wait. Who is told ``PROBE`` goes alone:
    until its outcome is taken in, or ``lasts`` is over, everybody else is told to wait.
    """
    server = _server_row(connection, server_id)
    if server is None or not server.enabled:
        return Admitted(Admission.REFUSED, disabled(unknown(server_id)))
    seen = _kept(connection, server_id)
    if admission(seen, now) is Admission.OPEN:
        # Nothing is written, so those who go to a server that is well need not queue for its row.
        return Admitted(Admission.OPEN, seen)
    held = _held(connection, server_id, owner, now)
    found = admission(held, now)
    if found is Admission.PROBE:
        _keep(connection, probing(held, now, lasts), now, now + lasts)
        return Admitted(found, held, now + lasts)
    return Admitted(found, held, held.backoff_until if found is Admission.WAIT else None)


def is_open(connection: Connection, server_id: str, now: datetime) -> bool:
    """Whether ``admit`` lets everybody go to the server, as far as one can tell without asking for a turn."""
    return admission(_kept(connection, server_id), now) is Admission.OPEN


class HealthStore:
    """The health of all servers. Safe to share between threads."""

    def __init__(self, database: Database, *, probe_every: timedelta = USUAL_PROBE_EVERY) -> None:
        """``probe_every`` is the time between two probes of a server that is well."""
        self._database = database
        self._every = probe_every

    def record(
        self, server_id: str, owner: str, outcome: MCPConnectionOutcome, correlation_id: str = "health"
    ) -> MCPConnectionHealth:
        """Takes in how one contact went; the health afterwards. Only changes of it are told."""
        return self.take_in(server_id, owner, outcome, correlation_id).health

    def take_in(
        self, server_id: str, owner: str, outcome: MCPConnectionOutcome, correlation_id: str
    ) -> TakenIn:
        """As :func:`take_in_outcome`, in a transaction of its own."""
        with self._database.write() as connection:
            taken = take_in_outcome(
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
            server = _server_row(connection, server_id)
            if server is None or server.owner != owner:
                raise _no_server()
            return _shown(connection, server, _kept(connection, server_id))

    def admit(self, server_id: str, owner: str, now: datetime) -> tuple[Admission, datetime | None]:
        """As :func:`admit`, in a transaction of its own."""
        with self._database.write() as connection:
            found = admit(connection, server_id, owner, now)
        return found.admission, found.until if found.admission is Admission.WAIT else None

    def claim_due(self, now: datetime, limit: int) -> tuple[DueServer, ...]:
        """Up to ``limit`` servers that are to be probed now. They are nobody else's to probe for a minute; a
        server that nobody was in contact with yet is due at once.
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
                entry = MCPServerRegistryEntry.model_validate_json(row.body)
                can_be = entry.active_build_surface and entry.transport is not MCPTransport.PROVIDER_NATIVE
                held = _held(connection, row.server_id, row.owner, now)
                _keep(connection, held, now, now + (PROBE_LEASE if can_be else _NOT_SOON))
                if can_be:
                    found.append(DueServer(server_id=row.server_id, owner=row.owner))
        return tuple(found)


@dataclass(frozen=True)
class _Server:
    owner: str
    enabled: bool
    entry: MCPServerRegistryEntry


def _shown(connection: Connection, server: _Server, kept: MCPConnectionHealth) -> MCPConnectionHealth:
    shown = kept.model_copy(
        update={"interactive_capable": server.entry.interaction_mode is MCPInteractionMode.INTERACTIVE_USER}
    )
    profile_id = server.entry.auth_profile_id
    profile = profile_id and connection.scalar(
        select(mcp_auth_profiles.c.body).where(
            mcp_auth_profiles.c.auth_profile_id == profile_id, mcp_auth_profiles.c.deleted_at.is_(None)
        )
    )
    if profile:
        found = MCPAuthProfile.model_validate_json(profile)
        shown = with_sign_in(shown, found.status, found.updated_at)
    return with_next_action(shown if server.enabled else disabled(shown))


def _server_row(connection: Connection, server_id: str) -> _Server | None:
    row = connection.execute(
        select(mcp_servers.c.owner, mcp_servers.c.enabled, mcp_servers.c.body).where(
            mcp_servers.c.server_id == server_id, mcp_servers.c.deleted_at.is_(None)
        )
    ).one_or_none()
    if row is None:
        return None
    return _Server(row.owner, row.enabled, MCPServerRegistryEntry.model_validate_json(row.body))


def _kept(connection: Connection, server_id: str) -> MCPConnectionHealth:
    body = connection.scalar(
        select(mcp_server_health.c.body).where(mcp_server_health.c.server_id == server_id)
    )
    return unknown(server_id) if body is None else MCPConnectionHealth.model_validate_json(body)


def _held(connection: Connection, server_id: str, owner: str, now: datetime) -> MCPConnectionHealth:
    """The kept health, its row locked until the transaction ends; made where there was none."""
    connection.execute(
        insert_or(connection, mcp_server_health)
        .values(
            server_id=server_id,
            owner=owner,
            updated_at=rfc3339(now),
            body=canonical_json(unknown(server_id)),
        )
        .on_conflict_do_nothing()
    )
    body = connection.scalars(
        select(mcp_server_health.c.body).where(mcp_server_health.c.server_id == server_id).with_for_update()
    ).one()
    return MCPConnectionHealth.model_validate_json(body)


def _keep(connection: Connection, health: MCPConnectionHealth, now: datetime, probe_at: datetime) -> None:
    connection.execute(
        update(mcp_server_health)
        .where(mcp_server_health.c.server_id == health.server_id)
        .values(updated_at=rfc3339(now), next_probe_at=rfc3339(probe_at), body=canonical_json(health))
    )


def _no_server() -> Refusal:
    return Refusal(
        ErrorCode.MCP_SERVER_NOT_FOUND, "There is no such server of yours; list them: GET /api/mcp/servers."
    )
