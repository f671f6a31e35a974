"""Servers as rows: reading one of an owner's, and writing it with the file that lists them all."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_profile import MCPAuthProfile
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.server_registry import MCPServerRegistryEntry
from domain.mcp.deferred_rows import refuse_deferred
from stores.canonical import canonical_json, document_bytes
from stores.documents import put_document
from stores.mcp_tables import mcp_auth_profiles, mcp_servers
from stores.turns import one_at_a_time

CURRENT = "system/mcp/servers_current.json"


def server_of(connection: Connection, server_id: str, owner: str) -> MCPServerRegistryEntry:
    """One of the owner's servers.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_SERVER_NOT_ACTIVE_IN_BUILD`` for a row that is only shown.
    """
    refuse_deferred(server_id)
    body = connection.scalar(
        select(mcp_servers.c.body).where(
            mcp_servers.c.server_id == server_id,
            mcp_servers.c.owner == owner,
            mcp_servers.c.deleted_at.is_(None),
        )
    )
    if body is None:
        raise Refusal(
            ErrorCode.MCP_SERVER_NOT_FOUND,
            "There is no tool server of yours with that id; list them: GET /api/mcp/servers.",
        )
    return MCPServerRegistryEntry.model_validate_json(body)


def servers_of(connection: Connection, owner: str) -> tuple[MCPServerRegistryEntry, ...]:
    """The owner's servers, newest first."""
    bodies = connection.scalars(
        select(mcp_servers.c.body)
        .where(mcp_servers.c.owner == owner, mcp_servers.c.deleted_at.is_(None))
        .order_by(mcp_servers.c.created_at.desc(), mcp_servers.c.server_id)
    )
    return tuple(MCPServerRegistryEntry.model_validate_json(body) for body in bodies)


def is_still(connection: Connection, known: MCPServerRegistryEntry) -> bool:
    """Whether a server is there, enabled, where it was known to be, and its sign-in was not taken back."""
    body = connection.scalar(
        select(mcp_servers.c.body).where(
            mcp_servers.c.server_id == known.server_id, mcp_servers.c.deleted_at.is_(None)
        )
    )
    server = MCPServerRegistryEntry.model_validate_json(body) if body is not None else None
    if server is None or not server.enabled or _way_to(server) != _way_to(known):
        return False
    if server.auth_profile_id is None:
        return True
    signed_in = connection.scalar(
        select(mcp_auth_profiles.c.body).where(
            mcp_auth_profiles.c.auth_profile_id == server.auth_profile_id,
            mcp_auth_profiles.c.deleted_at.is_(None),
        )
    )
    return (
        signed_in is not None
        and MCPAuthProfile.model_validate_json(signed_in).status is not MCPAuthState.REVOKED
    )


def _way_to(server: MCPServerRegistryEntry) -> tuple[object, ...]:
    return server.endpoint_url, server.command, server.auth_profile_id


def take_turn(connection: Connection) -> None:
    """Changes of servers are made one after another: a file lists them all."""
    one_at_a_time(connection, "mcp servers")


def add_server(connection: Connection, entry: MCPServerRegistryEntry, owner: str) -> None:
    """Keeps a new server."""
    row = {
        **_columns(entry),
        "server_id": entry.server_id,
        "owner": owner,
        "version": 1,
        "created_at": rfc3339(entry.created_at),
    }
    connection.execute(insert(mcp_servers).values(row))
    _project(connection)


def replace_server(connection: Connection, entry: MCPServerRegistryEntry) -> None:
    """Keeps a server's new state."""
    connection.execute(
        update(mcp_servers)
        .where(mcp_servers.c.server_id == entry.server_id)
        .values(version=mcp_servers.c.version + 1, **_columns(entry))
    )
    _project(connection)


def mark_discovered(connection: Connection, entry: MCPServerRegistryEntry, at: datetime) -> None:
    """Keeps when a server's tools were last listed, and what that said of the server."""
    known = connection.scalar(select(mcp_servers.c.body).where(mcp_servers.c.server_id == entry.server_id))
    connection.execute(
        update(mcp_servers)
        .where(mcp_servers.c.server_id == entry.server_id)
        .values(tools_listed_at=rfc3339(at))
    )
    if known != canonical_json(entry):
        replace_server(connection, entry)


def tools_listed_at(connection: Connection, server_id: str) -> datetime | None:
    """When a server's tools were last listed."""
    at = connection.scalar(select(mcp_servers.c.tools_listed_at).where(mcp_servers.c.server_id == server_id))
    return None if at is None else datetime.fromisoformat(at)


def bury_server(connection: Connection, server_id: str, at: str) -> None:
    """Marks a server as gone; its id is never given again, and its receipts stay."""
    connection.execute(
        update(mcp_servers)
        .where(mcp_servers.c.server_id == server_id)
        .values(version=mcp_servers.c.version + 1, deleted_at=at, updated_at=at, auth_profile_id=None)
    )
    _project(connection)


def profile_of(
    connection: Connection, auth_profile_id: str, owner: str, *, lock: bool = False
) -> MCPAuthProfile:
    """One of the owner's sign-ins; with ``lock`` it stays as it is until the transaction ends.

    Raises:
        Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
    """
    query = select(mcp_auth_profiles.c.body).where(
        mcp_auth_profiles.c.auth_profile_id == auth_profile_id,
        mcp_auth_profiles.c.owner == owner,
        mcp_auth_profiles.c.deleted_at.is_(None),
    )
    body = connection.scalar(query.with_for_update() if lock else query)
    if body is None:
        raise Refusal(
            ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
            "There is no sign-in of yours with that id; list them: GET /api/mcp/auth-profiles.",
        )
    return MCPAuthProfile.model_validate_json(body)


def servers_with_profile(connection: Connection, auth_profile_id: str) -> tuple[str, ...]:
    """The ids of the servers that use a sign-in."""
    query = (
        select(mcp_servers.c.server_id)
        .where(mcp_servers.c.auth_profile_id == auth_profile_id, mcp_servers.c.deleted_at.is_(None))
        .order_by(mcp_servers.c.server_id)
    )
    return tuple(connection.scalars(query))


def _columns(entry: MCPServerRegistryEntry) -> dict[str, Any]:
    return {
        "provider": entry.provider.value,
        "auth_profile_id": entry.auth_profile_id,
        "enabled": entry.enabled,
        "updated_at": rfc3339(entry.updated_at),
        "body": canonical_json(entry),
    }


def _project(connection: Connection) -> None:
    rows = connection.execute(
        select(mcp_servers.c.owner, mcp_servers.c.body)
        .where(mcp_servers.c.deleted_at.is_(None))
        .order_by(mcp_servers.c.owner, mcp_servers.c.server_id)
    )
    current = [
        {
            "owner_user_id": row.owner,
            **MCPServerRegistryEntry.model_validate_json(row.body).model_dump(mode="json", exclude_none=True),
        }
        for row in rows
    ]
    put_document(connection, "memory", CURRENT, document_bytes(current))
