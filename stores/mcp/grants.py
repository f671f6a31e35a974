"""Standing approvals: given with an approval, listed, used, revoked. Each is one row."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommitKey
from contracts.mcp.dispatch import MCPGrant, MCPGrantListResponse
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from stores.answers import answered_within
from stores.canonical import canonical_json
from stores.database import Database
from stores.journal import append
from stores.mcp.receipts import Told, receipt
from stores.mcp_tables import mcp_grants
from stores.upsert import insert_or

MOST_LISTED = 500
"""The most grants in one answer."""


def add_grant(connection: Connection, grant: MCPGrant, told: Told) -> None:
    """Keeps what an approval allows beyond its own call; the same approval again changes nothing.

    The receipt of the decision tells of it; ``told.owner`` must be the grant's.
    """
    row = {
        "grant_id": grant.grant_id,
        "owner": told.owner,
        "dispatch_id": grant.dispatch_id,
        "server_id": grant.server_id,
        "tool_name": grant.tool_name,
        "scope": grant.scope.value,
        "scope_ref": grant.scope_ref,
        "expires_at": rfc3339(grant.expires_at),
        "created_at": rfc3339(grant.created_at),
        "body": canonical_json(grant),
    }
    connection.execute(insert_or(connection, mcp_grants).values(row).on_conflict_do_nothing())


def live_grants(
    connection: Connection, owner: str, server_id: str, tool_name: str, now: datetime
) -> tuple[MCPGrant, ...]:
    """The grants for one tool that are neither revoked nor over."""
    query = select(mcp_grants.c.body).where(
        mcp_grants.c.owner == owner,
        mcp_grants.c.server_id == server_id,
        mcp_grants.c.tool_name == tool_name,
        mcp_grants.c.revoked_at.is_(None),
        mcp_grants.c.expires_at > rfc3339(now),
    )
    bodies = connection.scalars(query.order_by(mcp_grants.c.grant_id))
    return tuple(MCPGrant.model_validate_json(body) for body in bodies)


def use_grant(connection: Connection, grant_id: str, owner: str, now: datetime) -> bool:
    """Counts a call that a grant let pass; false when it was revoked or is over by now, and the call may not be
    made on its account. Its row is held to the end of the transaction, so that a revocation waits.
    """
    grant = _held(connection, grant_id, owner)
    if grant is None or grant.revoked_at is not None or grant.expires_at <= now:
        return False
    _change(connection, grant.model_copy(update={"used": grant.used + 1}))
    return True


def revoke_grant(connection: Connection, grant: MCPGrant, by: str, told: Told) -> MCPGrant:
    """Takes a grant back, with a receipt; one that was taken back before stays as it was."""
    if grant.revoked_at is not None:
        return grant
    revoked = grant.model_copy(update={"revoked_at": told.at, "revoked_by": by})
    _change(connection, revoked)
    _, entry = receipt(
        told,
        MCPReceiptKind.GRANT_REVOKE,
        MCPReceiptStatus.OK,
        f"The standing approval of {grant.tool_name} for this {grant.scope.value.removeprefix('end_of_')} was "
        f"taken back after {grant.used} calls.",
        server_id=grant.server_id,
        dispatch_id=grant.dispatch_id,
    )
    append(connection, [entry])
    return revoked


def revoke_grants_of_server(connection: Connection, server_id: str, told: Told) -> int:
    """Takes back every grant of ``told.owner`` for a server's tools that still stands, each with its receipt.

    How many there were is the answer.
    """
    query = select(mcp_grants.c.body).where(
        mcp_grants.c.owner == told.owner,
        mcp_grants.c.server_id == server_id,
        mcp_grants.c.revoked_at.is_(None),
        mcp_grants.c.expires_at > rfc3339(told.at),
    )
    bodies = connection.scalars(query.order_by(mcp_grants.c.grant_id).with_for_update()).all()
    for body in bodies:
        grant = MCPGrant.model_validate_json(body)
        revoke_grant(
            connection,
            grant,
            told.actor or told.owner,
            replace(told, aggregate=f"mcp-grant/{grant.grant_id}"),
        )
    return len(bodies)


def grant_of_dispatch(connection: Connection, dispatch_id: str, owner: str) -> MCPGrant | None:
    """The grant that an approval of this call gave, its row held; none where it gave none."""
    body = connection.scalar(
        select(mcp_grants.c.body)
        .where(mcp_grants.c.dispatch_id == dispatch_id, mcp_grants.c.owner == owner)
        .with_for_update()
    )
    return None if body is None else MCPGrant.model_validate_json(body)


class GrantStore:
    """The standing approvals of all owners. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_for(self, owner: str, now: datetime, *, include_past: bool = False) -> MCPGrantListResponse:
        """The owner's grants, newest first, at most ``MOST_LISTED``; those revoked or over only if wanted."""
        query = select(mcp_grants.c.body).where(mcp_grants.c.owner == owner)
        if not include_past:
            query = query.where(mcp_grants.c.revoked_at.is_(None), mcp_grants.c.expires_at > rfc3339(now))
        query = query.order_by(mcp_grants.c.created_at.desc(), mcp_grants.c.grant_id.desc())
        with self._database.read() as connection:
            bodies = connection.scalars(query.limit(MOST_LISTED)).all()
        return MCPGrantListResponse(grants=tuple(MCPGrant.model_validate_json(body) for body in bodies))

    def revoke(self, grant_id: str, key: CommitKey, told: Told) -> MCPGrant:
        """Takes one of ``told.owner``'s grants back; who asks again is told who did it, and when.

        Raises:
            Refusal: ``MCP_GRANT_NOT_FOUND``, ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.write() as connection:
            body = answered_within(connection, key, lambda: _revoked(connection, grant_id, told))
        return MCPGrant.model_validate_json(body)


def _revoked(connection: Connection, grant_id: str, told: Told) -> str:
    grant = _held(connection, grant_id, told.owner)
    if grant is None:
        raise Refusal(
            ErrorCode.MCP_GRANT_NOT_FOUND,
            "There is no standing approval of yours with that id; list them: GET /api/mcp/grants.",
        )
    return canonical_json(revoke_grant(connection, grant, told.actor or told.owner, told))


def _held(connection: Connection, grant_id: str, owner: str) -> MCPGrant | None:
    body = connection.scalar(
        select(mcp_grants.c.body)
        .where(mcp_grants.c.grant_id == grant_id, mcp_grants.c.owner == owner)
        .with_for_update()
    )
    return None if body is None else MCPGrant.model_validate_json(body)


def _change(connection: Connection, grant: MCPGrant) -> None:
    connection.execute(
        update(mcp_grants)
        .where(mcp_grants.c.grant_id == grant.grant_id)
        .values(
            revoked_at=rfc3339(grant.revoked_at) if grant.revoked_at else None, body=canonical_json(grant)
        )
    )
