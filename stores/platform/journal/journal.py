"""Appends to the journal, which is numbered across all aggregates and hash-chained within each.

No lock is global: two transactions wait for each other only when they write to the same aggregate.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from sqlalchemy import Connection, Executable, bindparam, insert, select, text

from stores.platform.canonical import canonical_json
from stores.platform.database import insert_for, insert_or
from stores.platform.journal.chains import ChainFault, ChainReport, anchor, verify_chains
from stores.platform.journal.records import (
    GENESIS,
    JournalDraft,
    JournalEntry,
    JournalFilter,
    count_entries,
    link_hash,
    read_entries,
    read_stream,
    safe_upper_bound,
)
from stores.platform.projection.documents import stream_path
from stores.platform.tables import journal, journal_heads

__all__ = [
    "ChainFault",
    "ChainReport",
    "JournalDraft",
    "JournalEntry",
    "JournalFilter",
    "anchor",
    "append",
    "count_entries",
    "read_entries",
    "read_stream",
    "safe_upper_bound",
    "verify_chains",
]

_NEXT_NUMBERS = text(
    "SELECT nextval(pg_get_serial_sequence('journal', 'seq')) FROM generate_series(1, :count) ORDER BY 1"
)
_LAST_NUMBER = text("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")

_LOCKED_HEADS = (
    select(journal_heads.c.aggregate, journal_heads.c.aggregate_seq, journal_heads.c.hash)
    .where(journal_heads.c.aggregate.in_(bindparam("aggregates", expanding=True)))
    .order_by(journal_heads.c.aggregate)
    .with_for_update()
)
_ENTRIES = insert(journal)


def append(connection: Connection, drafts: Sequence[JournalDraft]) -> tuple[int, ...]:
    """Appends ``drafts`` in order and returns their numbers; durable with the caller's transaction.

    ``connection`` must be of ``Database.write``. On PostgreSQL a transaction that appends to an aggregate
    waits for another that did and has not ended; append to several aggregates in one call, not in several,
    and two transactions cannot wait for each other.

    Raises:
        InvalidTreePathError: a stream's name cannot be a path of the memory tree.
    """
    if not drafts:
        return ()
    for name in {draft.stream for draft in drafts}:
        stream_path(name)
    heads = _locked_heads(connection, sorted({draft.aggregate for draft in drafts}))
    numbers = _next_numbers(connection, len(drafts))
    rows = [_linked(draft, seq, heads) for draft, seq in zip(drafts, numbers, strict=True)]
    with _numbered_before(connection):
        connection.execute(_ENTRIES, rows)
        _move_heads(connection, heads)
    return numbers


def _locked_heads(connection: Connection, aggregates: list[str]) -> dict[str, tuple[int, str]]:
    known = _read_heads(connection, aggregates)
    missing = [name for name in aggregates if name not in known]
    if not missing:
        return known
    if connection.dialect.name == "sqlite":
        return known | {name: (0, GENESIS) for name in missing}
    # The row is the lock, so the first entry of an aggregate needs one too; a rival's insert is waited for.
    connection.execute(
        insert_or(connection, journal_heads).on_conflict_do_nothing(),
        [{"aggregate": name, "aggregate_seq": 0, "hash": GENESIS} for name in missing],
    )
    return known | _read_heads(connection, missing)


def _read_heads(connection: Connection, aggregates: list[str]) -> dict[str, tuple[int, str]]:
    rows = connection.execute(_LOCKED_HEADS, {"aggregates": aggregates})
    return {row.aggregate: (row.aggregate_seq, row.hash) for row in rows}


def _next_numbers(connection: Connection, count: int) -> tuple[int, ...]:
    if connection.dialect.name == "sqlite":
        last: int = connection.scalar(_LAST_NUMBER) or 0
        return tuple(range(last + 1, last + 1 + count))
    return tuple(connection.scalars(_NEXT_NUMBERS, {"count": count}))


def _numbered_before(connection: Connection) -> AbstractContextManager[object]:
    # On PostgreSQL the savepoint gives the rows a transaction id of their own, younger than that of any
    # transaction that took a lower number: each locked a head, and so had its id, before it took numbers.
    # Once no older id is running, no lower number can appear any more (safe_upper_bound).
    return nullcontext() if connection.dialect.name == "sqlite" else connection.begin_nested()


def _linked(draft: JournalDraft, seq: int, heads: dict[str, tuple[int, str]]) -> dict[str, Any]:
    aggregate_seq, prev_hash = heads[draft.aggregate]
    row: dict[str, Any] = {
        "seq": seq,
        "stream": draft.stream,
        "aggregate": draft.aggregate,
        "aggregate_seq": aggregate_seq + 1,
        "owner": draft.owner,
        "session_id": draft.session_id,
        "proposal_id": draft.proposal_id,
        "ability_id": draft.ability_id,
        "correlation_id": draft.correlation_id,
        "created_at": draft.created_at,
        "document": canonical_json(draft.document),
        "prev_hash": prev_hash,
    }
    row["hash"] = link_hash(row)
    heads[draft.aggregate] = (aggregate_seq + 1, row["hash"])
    return row


def _move_heads(connection: Connection, heads: dict[str, tuple[int, str]]) -> None:
    rows = [{"aggregate": name, "aggregate_seq": seq, "hash": hash_} for name, (seq, hash_) in heads.items()]
    connection.execute(_head_moves(connection.dialect.name), rows)


@cache
def _head_moves(dialect: str) -> Executable:
    statement = insert_for(dialect, journal_heads)
    return statement.on_conflict_do_update(
        index_elements=["aggregate"],
        set_={"aggregate_seq": statement.excluded.aggregate_seq, "hash": statement.excluded.hash},
    )
