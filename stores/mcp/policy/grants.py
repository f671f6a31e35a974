"""Standing approvals (grants): created with an approval, listed, used, revoked."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, or_, select

from contracts.base import counted, rfc3339
from contracts.mcp.dispatch import MCPGrant, MCPGrantListResponse
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.platform.commands import CommitKey
from stores.mcp.mcp_tables import GRANTS
from stores.mcp.mcp_tables import mcp_grants as table
from stores.mcp.receipts import ReceiptContext, receipt
from stores.platform.answers import answered
from stores.platform.database import Database
from stores.platform.journal.journal import append

MOST_LISTED = 500
"""The most grants in one answer."""


def live_grants(
    connection: Connection, owner: str, server_id: str, tool_name: str, now: datetime
) -> tuple[MCPGrant, ...]:
    """The owner's grants for one tool that are neither revoked nor expired."""
    return GRANTS.all(
        connection,
        table.c.owner == owner,
        table.c.server_id == server_id,
        table.c.tool_name == tool_name,
        *_live(now),
        order_by=(table.c.grant_id,),
    )


class GrantsAbout(NamedTuple):
    """The standing approvals that a call is judged by."""

    live: tuple[MCPGrant, ...]
    """Those for its tool that are neither revoked nor expired."""

    own_is_revoked: bool
    """Whether the approval of this very call gave one that was taken back."""


# Each of the two finds its rows by an index of its own.
_ABOUT = GRANTS.select(
    or_(
        and_(
            table.c.owner == bindparam("of_owner"),
            table.c.server_id == bindparam("of_server"),
            table.c.tool_name == bindparam("of_tool"),
            table.c.revoked_at.is_(None),
            table.c.expires_at > bindparam("of_now"),
        ),
        table.c.dispatch_id == bindparam("of_dispatch"),
    )
).order_by(table.c.grant_id)


def grants_about(
    connection: Connection, owner: str, server_id: str, tool_name: str, dispatch_id: str, now: datetime
) -> GrantsAbout:
    """As ``live_grants``, and of the grant that the approval of this call gave whether it was revoked."""
    of = {"of_owner": owner, "of_server": server_id, "of_tool": tool_name, "of_dispatch": dispatch_id}
    bodies = connection.scalars(_ABOUT, {**of, "of_now": rfc3339(now)})
    found = [GRANTS.parse(body) for body in bodies]
    # The call's own is for its tool, and may be over.
    return GrantsAbout(
        live=tuple(one for one in found if one.revoked_at is None and one.expires_at > now),
        own_is_revoked=any(one.dispatch_id == dispatch_id and one.revoked_at is not None for one in found),
    )


def hold_grant_of_dispatch(connection: Connection, dispatch_id: str) -> None:
    """Holds the grant of this call until the transaction ends: a revocation is before this, or after it.

    SQLite's writer is alone anyway.
    """
    if connection.dialect.name != "sqlite":
        query = select(table.c.grant_id).where(table.c.dispatch_id == dispatch_id).with_for_update()
        connection.execute(query)


def use_grant(connection: Connection, grant_id: str, owner: str, now: datetime) -> bool:
    """Counts a call that a grant allows; false where it is revoked or expired by now, and allows none.

    Its row is locked until the transaction ends, so that a revocation waits.
    """
    grant = GRANTS.find(connection, grant_id, owner=owner, lock=True)
    if grant is None or grant.revoked_at is not None or grant.expires_at <= now:
        return False
    return GRANTS.replace(connection, grant.changed(used=grant.used + 1))


def revoke_grant(connection: Connection, grant: MCPGrant, by: str, context: ReceiptContext) -> MCPGrant:
    """Revokes a grant, with a receipt; one that was revoked before stays as it is."""
    if grant.revoked_at is not None:
        return grant
    revoked = grant.changed(revoked_at=context.at, revoked_by=by)
    GRANTS.replace(connection, revoked)
    _, entry = receipt(
        context,
        MCPReceiptKind.GRANT_REVOKE,
        MCPReceiptStatus.OK,
        f"The standing approval of {grant.tool_name} for this {grant.scope.value.removeprefix('end_of_')} was "
        f"taken back after {counted(grant.used, 'call')}.",
        server_id=grant.server_id,
        dispatch_id=grant.dispatch_id,
    )
    append(connection, [entry])
    return revoked


def revoke_grants_of_server(connection: Connection, server_id: str, context: ReceiptContext) -> int:
    """Revokes every live grant of ``context.owner`` for a server's tools, each with its receipt; their number."""
    grants = GRANTS.all(
        connection,
        table.c.owner == context.owner,
        table.c.server_id == server_id,
        *_live(context.at),
        order_by=(table.c.grant_id,),
        lock=True,
    )
    for grant in grants:
        chain = replace(context, aggregate=f"mcp-grant/{grant.grant_id}")
        revoke_grant(connection, grant, context.actor or context.owner, chain)
    return len(grants)


def grant_of_dispatch(connection: Connection, dispatch_id: str, owner: str) -> MCPGrant | None:
    """The grant that the approval of this call created, if any; its row is locked."""
    return GRANTS.first(connection, table.c.dispatch_id == dispatch_id, table.c.owner == owner, lock=True)


def _live(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return table.c.revoked_at.is_(None), table.c.expires_at > rfc3339(now)


class GrantStore:
    """The standing approvals of all owners. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_for(self, owner: str, now: datetime, *, include_past: bool = False) -> MCPGrantListResponse:
        """The owner's grants, newest first, at most ``MOST_LISTED``; revoked and expired ones only if wanted."""
        with self._database.read() as connection:
            grants = GRANTS.all(
                connection,
                table.c.owner == owner,
                *(() if include_past else _live(now)),
                order_by=(table.c.created_at.desc(), table.c.grant_id.desc()),
                limit=MOST_LISTED,
            )
        return MCPGrantListResponse(grants=grants)

    def revoke(self, grant_id: str, key: CommitKey, context: ReceiptContext) -> MCPGrant:
        """Revokes one of ``context.owner``'s grants; a repeated request gets the first answer.

        Raises:
            Refusal: ``MCP_GRANT_NOT_FOUND``, ``IDEMPOTENCY_KEY_REUSED``.
        """

        def act(connection: Connection) -> MCPGrant:
            grant = GRANTS.owned(connection, grant_id, context.owner, lock=True)
            return revoke_grant(connection, grant, context.actor or context.owner, context)

        return answered(self._database, key, MCPGrant, act)
