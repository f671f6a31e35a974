"""The sweeps over what the tool gateway keeps: calls that have ended, past approvals, sign-ins that are over.

Receipts are entries of the journal and stay in it; what a call asked and answered goes with the blobs, once no row
names it.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, or_, select

from contracts.base import rfc3339
from contracts.maintenance.runs import SweepName
from domain.maintenance.retention import GRANT_KEPT, SIGN_IN_FLOW_KEPT, TOOL_CALL_KEPT
from stores.mcp_tables import mcp_call_attempts, mcp_dispatches, mcp_grants, mcp_oauth_flows
from stores.retention_sweeps import LEFT_ALONE, Settled


class RemoveToolCalls:
    """Calls go 90 days after their end, with their attempts; one that runs or waits has no end."""

    name = SweepName.REMOVE_TOOL_CALLS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Calls in the order of their ids."""
        query = select(mcp_dispatches.c.dispatch_id).where(
            mcp_dispatches.c.completed_at <= rfc3339(now - TOOL_CALL_KEPT),
            mcp_dispatches.c.dispatch_id > after,
        )
        return connection.scalars(query.order_by(mcp_dispatches.c.dispatch_id).limit(limit)).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one call."""
        past = (
            mcp_dispatches.c.dispatch_id == item,
            mcp_dispatches.c.completed_at <= rfc3339(now - TOOL_CALL_KEPT),
        )
        if connection.execute(delete(mcp_dispatches).where(*past)).rowcount != 1:
            return LEFT_ALONE
        attempts = connection.execute(
            delete(mcp_call_attempts).where(mcp_call_attempts.c.dispatch_id == item)
        ).rowcount
        return Settled(done=True, removed=1 + attempts)


class RemoveGrants:
    """Standing approvals go 90 days after they were taken back or ran out."""

    name = SweepName.REMOVE_GRANTS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Standing approvals in the order of their ids."""
        query = select(mcp_grants.c.grant_id).where(_past_grant(now), mcp_grants.c.grant_id > after)
        return connection.scalars(query.order_by(mcp_grants.c.grant_id).limit(limit)).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one."""
        this = delete(mcp_grants).where(mcp_grants.c.grant_id == item, _past_grant(now))
        removed = connection.execute(this).rowcount
        return Settled(done=removed == 1, removed=removed)


class RemoveSignInFlows:
    """Sign-ins under way go a day after their time ran out, used or not."""

    name = SweepName.REMOVE_SIGN_IN_FLOWS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Challenges in the order of their ids."""
        query = select(mcp_oauth_flows.c.challenge_id).where(
            mcp_oauth_flows.c.expires_at <= rfc3339(now - SIGN_IN_FLOW_KEPT),
            mcp_oauth_flows.c.challenge_id > after,
        )
        return connection.scalars(query.order_by(mcp_oauth_flows.c.challenge_id).limit(limit)).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one; what it kept sealed expires by itself."""
        past = (
            mcp_oauth_flows.c.challenge_id == item,
            mcp_oauth_flows.c.expires_at <= rfc3339(now - SIGN_IN_FLOW_KEPT),
        )
        removed = connection.execute(delete(mcp_oauth_flows).where(*past)).rowcount
        return Settled(done=removed == 1, removed=removed)


def _past_grant(now: datetime) -> ColumnElement[bool]:
    before = rfc3339(now - GRANT_KEPT)
    return or_(mcp_grants.c.expires_at <= before, mcp_grants.c.revoked_at <= before)
