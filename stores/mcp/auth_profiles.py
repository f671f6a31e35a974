"""Sign-ins as rows: what people see of them, and what a client needs to know; secrets by reference alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_flow import MCPServerAuthStatus
from contracts.mcp.auth_profile import MCPAuthProfile, MCPAuthProfileListResponse
from contracts.mcp.auth_work import AuthConnection, AuthOutcome, AuthReceipt
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from domain.mcp.auth_status import auth_status, renews_itself
from stores.canonical import canonical_json
from stores.database import Database
from stores.journal import append
from stores.mcp.receipts import Told, receipt
from stores.mcp.server_rows import server_of, servers_with_profile
from stores.mcp_tables import mcp_auth_profiles

NO_SUCH_PROFILE = "There is no sign-in of yours with that id; list them: GET /api/mcp/auth-profiles."

Entry = tuple[MCPReceiptKind, MCPReceiptStatus, str]
"""A receipt to be: what it is about, how it went, and in words."""


@dataclass(frozen=True)
class StoredProfile:
    """A sign-in as it is kept."""

    profile: MCPAuthProfile
    connection: AuthConnection
    owner: str
    version: int

    def changed(
        self, at: datetime, connection: AuthConnection | None = None, **fields: Any
    ) -> "StoredProfile":
        """The same with other ``fields``."""
        return StoredProfile(
            profile=self.profile.model_copy(update={**fields, "updated_at": at}),
            connection=connection or self.connection,
            owner=self.owner,
            version=self.version,
        )

    def outcome(self, outcome: AuthOutcome, receipt_id: str | None = None) -> AuthReceipt:
        """What its workflow is told."""
        renewed = renews_itself(self.profile, self.connection)
        return AuthReceipt(
            auth_profile_id=self.profile.auth_profile_id,
            outcome=outcome,
            state=self.profile.status,
            token_version=self.connection.token_version,
            refresh_at=self.profile.refresh_at if renewed else None,
            receipt_id=receipt_id,
        )


def stored_profile(
    connection: Connection, auth_profile_id: str, owner: str, *, lock: bool = False
) -> StoredProfile:
    """One of the owner's sign-ins.

    Raises:
        Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
    """
    query = select(mcp_auth_profiles).where(
        mcp_auth_profiles.c.auth_profile_id == auth_profile_id,
        mcp_auth_profiles.c.owner == owner,
        mcp_auth_profiles.c.deleted_at.is_(None),
    )
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise Refusal(ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND, NO_SUCH_PROFILE)
    return _stored(row)


def add_profile(connection: Connection, profile: MCPAuthProfile, owner: str) -> StoredProfile:
    """Keeps a new sign-in."""
    stored = StoredProfile(profile, AuthConnection(), owner, 1)
    connection.execute(
        insert(mcp_auth_profiles).values(
            auth_profile_id=profile.auth_profile_id,
            owner=owner,
            created_at=rfc3339(profile.created_at),
            **_columns(stored),
        )
    )
    return stored


def replace_profile(connection: Connection, stored: StoredProfile) -> StoredProfile:
    """Keeps a sign-in's new state; its row is held since it was read, so nobody else has changed it."""
    newer = StoredProfile(stored.profile, stored.connection, stored.owner, stored.version + 1)
    connection.execute(
        update(mcp_auth_profiles)
        .where(
            mcp_auth_profiles.c.auth_profile_id == stored.profile.auth_profile_id,
            mcp_auth_profiles.c.version == stored.version,
        )
        .values(_columns(newer))
    )
    return newer


def bury_profile(connection: Connection, stored: StoredProfile, at: datetime) -> None:
    """Marks a sign-in as gone; its receipts stay."""
    connection.execute(
        update(mcp_auth_profiles)
        .where(mcp_auth_profiles.c.auth_profile_id == stored.profile.auth_profile_id)
        .values(deleted_at=rfc3339(at), version=stored.version + 1, endpoints=None)
    )


def tell(
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
    told = Told(
        aggregate=f"auth-profile/{auth_profile_id}",
        owner=stored.owner,
        correlation_id=correlation_id,
        at=at,
        actor=actor,
    )
    receipt_id, draft = receipt(
        told, kind, status, summary, server_id=server_id, auth_profile_id=auth_profile_id
    )
    append(connection, [draft])
    return receipt_id


def auth_status_of(connection: Connection, server_id: str, owner: str, now: datetime) -> MCPServerAuthStatus:
    """How the sign-in of one of the owner's servers stands.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
    """
    server = server_of(connection, server_id, owner)
    if server.auth_profile_id is None:
        return auth_status(server_id, None, AuthConnection(), now)
    stored = stored_profile(connection, server.auth_profile_id, owner)
    endpoint = None if server.endpoint_url is None else str(server.endpoint_url)
    return auth_status(server_id, stored.profile, stored.connection, now, endpoint)


def auth_statuses_of(
    connection: Connection, owner: str, server_profiles: Sequence[tuple[str, str]], now: datetime
) -> dict[str, MCPServerAuthStatus]:
    """How the sign-ins of many servers stand, by server; ``server_profiles`` are (server, sign-in) ids."""
    wanted = {profile_id for _, profile_id in server_profiles}
    rows = connection.execute(
        select(mcp_auth_profiles).where(
            mcp_auth_profiles.c.owner == owner,
            mcp_auth_profiles.c.auth_profile_id.in_(wanted),
            mcp_auth_profiles.c.deleted_at.is_(None),
        )
    )
    known = {row.auth_profile_id: _stored(row) for row in rows}
    return {
        server_id: auth_status(server_id, known[profile_id].profile, known[profile_id].connection, now)
        for server_id, profile_id in server_profiles
        if profile_id in known
    }


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

    def list_for(self, owner: str) -> MCPAuthProfileListResponse:
        """The owner's sign-ins, newest first."""
        query = (
            select(mcp_auth_profiles.c.body)
            .where(mcp_auth_profiles.c.owner == owner, mcp_auth_profiles.c.deleted_at.is_(None))
            .order_by(mcp_auth_profiles.c.created_at.desc(), mcp_auth_profiles.c.auth_profile_id)
        )
        with self._database.read() as connection:
            bodies = connection.scalars(query).all()
        return MCPAuthProfileListResponse(
            auth_profiles=tuple(MCPAuthProfile.model_validate_json(body) for body in bodies)
        )

    def status(self, server_id: str, owner: str, now: datetime) -> MCPServerAuthStatus:
        """How the sign-in of one of the owner's servers stands; see ``auth_status_of``."""
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
        profile=MCPAuthProfile.model_validate_json(row.body),
        connection=AuthConnection.model_validate_json(row.endpoints) if row.endpoints else AuthConnection(),
        owner=row.owner,
        version=row.version,
    )


def _columns(stored: StoredProfile) -> dict[str, Any]:
    return {
        "version": stored.version,
        "updated_at": rfc3339(stored.profile.updated_at),
        "body": canonical_json(stored.profile),
        "endpoints": canonical_json(stored.connection),
    }
