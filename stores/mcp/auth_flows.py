"""Sign-ins under way, each under the digest of its state: single use, for its owner, for minutes."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_work import SignInFlow
from domain.maintenance.retention import SIGN_IN_FLOW_KEPT
from stores.canonical import canonical_json
from stores.mcp_tables import mcp_oauth_flows as table
from stores.secret_store import drop_within

STATE_INVALID = "This sign-in is not one that is under way, or it was used before; start it again."
CALLBACK_EXPIRED = "This sign-in took too long; start it again."


@dataclass(frozen=True)
class KeptFlow:
    """A flow and whether it has been used."""

    flow: SignInFlow
    used: bool


def add_flow(connection: Connection, flow: SignInFlow, state_digest: str, now: datetime) -> None:
    """Keeps a new flow, and lets go of those that were over long ago."""
    connection.execute(delete(table).where(table.c.expires_at <= rfc3339(now - SIGN_IN_FLOW_KEPT)))
    connection.execute(
        insert(table).values(
            state_digest=state_digest,
            challenge_id=flow.challenge_id,
            owner=flow.owner_user_id,
            server_id=flow.server_id,
            auth_profile_id=flow.auth_profile_id,
            expires_at=rfc3339(flow.expires_at),
            body=canonical_json(flow),
        )
    )


def flow_of_state(connection: Connection, state_digest: str, server_id: str, now: datetime) -> SignInFlow:
    """The flow that a browser came back from.

    Raises:
        Refusal: ``MCP_OAUTH_STATE_INVALID`` for one that is unknown, used, another server's, or over before
            the browser came (DOC3 L2426).
    """
    row = connection.execute(select(table).where(table.c.state_digest == state_digest)).one_or_none()
    if row is None or row.server_id != server_id or row.used_at is not None:
        raise Refusal(ErrorCode.MCP_OAUTH_STATE_INVALID, STATE_INVALID)
    flow = SignInFlow.model_validate_json(row.body)
    if flow.expires_at <= now:
        raise Refusal(ErrorCode.MCP_OAUTH_STATE_INVALID, CALLBACK_EXPIRED)
    return flow


def flow_of_challenge(
    connection: Connection, challenge_id: str, owner: str, *, lock: bool = False
) -> KeptFlow | None:
    """One of the owner's flows. Who locks it and its sign-in too, locks the sign-in first."""
    query = select(table).where(table.c.challenge_id == challenge_id, table.c.owner == owner)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return KeptFlow(SignInFlow.model_validate_json(row.body), row.used_at is not None) if row else None


def claim_flow(connection: Connection, challenge_id: str, owner: str, by: str, now: datetime) -> SignInFlow:
    """Uses a flow up, once; whoever claimed it may claim it again, since an attempt may have been cut off.

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
    claimed = kept.flow.model_copy(update={"claimed_by": by})
    connection.execute(
        update(table)
        .where(table.c.challenge_id == challenge_id, table.c.used_at.is_(None))
        .values(used_at=rfc3339(now), body=canonical_json(claimed))
    )
    return claimed


def close_flow(connection: Connection, flow: SignInFlow, now: datetime) -> None:
    """Ends a flow: nothing of it can be used any more."""
    connection.execute(
        update(table)
        .where(table.c.challenge_id == flow.challenge_id, table.c.used_at.is_(None))
        .values(used_at=rfc3339(now))
    )
    drop_flow_secrets(connection, flow)


def drop_flow_secrets(connection: Connection, flow: SignInFlow) -> None:
    """Drops a flow's state and verifier."""
    for ref in (flow.oauth_state_ref, flow.pkce_verifier_ref):
        drop_within(connection, ref, flow.owner_user_id)


def close_flows_of(connection: Connection, auth_profile_id: str, now: datetime) -> None:
    """Ends every flow of a sign-in."""
    bodies = connection.scalars(
        select(table.c.body).where(table.c.auth_profile_id == auth_profile_id, table.c.used_at.is_(None))
    ).all()
    for body in bodies:
        close_flow(connection, SignInFlow.model_validate_json(body), now)
