"""The rows of tool calls: read, held, written with a compare-and-set on their version."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    AskFirstStatus,
    DispatchStatus,
    MCPAskFirstDispatchRecord,
)
from contracts.mcp.dispatch_record import DispatchRecord
from contracts.mcp.dispatch_work import AskFirstAnswer, DispatchStanding
from stores.canonical import canonical_json
from stores.mcp_tables import mcp_dispatches as table
from stores.mcp_tables import mcp_servers
from stores.upsert import insert_or

_OPEN = tuple(status.value for status in OPEN_DISPATCH_STATUSES)


@dataclass(frozen=True)
class KeptDispatch:
    """A call as its row has it."""

    record: DispatchRecord
    version: int

    def standing(self, *, notify: bool = False) -> DispatchStanding:
        """What its workflow has to know."""
        record = self.record
        waits = record.status is DispatchStatus.PENDING_APPROVAL and record.ask_first is not None
        return DispatchStanding(
            dispatch_id=record.dispatch_id,
            status=record.status,
            version=self.version,
            attempts=record.attempts,
            timeout_ms=record.order.timeout_ms,
            auth_profile_id=record.auth_profile_id,
            expires_at=record.ask_first.expires_at if waits and record.ask_first is not None else None,
            waits_until=record.waits_until,
            answer=_answer(record.ask_first),
            notify=notify and waits,
            watched=record.order.learn_session_id is not None,
            error_code=record.error_code,
            since=record.updated_at,
        )


def _answer(asked: MCPAskFirstDispatchRecord | None) -> AskFirstAnswer | None:
    if asked is None or asked.status is AskFirstStatus.PENDING:
        return None
    return AskFirstAnswer(status=asked.status, by=asked.approved_by, at=asked.decided_at or asked.updated_at)


def no_dispatch() -> Refusal:
    """The refusal for a call that is not there."""
    return Refusal(
        ErrorCode.MCP_DISPATCH_NOT_FOUND,
        "There is no such tool call of yours; list them with GET /api/mcp/dispatches.",
    )


def read_dispatch(connection: Connection, dispatch_id: str) -> KeptDispatch | None:
    """A call as it is."""
    return _kept(connection, select(table.c.version, table.c.body).where(table.c.dispatch_id == dispatch_id))


def find_dispatch(connection: Connection, dispatch_id: str) -> KeptDispatch | None:
    """A call, its row held to the end of a writing transaction."""
    query = select(table.c.version, table.c.body).where(table.c.dispatch_id == dispatch_id)
    return _kept(connection, query.with_for_update())


def _kept(connection: Connection, query: Select[Any, Any]) -> KeptDispatch | None:
    row = connection.execute(query).one_or_none()
    return KeptDispatch(DispatchRecord.model_validate_json(row.body), row.version) if row else None


def hold_dispatch(connection: Connection, dispatch_id: str) -> KeptDispatch:
    """As ``find_dispatch``.

    Raises:
        Refusal: ``MCP_DISPATCH_NOT_FOUND``.
    """
    kept = find_dispatch(connection, dispatch_id)
    if kept is None:
        raise no_dispatch()
    return kept


def add_dispatch(connection: Connection, record: DispatchRecord) -> KeptDispatch:
    """Writes the row of a new call; where it is there already, that one counts."""
    row = {"dispatch_id": record.dispatch_id, "version": 1, **_columns(record)}
    statement = insert_or(connection, table).values(row).on_conflict_do_nothing()
    written = connection.scalar(statement.returning(table.c.dispatch_id)) is not None
    return KeptDispatch(record, 1) if written else hold_dispatch(connection, record.dispatch_id)


def change_dispatch(connection: Connection, kept: KeptDispatch, changed: DispatchRecord) -> KeptDispatch:
    """Writes what has changed of a call, unless somebody else was first.

    Raises:
        Refusal: ``CONFLICT``.
    """
    written = connection.execute(
        update(table)
        .where(table.c.dispatch_id == changed.dispatch_id, table.c.version == kept.version)
        .values(version=kept.version + 1, **_columns(changed))
    )
    if written.rowcount != 1:
        raise Refusal(ErrorCode.CONFLICT, "The call has changed meanwhile; read it again.")
    return KeptDispatch(changed, kept.version + 1)


def open_count(connection: Connection, owner: str) -> int:
    """How many calls of a user run or wait."""
    query = select(func.count()).select_from(table).where(table.c.owner == owner, table.c.status.in_(_OPEN))
    return connection.scalar(query) or 0


def waiting_ids(
    connection: Connection,
    owner: str,
    *,
    server_id: str | None = None,
    tool_name: str | None = None,
    now: datetime,
    limit: int,
) -> tuple[str, ...]:
    """The calls of a user that wait for an approval and whose time has not run out, the oldest first."""
    query = select(table.c.dispatch_id).where(
        table.c.owner == owner,
        table.c.status == DispatchStatus.PENDING_APPROVAL.value,
        table.c.expires_at > rfc3339(now),
    )
    if server_id is not None:
        query = query.where(table.c.server_id == server_id)
    if tool_name is not None:
        query = query.where(table.c.tool_name == tool_name)
    return tuple(connection.scalars(query.order_by(table.c.created_at, table.c.dispatch_id).limit(limit)))


def resting_records(connection: Connection, server_id: str) -> Iterator[DispatchRecord]:
    """The calls of a server that rest before an attempt, the oldest first."""
    # A server is called by its owner alone, whose calls have an index.
    owner = select(mcp_servers.c.owner).where(mcp_servers.c.server_id == server_id).scalar_subquery()
    query = select(table.c.body).where(
        table.c.owner == owner,
        table.c.status == DispatchStatus.RUNNING.value,
        table.c.server_id == server_id,
    )
    for body in connection.scalars(query.order_by(table.c.created_at, table.c.dispatch_id)):
        record = DispatchRecord.model_validate_json(body)
        if record.waits_until is not None:
            yield record


def open_ids_of_ability(connection: Connection, ability_id: str, until: str | None = None) -> tuple[str, ...]:
    """The calls that run or wait on behalf of an ability, asked for until then, whoever asked for them."""
    query = select(table.c.dispatch_id).where(table.c.ability_id == ability_id, table.c.status.in_(_OPEN))
    if until is not None:
        query = query.where(table.c.created_at <= until)
    return tuple(connection.scalars(query.order_by(table.c.dispatch_id)))


def _columns(record: DispatchRecord) -> dict[str, Any]:
    order, ask_first = record.order, record.ask_first
    return {
        "owner": record.owner,
        "status": record.status.value,
        "server_id": order.server_id,
        "tool_name": order.tool_name,
        "ability_id": order.ability_id,
        "expires_at": rfc3339(ask_first.expires_at) if ask_first is not None else None,
        "created_at": rfc3339(order.created_at),
        "updated_at": rfc3339(record.updated_at),
        "completed_at": rfc3339(record.completed_at) if record.completed_at is not None else None,
        "body": canonical_json(record),
    }
