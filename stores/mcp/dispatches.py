"""Reading tool calls: one, a page of them, and those that wait for a person."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import Connection, select

from contracts.base import rfc3339
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    AskFirstStatus,
    DispatchListResponse,
    DispatchStatus,
    DispatchView,
    MCPAskFirstPendingListResponse,
)
from contracts.mcp.dispatch_record import DispatchOrder, DispatchRecord
from domain.mcp.ask_first import answers_taken, as_of
from stores.blobs import BlobNotFoundError, get_blob
from stores.database import Database
from stores.mcp.attempt_rows import newest_answer
from stores.mcp.dispatch_rows import (
    KeptDispatch,
    no_dispatch,
    read_dispatch,
    waiting_ids,
)
from stores.mcp.m365_operations import typed_answer
from stores.mcp_tables import mcp_dispatches as table
from stores.paging import PageRequest, fetch_page

SHOWN_AFTER_EXPIRY = timedelta(hours=24)
"""How long an approval that nobody gave is still listed among those that wait."""

MOST_PENDING = 500
"""The most approvals in one answer."""

LinkOf = Callable[[str], str | None]
"""The page of a call's workflow in the Temporal UI, where its address is known."""


class DispatchStore:
    """Calls as people see them. Safe to share between threads."""

    def __init__(self, database: Database, link_of: LinkOf = lambda _: None) -> None:
        self._database = database
        self._link_of = link_of

    def owned(self, dispatch_id: str, owner: str) -> KeptDispatch:
        """One of the owner's calls.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``.
        """
        found = self.find(dispatch_id)
        if found is None or found.record.owner != owner:
            raise no_dispatch()
        return found

    def find(self, dispatch_id: str) -> KeptDispatch | None:
        """A call, whoever asked for it."""
        with self._database.read() as connection:
            return read_dispatch(connection, dispatch_id)

    def view(self, dispatch_id: str, owner: str, now: datetime) -> DispatchView:
        """One of the owner's calls with what was asked and what was answered.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``.
        """
        with self._database.read() as connection:
            found = read_dispatch(connection, dispatch_id)
            if found is None or found.record.owner != owner:
                raise no_dispatch()
            arguments = _arguments(connection, found.record)
            done = found.record.status is DispatchStatus.COMPLETED
            result = newest_answer(connection, dispatch_id) if done else None
            m365 = typed_answer(connection, found.record, arguments, result)
        return self._shown(found.record, now).model_copy(
            update={"arguments": arguments, "result": result, "m365": m365}
        )

    def list_for(
        self,
        owner: str,
        wanted: PageRequest,
        now: datetime,
        *,
        status: DispatchStatus | None = None,
        server_id: str | None = None,
        tool_name: str | None = None,
    ) -> DispatchListResponse:
        """The owner's calls, newest first, without what was asked and answered."""
        query = select(table.c.body).where(table.c.owner == owner)
        if status is not None:
            query = query.where(table.c.status == status.value)
        if server_id is not None:
            query = query.where(table.c.server_id == server_id)
        if tool_name is not None:
            query = query.where(table.c.tool_name == tool_name)
        query = query.order_by(table.c.created_at.desc(), table.c.dispatch_id.desc())
        with self._database.read() as connection:
            page = fetch_page(connection, query, wanted)
        return DispatchListResponse(
            dispatches=tuple(
                self._shown(DispatchRecord.model_validate_json(row.body), now) for row in page.rows
            ),
            total=page.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def pending(self, owner: str, now: datetime) -> MCPAskFirstPendingListResponse:
        """The approvals that wait, and those that expired within a day, newest first."""
        waiting, expired = DispatchStatus.PENDING_APPROVAL.value, DispatchStatus.EXPIRED.value
        query = (
            select(table.c.body)
            .where(
                table.c.owner == owner,
                table.c.status.in_((waiting, expired)),
                (table.c.status == waiting) | (table.c.expires_at > rfc3339(now - SHOWN_AFTER_EXPIRY)),
            )
            .order_by(table.c.created_at.desc(), table.c.dispatch_id.desc())
            .limit(MOST_PENDING)
        )
        with self._database.read() as connection:
            records = [DispatchRecord.model_validate_json(body) for body in connection.scalars(query)]
        return MCPAskFirstPendingListResponse(
            dispatches=tuple(as_of(one.ask_first, now) for one in records if one.ask_first is not None)
        )

    def waiting(
        self, owner: str, now: datetime, *, server_id: str | None = None, tool_name: str | None = None
    ) -> tuple[str, ...]:
        """The ids of the owner's calls that wait for an approval, the oldest first."""
        with self._database.read() as connection:
            return waiting_ids(
                connection, owner, server_id=server_id, tool_name=tool_name, now=now, limit=100_000
            )

    def open_orders(self) -> tuple[DispatchOrder, ...]:
        """Every call that runs or waits, whoever asked for it."""
        open_ones = [status.value for status in OPEN_DISPATCH_STATUSES]
        query = select(table.c.body).where(table.c.status.in_(open_ones)).order_by(table.c.dispatch_id)
        with self._database.read() as connection:
            bodies = connection.scalars(query).all()
        return tuple(DispatchRecord.model_validate_json(body).order for body in bodies)

    def _shown(self, record: DispatchRecord, now: datetime) -> DispatchView:
        order = record.order
        ask_first = as_of(record.ask_first, now) if record.ask_first is not None else None
        overdue = record.status is DispatchStatus.PENDING_APPROVAL and (
            ask_first is not None and ask_first.status is AskFirstStatus.EXPIRED
        )
        return DispatchView(
            dispatch_id=order.dispatch_id,
            correlation_id=order.correlation_id,
            status=DispatchStatus.EXPIRED if overdue else record.status,
            server_id=order.server_id,
            tool_name=order.tool_name,
            caller=order.caller,
            request_summary=order.request_summary,
            arguments_digest=record.arguments_digest,
            project_id=order.project_id,
            data_class=order.data_class,
            learn_session_id=order.learn_session_id,
            ability_id=order.ability_id,
            verdict=record.verdict,
            ask_first=ask_first,
            answers=answers_taken(record, now),
            attempts=record.attempts,
            is_error=record.is_error,
            result_digest=record.result_digest,
            error_code=record.error_code,
            error_message=record.error_message,
            next_action=record.next_action,
            waits_until=record.waits_until,
            identity_asserted_kind=record.identity_asserted_kind,
            identity_asserted_ref=record.identity_asserted_ref,
            receipt_id=record.receipt_id,
            temporal_url=self._link_of(f"mcp-dispatch/{order.dispatch_id}"),
            created_at=order.created_at,
            updated_at=record.updated_at,
            completed_at=record.completed_at,
        )


def _arguments(connection: Connection, record: DispatchRecord) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = orjson.loads(get_blob(connection, record.arguments_digest))
    except BlobNotFoundError:
        return None
    return found
