"""The registry of tool servers: register, change, delete. Each is one transaction with its receipt."""

import re
import secrets
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection, delete

from contracts.base import counted, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES
from contracts.mcp.provider import MCPAuthMode
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.servers import (
    MCPAuthProfileAction,
    MCPServerCreateRequest,
    MCPServerDeleteResponse,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerPatchRequest,
    MCPServerRegistryEntry,
)
from contracts.platform.commands import CommitKey
from domain.mcp.deferred_rows import refuse_deferred_registration
from domain.mcp.registration import RegistrationRules, check_registration, origin_of
from stores.mcp.mcp_tables import (
    DISPATCHES,
    HEALTHS,
    PROFILES,
    SERVERS,
    mcp_dispatches,
    mcp_servers,
    mcp_tools,
)
from stores.mcp.policy.grants import revoke_grants_of_server
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.health import project_health
from stores.mcp.servers.server_rows import (
    add_server,
    is_still_callable,
    lock_servers,
    replace_server,
    server_of,
    servers_of,
    servers_with_profile,
    soft_delete_server,
)
from stores.mcp.servers.server_views import deferred_items, list_items
from stores.mcp.servers.tool_discovery import forget_pins
from stores.platform.answers import answered
from stores.platform.database import Database
from stores.platform.journal.journal import append

__all__ = ["MAX_SERVERS", "ServerStore", "server_of", "servers_of", "servers_with_profile"]

MAX_SERVERS = 200
"""Of one user."""

_PATCHED = ("display_name", "endpoint_url", "enabled", "data_classes", "supported_tools", "m365")

_FOLDERS = ("readable_folders", "writable_folders")
"""What of a local program's command may change."""


class ServerStore:
    """The servers of all users. Safe to share between threads."""

    def __init__(self, database: Database, rules: RegistrationRules | None = None) -> None:
        """``rules`` is what the operator allows; the default allows no local servers."""
        self._database = database
        self._rules = rules or RegistrationRules()

    def owned(self, server_id: str, owner: str) -> MCPServerRegistryEntry:
        """One of the owner's servers.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
        """
        with self._database.read() as connection:
            return server_of(connection, server_id, owner)

    def is_still_callable(self, known: MCPServerRegistryEntry) -> bool:
        """Whether a server may be called, and is where it was known to be, with the sign-in that it had."""
        with self._database.read() as connection:
            return is_still_callable(connection, known)

    def list_for(self, owner: str, now: datetime | None = None) -> MCPServerListResponse:
        """The owner's servers, newest first, then those that are only shown."""
        at = now or datetime.now(UTC)
        with self._database.read() as connection:
            items = list_items(connection, servers_of(connection, owner), owner, at)
        return MCPServerListResponse(servers=(*items, *deferred_items()), generated_at=at)

    def register(
        self, asked: MCPServerCreateRequest, key: CommitKey, context: ReceiptContext
    ) -> MCPServerMutationResponse:
        """Registers a server; ``context`` has no aggregate yet, because the id is generated here.

        Raises:
            Refusal: ``VALIDATION_FAILED``, ``MCP_ADDRESS_REFUSED``, ``MCP_AUTH_PROFILE_NOT_FOUND``,
                ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``, and what the provider asks for.
        """
        return answered(
            self._database,
            key,
            MCPServerMutationResponse,
            lambda connection: self._register(connection, asked, context),
        )

    def patch(
        self, server_id: str, asked: MCPServerPatchRequest, key: CommitKey, context: ReceiptContext
    ) -> MCPServerMutationResponse:
        """Changes what the request names. A server that moves to another address loses its pins: what a person
        looked at was there, not here.

        Raises:
            Refusal: as ``register``, and ``MCP_SERVER_NOT_FOUND``.
        """
        return answered(
            self._database,
            key,
            MCPServerMutationResponse,
            lambda connection: self._patch(connection, server_id, asked, context),
        )

    def delete(self, server_id: str, key: CommitKey, context: ReceiptContext) -> MCPServerDeleteResponse:
        """Deletes a server; its sign-in stays (DOC3 "Shared-auth-profile delete safety").

        Standing approvals for its tools are taken back with it, each with its receipt.
        No sign-in counts as disposable here: one that nobody uses any more is deleted by its own command, which
        revokes its tokens too.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_SERVER_DELETE_BLOCKED`` while calls of it run or wait.
        """
        return answered(
            self._database,
            key,
            MCPServerDeleteResponse,
            lambda connection: _deleted(connection, server_id, context),
        )

    def _register(
        self, connection: Connection, asked: MCPServerCreateRequest, context: ReceiptContext
    ) -> MCPServerMutationResponse:
        refuse_deferred_registration(asked.provider, asked.display_name)
        lock_servers(connection)
        if SERVERS.count(connection, mcp_servers.c.owner == context.owner) >= MAX_SERVERS:
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                f"You have {MAX_SERVERS} tool servers, the most there may be; delete one first.",
                fields=["display_name"],
            )
        entry = MCPServerRegistryEntry(
            **asked.model_dump(exclude={"client_request_id", "schema_version"}),
            server_id=_new_id(asked.display_name),
            created_at=context.at,
            updated_at=context.at,
        )
        check_registration(entry, _profile(connection, entry, context.owner), self._rules)
        add_server(connection, entry, context.owner)
        context = replace(context, aggregate=f"mcp-server/{entry.server_id}")
        summary = f"{entry.display_name} was registered: {entry.provider.value} over {entry.transport.value}."
        return _answer(connection, entry, context, MCPReceiptKind.SERVER_CREATE, summary)

    def _patch(
        self, connection: Connection, server_id: str, asked: MCPServerPatchRequest, context: ReceiptContext
    ) -> MCPServerMutationResponse:
        lock_servers(connection)
        known = server_of(connection, server_id, context.owner)
        given = {name: getattr(asked, name) for name in _PATCHED if getattr(asked, name) is not None}
        if "auth_profile_id" in asked.model_fields_set:
            given["auth_profile_id"] = asked.auth_profile_id
        folders = {name: getattr(asked, name) for name in _FOLDERS if getattr(asked, name) is not None}
        if folders and known.command is None:
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                "Only a server that is a local program has folders; this one has none.",
                fields=sorted(folders),
            )
        if folders and known.command is not None:
            given["command"] = known.command.changed(**folders)
        changed = known.changed(**given)
        moved = origin_of(changed.endpoint_url) != origin_of(known.endpoint_url)
        if moved and known.auth_profile_id and "auth_profile_id" not in asked.model_fields_set:
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                "The server moves to another address, and its sign-in was for this one; say auth_profile_id "
                "too, or null.",
                fields=["auth_profile_id"],
            )
        names = sorted(name for name in given if getattr(changed, name) != getattr(known, name))
        if not names:
            return _shown(connection, known, context, None)
        changed = changed.changed(updated_at=context.at)
        check_registration(changed, _profile(connection, changed, context.owner), self._rules)
        replace_server(connection, changed)
        if moved:
            forget_pins(connection, server_id, rfc3339(context.at))
            HEALTHS.delete(connection, server_id)
        if moved or changed.enabled != known.enabled:
            project_health(connection)
        summary = f"{changed.display_name} was changed: {', '.join(names)}."
        return _answer(connection, changed, context, MCPReceiptKind.SERVER_PATCH, summary)


def _deleted(connection: Connection, server_id: str, context: ReceiptContext) -> MCPServerDeleteResponse:
    lock_servers(connection)
    known = server_of(connection, server_id, context.owner)
    open_calls = DISPATCHES.count(
        connection,
        mcp_dispatches.c.owner == context.owner,
        mcp_dispatches.c.status.in_([status.value for status in OPEN_DISPATCH_STATUSES]),
        mcp_dispatches.c.server_id == server_id,
    )
    if open_calls:
        raise Refusal(
            ErrorCode.MCP_SERVER_DELETE_BLOCKED,
            f"{counted(open_calls, 'call')} of this server must end first: decide about what waits, cancel what runs: "
            "GET /api/mcp/dispatches.",
            open_dispatches=open_calls,
        )
    revoked = revoke_grants_of_server(connection, server_id, context)
    soft_delete_server(connection, server_id, rfc3339(context.at))
    connection.execute(delete(mcp_tools).where(mcp_tools.c.server_id == server_id))
    HEALTHS.delete(connection, server_id)
    project_health(connection)
    action = MCPAuthProfileAction.NONE
    if known.auth_profile_id is not None:
        shared = servers_with_profile(connection, known.auth_profile_id)
        action = (
            MCPAuthProfileAction.RETAINED_SHARED if shared else MCPAuthProfileAction.RETAINED_UNREFERENCED
        )
    taken_back = f" Standing approvals taken back: {revoked}." if revoked else ""
    receipt_id, entry = receipt(
        context,
        MCPReceiptKind.SERVER_DELETE,
        MCPReceiptStatus.OK,
        f"{known.display_name} was deleted; its sign-in: {action.value}.{taken_back}",
        server_id=server_id,
        auth_profile_id=known.auth_profile_id,
    )
    append(connection, [entry])
    return MCPServerDeleteResponse(
        server_id=server_id,
        deleted=True,
        auth_profile_action=action,
        detached_auth_profile_id=known.auth_profile_id,
        grants_revoked=revoked,
        receipt_id=receipt_id,
    )


def _answer(
    connection: Connection,
    entry: MCPServerRegistryEntry,
    context: ReceiptContext,
    kind: MCPReceiptKind,
    summary: str,
) -> MCPServerMutationResponse:
    receipt_id, draft = receipt(context, kind, MCPReceiptStatus.OK, summary, server_id=entry.server_id)
    append(connection, [draft])
    return _shown(connection, entry, context, receipt_id)


def _shown(
    connection: Connection, entry: MCPServerRegistryEntry, context: ReceiptContext, receipt_id: str | None
) -> MCPServerMutationResponse:
    (item,) = list_items(connection, (entry,), context.owner, context.at)
    changed = receipt_id is not None
    return MCPServerMutationResponse(server=item, updated=changed, receipt_id=receipt_id)


def _profile(connection: Connection, entry: MCPServerRegistryEntry, owner: str) -> MCPAuthProfile | None:
    if entry.auth_profile_id is None:
        return None
    # Locked, so that it cannot be deleted before the server that uses it is visible.
    profile = PROFILES.owned(connection, entry.auth_profile_id, owner, lock=True)
    if profile.auth_mode is MCPAuthMode.API_KEY and not profile.shared_profile:
        _refuse_other_origin(connection, entry, owner)
    return profile


def _refuse_other_origin(connection: Connection, entry: MCPServerRegistryEntry, owner: str) -> None:
    """An API key names no audience: sharing it between origins has to be declared."""
    for other in servers_of(connection, owner):
        if other.server_id == entry.server_id or other.auth_profile_id != entry.auth_profile_id:
            continue
        if origin_of(other.endpoint_url) != origin_of(entry.endpoint_url):
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                f"The key of that sign-in is for {other.display_name[:60]}, at another address; make a sign-in "
                "for this server, or set shared_profile of that one if both may have the key.",
                fields=["auth_profile_id"],
            )


def _new_id(display_name: str) -> str:
    """A readable id that is never given again: from the name, and 40 bits of chance."""
    plain = re.sub(r"[^a-z0-9]+", "-", display_name.lower()).strip("-")[:40].strip("-")
    return f"{plain or 'server'}-{secrets.token_hex(5)}"
