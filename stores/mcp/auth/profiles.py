"""The rows of sign-ins (auth profiles): public profile, OAuth endpoints and scopes; secrets by reference only."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile, MCPAuthProfileListResponse, MCPServerAuthStatus
from contracts.mcp.auth_work import AuthConnection, AuthOutcome, AuthReceipt
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import auth_profile_workflow_id
from domain.mcp.auth_status import auth_status, renews_itself
from stores.mcp.mcp_tables import PROFILES
from stores.mcp.mcp_tables import mcp_auth_profiles as table
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.server_rows import server_of, servers_with_profile
from stores.platform.answers import recalled
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import append

_BESIDE = (table.c.endpoints, table.c.owner, table.c.version)

Entry = tuple[MCPReceiptKind, MCPReceiptStatus, str]
"""The kind, status and summary of a receipt to write."""


@dataclass(frozen=True)
class StoredProfile:
    """A sign-in with the columns beside it."""

    profile: MCPAuthProfile
    connection: AuthConnection
    owner: str
    version: int

    def changed(
        self, at: datetime, connection: AuthConnection | None = None, **fields: Any
    ) -> "StoredProfile":
        """A copy with these fields of its profile changed."""
        profile = self.profile.changed(**fields, updated_at=at)
        return replace(self, profile=profile, connection=connection or self.connection)

    def outcome(self, outcome: AuthOutcome, receipt_id: str | None = None) -> AuthReceipt:
        """The result for its workflow."""
        renewed = renews_itself(self.profile, self.connection)
        return AuthReceipt(
            auth_profile_id=self.profile.auth_profile_id,
            outcome=outcome,
            state=self.profile.status,
            token_version=self.connection.token_version,
            refresh_at=self.profile.refresh_at if renewed else None,
            receipt_id=receipt_id,
        )

    def is_renewed_on_time(self) -> bool:
        """Whether its workflow renews the token ahead of its end."""
        return self.outcome(AuthOutcome.CURRENT).refresh_at is not None


def stored_profile(
    connection: Connection, auth_profile_id: str, owner: str, *, lock: bool = False
) -> StoredProfile:
    """One of the owner's sign-ins.

    Raises:
        Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
    """
    found = find_profile(connection, auth_profile_id, owner, lock=lock)
    if found is None:
        raise PROFILES.not_found()
    return found


def find_profile(
    connection: Connection, auth_profile_id: str, owner: str, *, lock: bool = False
) -> StoredProfile | None:
    """One of the owner's sign-ins, if there is one; ``lock`` keeps its row locked until the transaction ends."""
    query = PROFILES.select(
        table.c.auth_profile_id == auth_profile_id, table.c.owner == owner, also=_BESIDE, lock=lock
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else _stored(row)


def add_profile(connection: Connection, profile: MCPAuthProfile, owner: str) -> StoredProfile:
    """Inserts a new sign-in."""
    stored = StoredProfile(profile, AuthConnection(), owner, 1)
    endpoints = canonical_json(stored.connection)
    PROFILES.add(connection, profile, owner=owner, version=1, endpoints=endpoints)
    return stored


def replace_profile(connection: Connection, stored: StoredProfile) -> StoredProfile:
    """Updates a sign-in whose row was locked when it was read.

    Raises:
        Refusal: ``CONFLICT`` when its version is not the one that was read.
    """
    endpoints = canonical_json(stored.connection)
    version = PROFILES.compare_and_set(connection, stored.profile, stored.version, endpoints=endpoints)
    return replace(stored, version=version)


def soft_delete_profile(connection: Connection, stored: StoredProfile, at: datetime) -> None:
    """Soft-deletes a sign-in; its receipts stay."""
    connection.execute(
        update(table)
        .where(table.c.auth_profile_id == stored.profile.auth_profile_id)
        .values(deleted_at=rfc3339(at), version=stored.version + 1, endpoints=None)
    )


def add_profile_receipt(
    connection: Connection,
    stored: StoredProfile,
    entry: Entry,
    *,
    at: datetime,
    correlation_id: str,
    actor: str | None = None,
    server_id: str | None = None,
) -> str:
    """Writes a receipt about a sign-in; its id."""
    kind, status, summary = entry
    auth_profile_id = stored.profile.auth_profile_id
    context = ReceiptContext(
        aggregate=auth_profile_workflow_id(auth_profile_id),
        owner=stored.owner,
        correlation_id=correlation_id,
        at=at,
        actor=actor,
    )
    receipt_id, draft = receipt(
        context, kind, status, summary, server_id=server_id, auth_profile_id=auth_profile_id
    )
    append(connection, [draft])
    return receipt_id


def receipt_under(connection: Connection, key: CommitKey) -> AuthReceipt | None:
    """As ``AuthProfileStore.recall``.

    An update that was lost on its way to the history is sent again, after others may have been carried out.
    """
    receipt = recalled(connection, key, AuthReceipt)
    if receipt is None:
        return None
    stored = find_profile(connection, receipt.auth_profile_id, key.owner_user_id)
    if stored is None:
        return receipt.changed(refresh_at=None)
    now = stored.outcome(AuthOutcome.CURRENT)
    return receipt.changed(state=now.state, token_version=now.token_version, refresh_at=now.refresh_at)


def auth_status_of(connection: Connection, server_id: str, owner: str, now: datetime) -> MCPServerAuthStatus:
    """The sign-in status of one of the owner's servers.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
    """
    server = server_of(connection, server_id, owner)
    if server.auth_profile_id is None:
        return auth_status(server_id, None, AuthConnection(), now)
    stored = stored_profile(connection, server.auth_profile_id, owner)
    endpoint = None if server.endpoint_url is None else str(server.endpoint_url)
    return auth_status(server_id, stored.profile, stored.connection, now, endpoint)


class AuthProfileStore:
    """The sign-ins of all users, read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, auth_profile_id: str, owner: str) -> StoredProfile:
        """One of the owner's sign-ins.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return stored_profile(connection, auth_profile_id, owner)

    def recall(self, key: CommitKey) -> AuthReceipt | None:
        """The receipt of an order that was carried out under this key, beside how the sign-in stands now.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            return receipt_under(connection, key)

    def renewed_on_time(self) -> tuple[StoredProfile, ...]:
        """The sign-ins of all users whose token their workflow renews ahead of its end."""
        query = PROFILES.select(also=_BESIDE)
        with self._database.read() as connection:
            found = [_stored(row) for row in connection.execute(query.order_by(table.c.auth_profile_id))]
        return tuple(one for one in found if one.is_renewed_on_time())

    def version_of(self, auth_profile_id: str) -> int | None:
        """How often this sign-in was changed; None for one that was never made."""
        with self._database.read() as connection:
            return connection.scalar(
                select(table.c.version).where(table.c.auth_profile_id == auth_profile_id)
            )

    def due(self, auth_profile_id: str) -> StoredProfile | None:
        """This sign-in, if its token is renewed on time."""
        query = PROFILES.select(table.c.auth_profile_id == auth_profile_id, also=_BESIDE)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        found = _stored(row) if row is not None else None
        return found if found is not None and found.is_renewed_on_time() else None

    def list_for(self, owner: str) -> MCPAuthProfileListResponse:
        """The owner's sign-ins, newest first."""
        order = (table.c.created_at.desc(), table.c.auth_profile_id)
        with self._database.read() as connection:
            profiles = PROFILES.all(connection, table.c.owner == owner, order_by=order)
        return MCPAuthProfileListResponse(auth_profiles=profiles)

    def status(self, server_id: str, owner: str, now: datetime) -> MCPServerAuthStatus:
        """The sign-in status of one of the owner's servers; see ``auth_status_of``."""
        with self._database.read() as connection:
            return auth_status_of(connection, server_id, owner, now)

    def used_by(self, auth_profile_id: str) -> tuple[str, ...]:
        """The ids of the servers that use a sign-in."""
        with self._database.read() as connection:
            return servers_with_profile(connection, auth_profile_id)

    def of_server(self, server_id: str, owner: str) -> tuple[str, StoredProfile]:
        """A server's address and its sign-in.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``;
                ``MCP_AUTH_PROFILE_NOT_FOUND`` when the server has no sign-in.
        """
        with self._database.read() as connection:
            server = server_of(connection, server_id, owner)
            if server.auth_profile_id is None:
                raise Refusal(
                    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
                    "The server has no sign-in; make one with POST /api/mcp/auth-profiles and name it in "
                    f"PATCH /api/mcp/servers/{server_id}.",
                )
            stored = stored_profile(connection, server.auth_profile_id, owner)
        return str(server.endpoint_url or ""), stored


def _stored(row: Row[Any]) -> StoredProfile:
    return StoredProfile(
        profile=PROFILES.parse(row.body),
        connection=AuthConnection.model_validate_json(row.endpoints) if row.endpoints else AuthConnection(),
        owner=row.owner,
        version=row.version,
    )
