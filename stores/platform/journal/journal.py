"""The journal: entries of named streams, numbered as a whole and hash-chained within each aggregate.

Builds, appends, filters and reads them, and the number below which nothing more appears. No lock is global: two
transactions wait for each other only when they write to the same aggregate.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Self

from pydantic import BaseModel
from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    RowMapping,
    bindparam,
    func,
    insert,
    select,
    text,
)
from uuid_utils import uuid7

from contracts.abilities.capability_health import CapabilityEvent, CapabilityEventName
from contracts.base import clipped, rfc3339
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind, LearnSessionEvent
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import insert_for, insert_or, mark_followed
from stores.platform.projection.documents import stream_path
from stores.platform.tables import journal, journal_heads

LIFECYCLE = "system/learning/lifecycle_events"
RECEIPTS = "system/learning/receipts"
EVENTS = "system/capabilities/events"
"""Events of capabilities and of skills (DOC3 L4620-4636)."""

_EVENTS_OF = {"mcp": "system/mcp/capability_events", "teach": "system/learning/capability_events"}
"""Those of tool servers and of teaching are beside what they tell of; teaching leaves nothing among capabilities."""

IMPORT_TRANSITIONS = "system/learning/import_transitions"
"""The states that skill imports went through (DOC3 L4363-4373)."""

TRACES = "system/capabilities/traces"
"""Execution traces of uses (DOC3 §1.1F)."""

CHECKPOINT_RECEIPTS = "system/learning/checkpoint_receipts"

GENESIS = "0" * 64
"""The previous hash of an aggregate's first entry, and of the first anchor."""

LINKED_COLUMNS = (
    "prev_hash",
    "seq",
    "stream",
    "aggregate",
    "aggregate_seq",
    "owner",
    "session_id",
    "proposal_id",
    "ability_id",
    "correlation_id",
    "created_at",
    "document",
)
"""Every column of an entry but its own hash, in the order in which they are hashed."""


@dataclass(frozen=True)
class JournalDraft:
    """An entry before the journal gave it a number.

    ``stream`` is the path of the JSONL file it is a line of, without the suffix. ``aggregate`` names the one
    thing whose history it belongs to (``session/…``, ``ability/…``): entries are chained within it.
    """

    stream: str
    aggregate: str
    owner: str
    correlation_id: str
    created_at: str
    document: Mapping[str, Any]
    session_id: str | None = None
    proposal_id: str | None = None
    ability_id: str | None = None


@dataclass(frozen=True)
class JournalEntry:
    """An entry as it was kept; ``seq`` numbers the whole journal, ``aggregate_seq`` one aggregate from 1."""

    seq: int
    stream: str
    aggregate: str
    aggregate_seq: int
    owner: str
    session_id: str | None
    proposal_id: str | None
    ability_id: str | None
    correlation_id: str
    created_at: str
    document: dict[str, Any]


def link_hash(row: Mapping[str, Any]) -> str:
    """The hash of an entry: SHA-256 over the canonical JSON of all other columns, the previous hash first."""
    return digest_of(canonical_json([row[column] for column in LINKED_COLUMNS]))


def anchor_hash(prev_hash: str, upto_seq: int, heads_hash: str, created_at: str) -> str:
    """The hash of an anchor, chained to the anchor before it."""
    return digest_of(canonical_json([prev_hash, upto_seq, heads_hash, created_at]))


def heads_hash(heads: Mapping[str, tuple[int, str]]) -> str:
    """One hash over ``aggregate → (aggregate_seq, hash)``, whatever the order they were met in."""
    return digest_of(canonical_json([[name, *heads[name]] for name in sorted(heads)]))


_ENTRY_COLUMNS = (
    journal.c.seq,
    journal.c.stream,
    journal.c.aggregate,
    journal.c.aggregate_seq,
    journal.c.owner,
    journal.c.session_id,
    journal.c.proposal_id,
    journal.c.ability_id,
    journal.c.correlation_id,
    journal.c.created_at,
    journal.c.document,
)


# Transaction ids wrap at 2^32; what lies less than 2^26 ahead of the oldest running one is newer than it.
_NEWEST_SETTLED = text(
    """
    SELECT seq FROM journal
    WHERE ((xmin::text::bigint - pg_snapshot_xmin(pg_current_snapshot())::text::bigint) & 4294967295)
        >= 67108864
    ORDER BY seq DESC LIMIT 1
    """
)


@dataclass(frozen=True)
class JournalFilter:
    """Which entries are meant: those that match everything that is given; nothing given means all."""

    streams: Sequence[str] = ()
    aggregate: str | None = None
    owner: str | None = None
    session_id: str | None = None
    proposal_id: str | None = None
    ability_id: str | None = None
    correlation_id: str | None = None


def read_entries(
    connection: Connection,
    wanted: JournalFilter,
    *,
    after: int = 0,
    upto: int | None = None,
    limit: int = 100,
    offset: int = 0,
    newest_first: bool = False,
) -> tuple[JournalEntry, ...]:
    """Entries with ``after < seq <= upto``, at most ``limit`` of them.

    A follower of the journal gives ``upto=safe_upper_bound(connection)``; a page need not.
    """
    query = select(*_ENTRY_COLUMNS).where(journal.c.seq > after, *_conditions(wanted))
    if upto is not None:
        query = query.where(journal.c.seq <= upto)
    order = journal.c.seq.desc() if newest_first else journal.c.seq
    rows = connection.execute(query.order_by(order).limit(limit).offset(offset))
    return tuple(_entry(row) for row in rows.mappings())


def read_stream(
    connection: Connection, stream: str, *, after: int = 0, upto: int | None = None, limit: int = 100
) -> tuple[JournalEntry, ...]:
    """The entries of one stream with ``after < seq <= upto``, oldest first, at most ``limit`` of them."""
    return read_entries(connection, JournalFilter(streams=(stream,)), after=after, upto=upto, limit=limit)


def count_entries(connection: Connection, wanted: JournalFilter) -> int:
    """How many entries match."""
    return connection.scalar(select(func.count()).select_from(journal).where(*_conditions(wanted))) or 0


def safe_upper_bound(connection: Connection) -> int:
    """The number up to which ``connection`` sees every entry there will ever be; 0 when it sees none.

    On PostgreSQL an entry with a lower number can commit after one with a higher: a reader that goes on
    from the highest number it saw would skip it. A transaction that runs elsewhere for long, and has written,
    holds the bound back.
    """
    if connection.dialect.name == "sqlite":
        return connection.scalar(select(func.max(journal.c.seq))) or 0
    return connection.scalar(_NEWEST_SETTLED) or 0


def _conditions(wanted: JournalFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if len(wanted.streams) == 1:
        conditions.append(journal.c.stream == wanted.streams[0])
    elif wanted.streams:
        conditions.append(journal.c.stream.in_(wanted.streams))
    for column in ("aggregate", "owner", "session_id", "proposal_id", "ability_id", "correlation_id"):
        value = getattr(wanted, column)
        if value is not None:
            conditions.append(journal.c[column] == value)
    return conditions


def _entry(row: RowMapping) -> JournalEntry:
    return JournalEntry(**{**row, "document": json.loads(row["document"])})


_NEXT_NUMBERS = text(
    "SELECT nextval(pg_get_serial_sequence('journal', 'seq')) FROM generate_series(1, :count) ORDER BY 1"
)
_HEADS_AND_LAST_NUMBER = """
    SELECT aggregate, aggregate_seq, hash FROM journal_heads WHERE aggregate {}
    UNION ALL SELECT NULL, seq, '' FROM sqlite_sequence WHERE name = 'journal'
    """
"""SQLite's writer is alone: it needs no locks, and knows what the next numbers will be."""

_OF_SEVERAL = text(_HEADS_AND_LAST_NUMBER.format("IN :aggregates")).bindparams(
    bindparam("aggregates", expanding=True)
)
_OF_ONE = text(_HEADS_AND_LAST_NUMBER.format("= :aggregate"))
"""As a rule there is one, and a list would be spelled out anew for each execution."""

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
    aggregates = sorted({draft.aggregate for draft in drafts})
    reserve = _next_of_sqlite if connection.dialect.name == "sqlite" else _next_of_postgres
    heads, numbers = reserve(connection, aggregates, len(drafts))
    rows = [_linked(draft, seq, heads) for draft, seq in zip(drafts, numbers, strict=True)]
    with _numbered_before(connection):
        connection.execute(_ENTRIES, rows)
        _move_heads(connection, heads)
    mark_followed(connection)
    return numbers


_Heads = dict[str, tuple[int, str]]


def _next_of_sqlite(
    connection: Connection, aggregates: list[str], count: int
) -> tuple[_Heads, tuple[int, ...]]:
    heads: _Heads = {name: (0, GENESIS) for name in aggregates}
    last = 0
    one = len(aggregates) == 1
    statement, asked = (
        (_OF_ONE, {"aggregate": aggregates[0]}) if one else (_OF_SEVERAL, {"aggregates": aggregates})
    )
    for row in connection.execute(statement, asked):
        if row.aggregate is None:
            last = row.aggregate_seq
        else:
            heads[row.aggregate] = (row.aggregate_seq, row.hash)
    return heads, tuple(range(last + 1, last + 1 + count))


def _next_of_postgres(
    connection: Connection, aggregates: list[str], count: int
) -> tuple[_Heads, tuple[int, ...]]:
    heads = _read_heads(connection, aggregates)
    missing = [name for name in aggregates if name not in heads]
    if missing:
        # The row is the lock, so the first entry of an aggregate needs one too; a rival's insert is waited for.
        connection.execute(
            insert_or(connection, journal_heads).on_conflict_do_nothing(),
            [{"aggregate": name, "aggregate_seq": 0, "hash": GENESIS} for name in missing],
        )
        heads |= _read_heads(connection, missing)
    return heads, tuple(connection.scalars(_NEXT_NUMBERS, {"count": count}))


def _read_heads(connection: Connection, aggregates: list[str]) -> _Heads:
    rows = connection.execute(_LOCKED_HEADS, {"aggregates": aggregates})
    return {row.aggregate: (row.aggregate_seq, row.hash) for row in rows}


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


@dataclass
class JournalEntries:
    """Collects the drafts of one change, which have aggregate, owner, correlation id, time and subjects in common."""

    aggregate: str
    owner: str
    correlation_id: str
    at: datetime
    session_id: str | None = None
    proposal_id: str | None = None
    ability_id: str | None = None
    import_id: str | None = None
    drafts: list[JournalDraft] = field(default_factory=list[JournalDraft])

    def draft(
        self, stream: str, document: BaseModel | Mapping[str, Any], ability_id: str | None = None
    ) -> JournalDraft:
        """One entry, not collected; fields of a model that are None are left out."""
        model = isinstance(document, BaseModel)
        return JournalDraft(
            stream=stream,
            aggregate=self.aggregate,
            owner=self.owner,
            correlation_id=self.correlation_id,
            created_at=rfc3339(self.at),
            document=document.model_dump(mode="json", exclude_none=True) if model else document,
            session_id=self.session_id,
            proposal_id=self.proposal_id,
            ability_id=ability_id or self.ability_id,
        )

    def add(
        self, stream: str, document: BaseModel | Mapping[str, Any], ability_id: str | None = None
    ) -> Self:
        """Collects one entry."""
        self.drafts.append(self.draft(stream, document, ability_id))
        return self

    def event(self, kind: str, payload: Mapping[str, Any], ability_id: str | None = None) -> Self:
        """Collects a lifecycle event of the session.

        Raises:
            ValidationError: there is no session.
        """
        event = LearnSessionEvent(
            event_kind=kind, session_id=self.session_id or "", payload=dict(payload), timestamp=self.at
        )
        return self.add(LIFECYCLE, event, ability_id)

    def capability_event(self, name: CapabilityEventName, **about: Any) -> Self:
        """Collects an event of capabilities (DOC3 L4620-4636); ``about`` are the fields of ``CapabilityEvent``."""
        event = CapabilityEvent(event=name, correlation_id=self.correlation_id, created_at=self.at, **about)
        return self.add(_EVENTS_OF.get(name.partition(".")[0], EVENTS), event)

    def receipt(
        self,
        kind: LearningReceiptKind,
        reason: str | None = None,
        ability_id: str | None = None,
        *,
        named: str | None = None,
    ) -> Self:
        """Collects a learning receipt (DOC3 §0C.12); ``reason`` is clipped, ``named`` is the ability it names."""
        receipt = LearningReceipt(
            receipt_id=str(uuid7()),
            learn_session_id=self.session_id,
            proposal_id=self.proposal_id,
            ability_id=named,
            import_id=self.import_id,
            event_kind=kind,
            reason=clipped(reason, 240) if reason is not None else None,
            correlation_id=self.correlation_id,
            created_at=self.at,
        )
        return self.add(RECEIPTS, receipt, ability_id)
