"""The rows of call attempts, written before a call is sent and after the answer; the plan of an attempt.

After a crash the row shows whether the call may have had an effect.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, or_, select, update

from contracts.base import rfc3339
from contracts.errors import Refusal
from contracts.mcp.dispatch import DispatchCaller, DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, DispatchRecord
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, ToolCall, ToolFailure, ToolFailureKind
from domain.mcp.health import Admission, admission
from stores.mcp.dispatch.argument_rows import arguments_of
from stores.mcp.mcp_tables import mcp_call_attempts as table
from stores.mcp.servers.callee import callee_of
from stores.platform.blobs import get_blob, put_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import insert_or

INLINE_BYTES = 32_768
"""An answer up to this size is kept in the attempt's row; a larger one as a blob."""

SENDING, ANSWERED, FAILED = "sending", "answered", "failed"

CLOSED = "closed"
"""It was never sent, and must not be sent any more."""

LOST = "lost"
"""It was sent and abandoned without an answer."""


def stage_of(connection: Connection, dispatch_id: str, attempt: int) -> str | None:
    """How far an attempt has come; ``None`` before it is sent."""
    query = select(table.c.stage).where(table.c.dispatch_id == dispatch_id, table.c.attempt == attempt)
    return connection.scalar(query)


def may_be_sent(connection: Connection, dispatch_id: str, attempt: int) -> bool:
    """Whether this attempt was not made yet, and no other waits for its outcome."""
    of = {"of_dispatch": dispatch_id, "of_attempt": attempt}
    return connection.scalar(_THIS_OR_UNANSWERED, of) is None


_THIS_OR_UNANSWERED = (
    select(table.c.attempt)
    .where(
        table.c.dispatch_id == bindparam("of_dispatch"),
        or_(table.c.attempt == bindparam("of_attempt"), table.c.stage == SENDING),
    )
    .limit(1)
)


def unanswered_attempt(connection: Connection, dispatch_id: str) -> int | None:
    """The attempt that was sent and has no outcome yet, if there is one."""
    query = select(table.c.attempt).where(table.c.dispatch_id == dispatch_id, table.c.stage == SENDING)
    return connection.scalar(query)


def add_attempt(connection: Connection, dispatch_id: str, attempt: int, stage: str, now: datetime) -> bool:
    """Writes an attempt's row; false where it has one."""
    row = {"dispatch_id": dispatch_id, "attempt": attempt, "stage": stage, "started_at": rfc3339(now)}
    statement = insert_or(connection, table).values(row).on_conflict_do_nothing()
    return connection.scalar(statement.returning(table.c.attempt)) is not None


def end_attempt(
    connection: Connection, dispatch_id: str, attempt: int, stage: str, now: datetime, answer: str | None
) -> bool:
    """Writes how an attempt ended, sent or not; false where it was given up before."""
    ended = {"stage": stage, "ended_at": rfc3339(now), "answer": answer}
    row = {"dispatch_id": dispatch_id, "attempt": attempt, "started_at": rfc3339(now), **ended}
    statement = (
        insert_or(connection, table)
        .values(row)
        .on_conflict_do_update(
            index_elements=[table.c.dispatch_id, table.c.attempt],
            set_=ended,
            where=table.c.stage == SENDING,
        )
    )
    return connection.scalar(statement.returning(table.c.attempt)) is not None


def abandon_attempt(connection: Connection, dispatch_id: str, attempt: int, now: datetime) -> None:
    """Abandons an attempt that was sent: a later answer changes nothing."""
    connection.execute(
        update(table)
        .where(table.c.dispatch_id == dispatch_id, table.c.attempt == attempt, table.c.stage == SENDING)
        .values(stage=LOST, ended_at=rfc3339(now))
    )


def stored_answer(connection: Connection, body: str, now: datetime) -> str:
    """The stored form of an answer: inline, or a reference to its blob."""
    content = body.encode()
    if len(content) <= INLINE_BYTES:
        return body
    return canonical_json({"blob": put_blob(connection, content, now)})


def stored_failure(failure: ToolFailure) -> str:
    """What a row holds of a failure."""
    return canonical_json(failure.model_dump(mode="json", exclude_none=True))


def has_retry_after(connection: Connection, dispatch_id: str, attempt: int) -> bool:
    """Whether the server answered that attempt with a Retry-After."""
    query = select(table.c.answer).where(
        table.c.dispatch_id == dispatch_id, table.c.attempt == attempt, table.c.stage == FAILED
    )
    answer = connection.scalar(query)
    return answer is not None and orjson.loads(answer).get("retry_after_ms") is not None


def newest_answer(connection: Connection, dispatch_id: str) -> dict[str, Any] | None:
    """What the tool answered, if it has."""
    query = (
        select(table.c.answer)
        .where(table.c.dispatch_id == dispatch_id, table.c.stage == ANSWERED)
        .order_by(table.c.attempt.desc())
        .limit(1)
    )
    stored = connection.scalar(query)
    if stored is None:
        return None
    answer: dict[str, Any] = orjson.loads(stored)
    return orjson.loads(get_blob(connection, answer["blob"])) if set(answer) == {"blob"} else answer


def sign_in_refusals(connection: Connection, dispatch_id: str) -> int:
    """How often the server refused this call's sign-in."""
    query = select(table.c.answer).where(table.c.dispatch_id == dispatch_id, table.c.stage == FAILED)
    failures = [orjson.loads(answer) for answer in connection.scalars(query) if answer]
    return sum(one.get("kind") == ToolFailureKind.AUTH_REQUIRED.value for one in failures)


class AttemptClosed(Exception):
    """This attempt was closed by an inspection: it must not be sent any more."""


class PlanOutdated(Exception):
    """The server was changed since the plan was made: make another."""


class Stopped(Exception):
    """The call may not be made; nothing was sent."""

    def __init__(self, end: CallEnd) -> None:
        super().__init__(end.standing.status.value)
        self.end = end


@dataclass(frozen=True)
class CallPlan:
    """An attempt that is about to be made."""

    record: DispatchRecord
    server: MCPServerRegistryEntry
    call: ToolCall
    lease: datetime | None = None
    """The exclusive lease on a half-open server."""


def plan_of(
    connection: Connection,
    record: DispatchRecord,
    server: MCPServerRegistryEntry,
    tool: MCPTool,
    lease: datetime | None,
) -> CallPlan:
    """The plan of a call that may be made now."""
    return CallPlan(
        record,
        server,
        ToolCall(
            tool_name=record.order.tool_name,
            arguments=arguments_of(connection, record),
            definition_hash=tool.definition_hash,
            output_schema=tool.definition.output_schema,
            timeout_ms=record.order.timeout_ms,
            idempotency_key=record.dispatch_id,
            party=_party(record.order.caller),
        ),
        lease,
    )


def plan_ahead(
    connection: Connection,
    record: DispatchRecord,
    now: datetime,
    planned: Callable[[CallPlan], object] | None,
) -> None:
    """Gives ``planned`` what is to be sent of a call that runs, where its server is enabled and well.

    Policy is asked when the call is sent (``DispatchAttempts.begin``), and by whoever lets it pass.
    """
    order = record.order
    if planned is None or record.status is not DispatchStatus.RUNNING or record.attempts:
        return
    try:
        callee = callee_of(connection, order.server_id, order.tool_name, record.owner)
    except Refusal:
        return
    if (
        callee.tool is None
        or not callee.server.enabled
        or admission(callee.health, now) is not Admission.OPEN
    ):
        return
    planned(plan_of(connection, record, callee.server, callee.tool, None))


def _party(caller: DispatchCaller) -> str:
    """The identity under which a server may correlate calls: one token, in one session of its agent."""
    return f"{caller.token_id}/{caller.session_ref or ''}"
