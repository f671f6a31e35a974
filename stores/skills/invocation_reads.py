"""Reads of invocations: one as its owner sees it, a page of them, those that are open."""

import json
from datetime import datetime
from typing import Any

from contracts.base import rfc3339
from contracts.skills.invocation import InvocationStatus, InvocationView
from contracts.skills.invocation_work import InvocationOrder, InvocationRecord
from stores.platform.blobs import get_blob
from stores.platform.database import Database, PageCounts, PageRequest
from stores.skills.invocation_rows import OPEN_STATUSES, find_invocation, read_invocation, view_of
from stores.skills.skill_tables import INVOCATIONS
from stores.skills.skill_tables import skill_invocations as table

_NEWEST_FIRST = (table.c.created_at.desc(), table.c.invocation_id.desc())
# The id of a keyed invocation says nothing of its time.


class InvocationReads:
    """Read-only. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def view(self, invocation_id: str, owner: str) -> InvocationView:
        """The owner's invocation as it stands.

        Raises:
            Refusal: ``SKILL_INVOCATION_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return view_of(connection, read_invocation(connection, invocation_id, owner).record)

    def owned(self, invocation_id: str, owner: str) -> InvocationRecord:
        """The owner's invocation, as it is stored.

        Raises:
            Refusal: ``SKILL_INVOCATION_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return read_invocation(connection, invocation_id, owner).record

    def find(self, invocation_id: str) -> InvocationRecord | None:
        """An invocation of any owner."""
        with self._database.read() as connection:
            found = find_invocation(connection, invocation_id)
        return found.record if found is not None else None

    def page(
        self,
        owner: str,
        wanted: PageRequest,
        *,
        skill: str | None = None,
        status: InvocationStatus | None = None,
    ) -> tuple[tuple[InvocationView, ...], PageCounts]:
        """The owner's invocations, newest first."""
        where = [table.c.owner == owner]
        if skill is not None:
            where.append(table.c.skill == skill)
        if status is not None:
            where.append(table.c.status == status.value)
        with self._database.read() as connection:
            found = INVOCATIONS.page(connection, wanted, *where, order_by=_NEWEST_FIRST)
            views = tuple(view_of(connection, record) for record in found.documents)
        return views, found.counts

    def waiting(self, owner: str, now: datetime) -> tuple[tuple[InvocationView, dict[str, Any]], ...]:
        """The owner's invocations that wait for a person, newest first, each with the input that would be run."""
        waits = InvocationStatus.AWAITING_CONFIRMATION.value
        with self._database.read() as connection:
            found = INVOCATIONS.all(
                connection,
                table.c.owner == owner,
                table.c.status == waits,
                order_by=_NEWEST_FIRST,
                limit=200,
            )
            return tuple(
                (view_of(connection, one), json.loads(get_blob(connection, one.order.input_digest)))
                for one in found
                if one.expires_at is None or one.expires_at > now
            )

    def unstarted_orders(self, before: datetime) -> tuple[InvocationOrder, ...]:
        """The invocations that were let in before a time, wait for nobody, and were never begun; the oldest first."""
        with self._database.read() as connection:
            found = INVOCATIONS.all(
                connection,
                table.c.status == InvocationStatus.QUEUED.value,
                table.c.updated_at < rfc3339(before),
                order_by=(table.c.created_at, table.c.invocation_id),
                limit=200,
            )
        return tuple(record.order for record in found if not record.attempts)

    def open_orders(self) -> tuple[InvocationOrder, ...]:
        """The invocations that have not ended, of every owner, the oldest first."""
        with self._database.read() as connection:
            found = INVOCATIONS.all(
                connection,
                table.c.status.in_(OPEN_STATUSES),
                order_by=(table.c.created_at, table.c.invocation_id),
            )
        return tuple(record.order for record in found)
