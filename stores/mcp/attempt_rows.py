"""The rows of attempts: one a try of a call, written before it is sent and when it has answered.

After a crash the row says whether there may be an effect.
"""

from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, select, update

from contracts.base import rfc3339
from contracts.mcp.tool_call import ToolFailure, ToolFailureKind
from stores.blobs import get_blob, put_blob
from stores.canonical import canonical_json
from stores.mcp_tables import mcp_call_attempts as table
from stores.upsert import insert_or

INLINE_BYTES = 32_768
"""An answer up to this size is kept in the attempt's row; a larger one as a blob."""

SENDING, ANSWERED, FAILED = "sending", "answered", "failed"

CLOSED = "closed"
"""It was never sent, and may not be any more."""

LOST = "lost"
"""It was sent, and given up unheard."""


def stage_of(connection: Connection, dispatch_id: str, attempt: int) -> str | None:
    """How far an attempt has come; ``None`` before it is sent."""
    query = select(table.c.stage).where(table.c.dispatch_id == dispatch_id, table.c.attempt == attempt)
    return connection.scalar(query)


def unheard_attempt(connection: Connection, dispatch_id: str) -> int | None:
    """The attempt that was sent and of which nothing is known, if there is one."""
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


def lose_attempt(connection: Connection, dispatch_id: str, attempt: int, now: datetime) -> None:
    """Gives up an attempt that was sent: what it answers later changes nothing."""
    connection.execute(
        update(table)
        .where(table.c.dispatch_id == dispatch_id, table.c.attempt == attempt, table.c.stage == SENDING)
        .values(stage=LOST, ended_at=rfc3339(now))
    )


def kept_answer(connection: Connection, body: str, now: datetime) -> str:
    """What a row holds of an answer: itself, or where it is."""
    content = body.encode()
    if len(content) <= INLINE_BYTES:
        return body
    return canonical_json({"blob": put_blob(connection, content, now)})


def kept_failure(failure: ToolFailure) -> str:
    """What a row holds of a failure."""
    return canonical_json(failure.model_dump(mode="json", exclude_none=True))


def told_when(connection: Connection, dispatch_id: str, attempt: int) -> bool:
    """Whether the server answered that attempt with when to come back."""
    query = select(table.c.answer).where(
        table.c.dispatch_id == dispatch_id, table.c.attempt == attempt, table.c.stage == FAILED
    )
    told = connection.scalar(query)
    return told is not None and orjson.loads(told).get("retry_after_ms") is not None


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
    told = [orjson.loads(answer) for answer in connection.scalars(query) if answer]
    return sum(one.get("kind") == ToolFailureKind.AUTH_REQUIRED.value for one in told)
