"""Nightly sweeps of what tools and skills leave: calls, approvals, sign-ins, invocations, folders of tool servers.

Receipts are journal entries and stay; the contents of a call go with the blobs, once no row names them.
"""

import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, delete, or_, select

from contracts.base import rfc3339
from contracts.maintenance.runs import SweepName
from domain.maintenance.retention import (
    GRANT_KEPT,
    INVOCATION_KEPT,
    SIGN_IN_FLOW_KEPT,
    TOOL_CALL_KEPT,
    TOOL_FOLDER_KEPT,
)
from stores.maintenance.runs import is_preview
from stores.maintenance.sweeps import LEFT_ALONE, Settled, folders_in, is_folder, keys_after
from stores.mcp.mcp_tables import mcp_call_attempts, mcp_dispatches, mcp_grants, mcp_oauth_flows, mcp_servers
from stores.skills.skill_tables import skill_invocations


class RemoveToolCalls:
    """Calls go 90 days after their end, with their attempts; one that runs or waits has no end."""

    name = SweepName.REMOVE_TOOL_CALLS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Calls in the order of their ids."""
        old = mcp_dispatches.c.completed_at <= rfc3339(now - TOOL_CALL_KEPT)
        return keys_after(connection, mcp_dispatches.c.dispatch_id, after, limit, old)

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


class RemoveToolServerFolders:
    """The folder of a local program (home, caches) goes once its server is deleted and a day has passed.

    A program may run until its server's last conversation ends.
    """

    name = SweepName.REMOVE_TOOL_SERVER_FOLDERS
    batch = 20

    def __init__(self, folder: Path) -> None:
        """``folder`` holds one folder a server, named by its id."""
        self._folder = folder

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Ids of deleted servers whose folders stand, in their own order."""
        found: list[str] = []
        for name in (place.name for place in folders_in(self._folder) if place.name > after):
            if len(found) < limit and self._is_due(connection, name, now):
                found.append(name)
        return found

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one folder; a preview only counts it, since no rollback brings files back."""
        place = self._folder / item
        if not is_folder(place) or not self._is_due(connection, item, now):
            return LEFT_ALONE
        if not is_preview(connection, run_id):
            shutil.rmtree(place)
        return Settled(done=True, removed=1)

    def _is_due(self, connection: Connection, server_id: str, now: datetime) -> bool:
        known = select(mcp_servers.c.server_id).where(mcp_servers.c.server_id == server_id)
        if connection.scalar(known) is not None:
            return False
        return (self._folder / server_id).stat().st_mtime <= (now - TOOL_FOLDER_KEPT).timestamp()


def past_flow(now: datetime) -> ColumnElement[bool]:
    """A day after the sign-in ran out, used or not; what it kept sealed expires by itself."""
    return mcp_oauth_flows.c.expires_at <= rfc3339(now - SIGN_IN_FLOW_KEPT)


def past_grant(now: datetime) -> ColumnElement[bool]:
    """90 days after the standing approval was revoked or expired."""
    before = rfc3339(now - GRANT_KEPT)
    return or_(mcp_grants.c.expires_at <= before, mcp_grants.c.revoked_at <= before)


def past_invocation(now: datetime) -> ColumnElement[bool]:
    """30 days after its end (O-23); its audit lines and bookings stay."""
    return skill_invocations.c.completed_at <= rfc3339(now - INVOCATION_KEPT)
