"""The rows of tool servers, written together with the file that lists them all; the abilities that use each."""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select, update

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.base import clipped, rfc3339
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.servers import MCPAbilityRelation, MCPLinkedAbilityRef, MCPServerRegistryEntry
from domain.mcp.deferred_rows import refuse_deferred
from domain.mcp.route_scoring import servers_required
from stores.mcp.mcp_tables import PROFILES, SERVERS, mcp_dispatches, mcp_servers
from stores.platform.canonical import document_bytes
from stores.platform.database import advisory_lock
from stores.platform.projection.documents import put_document
from stores.platform.tables import abilities, capabilities

CURRENT = "system/mcp/servers_current.json"


def server_of(connection: Connection, server_id: str, owner: str) -> MCPServerRegistryEntry:
    """One of the owner's servers.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_SERVER_NOT_ACTIVE_IN_BUILD`` for a row that is only shown.
    """
    refuse_deferred(server_id)
    return SERVERS.owned(connection, server_id, owner)


def servers_of(connection: Connection, owner: str) -> tuple[MCPServerRegistryEntry, ...]:
    """The owner's servers, newest first."""
    order = (mcp_servers.c.created_at.desc(), mcp_servers.c.server_id)
    return SERVERS.all(connection, mcp_servers.c.owner == owner, order_by=order)


def is_still_callable(connection: Connection, known: MCPServerRegistryEntry) -> bool:
    """Whether a server exists, is enabled, has the same address and sign-in, and that was not revoked."""
    server = SERVERS.find(connection, known.server_id)
    if server is None or not server.enabled or _connection_of(server) != _connection_of(known):
        return False
    if server.auth_profile_id is None:
        return True
    profile = PROFILES.find(connection, server.auth_profile_id)
    return profile is not None and profile.status is not MCPAuthState.REVOKED


def _connection_of(server: MCPServerRegistryEntry) -> tuple[object, ...]:
    return server.endpoint_url, server.command, server.auth_profile_id


def lock_servers(connection: Connection) -> None:
    """Serialises changes of servers (advisory lock): one file lists them all."""
    advisory_lock(connection, "mcp servers")


def add_server(connection: Connection, entry: MCPServerRegistryEntry, owner: str) -> None:
    """Inserts a new server."""
    SERVERS.add(connection, entry, owner=owner, version=1)
    _project(connection)


def replace_server(connection: Connection, entry: MCPServerRegistryEntry, **columns: Any) -> None:
    """Updates a server, and ``columns`` that its entry does not have."""
    SERVERS.replace(connection, entry, version=mcp_servers.c.version + 1, **columns)
    _project(connection)


def mark_discovered(connection: Connection, entry: MCPServerRegistryEntry, at: datetime) -> None:
    """Records when a server's tools were last listed, and what that changed of its entry."""
    listed_at = rfc3339(at)
    if SERVERS.find(connection, entry.server_id) != entry:
        replace_server(connection, entry, tools_listed_at=listed_at)
    else:
        this = mcp_servers.c.server_id == entry.server_id
        connection.execute(update(mcp_servers).where(this).values(tools_listed_at=listed_at))


def tools_listed_at(connection: Connection, server_id: str) -> datetime | None:
    """When a server's tools were last listed."""
    at = connection.scalar(select(mcp_servers.c.tools_listed_at).where(mcp_servers.c.server_id == server_id))
    return None if at is None else datetime.fromisoformat(at)


def soft_delete_server(connection: Connection, server_id: str, at: str) -> None:
    """Soft-deletes a server: its id is never reused, and its receipts stay."""
    connection.execute(
        update(mcp_servers)
        .where(mcp_servers.c.server_id == server_id)
        .values(version=mcp_servers.c.version + 1, deleted_at=at, updated_at=at, auth_profile_id=None)
    )
    _project(connection)


def servers_with_profile(connection: Connection, auth_profile_id: str) -> tuple[str, ...]:
    """The ids of the servers that use a sign-in."""
    query = (
        select(mcp_servers.c.server_id)
        .where(mcp_servers.c.auth_profile_id == auth_profile_id, mcp_servers.c.deleted_at.is_(None))
        .order_by(mcp_servers.c.server_id)
    )
    return tuple(connection.scalars(query))


def _project(connection: Connection) -> None:
    order = (mcp_servers.c.owner, mcp_servers.c.server_id)
    current = [
        {"owner_user_id": owner, **entry.model_dump(mode="json", exclude_none=True)}
        for owner, entry in SERVERS.all_with_owner(connection, order_by=order)
    ]
    put_document(connection, "memory", CURRENT, document_bytes(current))


_MOST = 20


def linked_abilities(
    connection: Connection, server_ids: Sequence[str], owner: str
) -> dict[str, tuple[MCPLinkedAbilityRef, ...]]:
    """The owner's abilities by server: ``primary`` where a manifest requires it, ``secondary`` where completed
    calls were made for one; at most 20 a server.
    """
    found: dict[str, dict[str, MCPLinkedAbilityRef]] = {server_id: {} for server_id in server_ids}
    if not found:
        return {}
    manifests = connection.execute(
        select(capabilities.c.ability_id, capabilities.c.manifest)
        .join(abilities, abilities.c.ability_id == capabilities.c.ability_id)
        .where(abilities.c.owner == owner)
    ).all()
    titles: dict[str, str] = {}
    # Sorted here: asked to sort, PostgreSQL may walk the capabilities of everybody in that order.
    for ability_id, text in sorted(manifests, key=itemgetter(0)):
        try:
            manifest = CapabilityManifest.model_validate_json(text)
        except ValueError:
            continue
        titles[ability_id] = clipped(manifest.title, 160)
        for server_id in servers_required(manifest):
            if server_id in found:
                found[server_id][ability_id] = _ref(ability_id, titles, MCPAbilityRelation.PRIMARY)
    calls = connection.execute(
        select(mcp_dispatches.c.server_id, mcp_dispatches.c.ability_id)
        .distinct()
        .where(
            mcp_dispatches.c.owner == owner,
            mcp_dispatches.c.status == DispatchStatus.COMPLETED.value,
            mcp_dispatches.c.ability_id.is_not(None),
            mcp_dispatches.c.server_id.in_(server_ids),
        )
        .order_by(mcp_dispatches.c.ability_id)
    )
    for server_id, ability_id in calls:
        if ability_id in titles and ability_id not in found[server_id]:
            found[server_id][ability_id] = _ref(ability_id, titles, MCPAbilityRelation.SECONDARY)
    return {server_id: tuple(refs.values())[:_MOST] for server_id, refs in found.items()}


def _ref(ability_id: str, titles: dict[str, str], relation: MCPAbilityRelation) -> MCPLinkedAbilityRef:
    return MCPLinkedAbilityRef(ability_id=ability_id, label=titles[ability_id], relation=relation)
