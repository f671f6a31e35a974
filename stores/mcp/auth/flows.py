"""The rows of pending OAuth authorization flows: keyed by the state's digest, single use, short-lived."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_work import SignInFlow
from domain.maintenance.retention import SIGN_IN_FLOW_KEPT
from stores.mcp.mcp_tables import FLOWS
from stores.mcp.mcp_tables import mcp_oauth_flows as table
from stores.platform.canonical import canonical_json
from stores.platform.secrets.store import drop_within

STATE_INVALID = "This sign-in is not one that is under way, or it was used before; start it again."
CALLBACK_EXPIRED = "This sign-in took too long; start it again."


@dataclass(frozen=True)
class StoredFlow:
    """A flow and whether it has been used."""

    flow: SignInFlow
    used: bool


def add_flow(connection: Connection, flow: SignInFlow, state_digest: str, now: datetime) -> None:
    """Inserts a new flow, and deletes those that expired long ago."""
    connection.execute(delete(table).where(table.c.expires_at <= rfc3339(now - SIGN_IN_FLOW_KEPT)))
    FLOWS.add(connection, flow, state_digest=state_digest)


def flow_of_state(connection: Connection, state_digest: str, server_id: str, now: datetime) -> SignInFlow:
    """The flow of an OAuth callback, by the digest of its state.

    Raises:
        Refusal: ``MCP_OAUTH_STATE_INVALID`` for one that is unknown, used, another server's, or over before
            the browser came (DOC3 L2426).
    """
    this = (table.c.state_digest == state_digest, table.c.server_id == server_id, table.c.used_at.is_(None))
    flow = FLOWS.first(connection, *this)
    if flow is None:
        raise Refusal(ErrorCode.MCP_OAUTH_STATE_INVALID, STATE_INVALID)
    if flow.expires_at <= now:
        raise Refusal(ErrorCode.MCP_OAUTH_STATE_INVALID, CALLBACK_EXPIRED)
    return flow


def flow_of_challenge(
    connection: Connection, challenge_id: str, owner: str, *, lock: bool = False
) -> StoredFlow | None:
    """One of the owner's flows. Lock order: the sign-in's row before the flow's."""
    this = (table.c.challenge_id == challenge_id, table.c.owner == owner)
    row = connection.execute(FLOWS.select(*this, also=(table.c.used_at,), lock=lock)).one_or_none()
    return StoredFlow(FLOWS.parse(row.body), row.used_at is not None) if row else None


def claim_flow(connection: Connection, challenge_id: str, owner: str, by: str, now: datetime) -> SignInFlow:
    """Marks a flow used by ``by``, which may claim it again: an activity attempt may have been interrupted.

    Raises:
        Refusal: ``MCP_OAUTH_STATE_INVALID``; ``MCP_OAUTH_CALLBACK_EXPIRED`` for one that was in time when the
            browser came, and is over now.
    """
    kept = flow_of_challenge(connection, challenge_id, owner, lock=True)
    if kept is None or (kept.used and kept.flow.claimed_by != by):
        raise Refusal(ErrorCode.MCP_OAUTH_STATE_INVALID, STATE_INVALID)
    if kept.used:
        return kept.flow
    if kept.flow.expires_at <= now:
        raise Refusal(ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED, CALLBACK_EXPIRED)
    claimed = kept.flow.changed(claimed_by=by)
    connection.execute(
        update(table)
        .where(table.c.challenge_id == challenge_id, table.c.used_at.is_(None))
        .values(used_at=rfc3339(now), body=canonical_json(claimed))
    )
    return claimed


def close_flow(connection: Connection, flow: SignInFlow, now: datetime) -> None:
    """Marks a flow used and deletes its secrets."""
    connection.execute(
        update(table)
        .where(table.c.challenge_id == flow.challenge_id, table.c.used_at.is_(None))
        .values(used_at=rfc3339(now))
    )
    drop_flow_secrets(connection, flow)


def drop_flow_secrets(connection: Connection, flow: SignInFlow) -> None:
    """Deletes a flow's state and PKCE verifier."""
    for ref in (flow.oauth_state_ref, flow.pkce_verifier_ref):
        drop_within(connection, ref, flow.owner_user_id)


def close_flows_of(connection: Connection, auth_profile_id: str, now: datetime) -> None:
    """Closes every unused flow of a sign-in."""
    unused = (table.c.auth_profile_id == auth_profile_id, table.c.used_at.is_(None))
    for flow in FLOWS.all(connection, *unused, order_by=()):
        close_flow(connection, flow, now)
