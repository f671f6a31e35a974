"""Proof that the journal is as it was written: chains, their heads, and anchors over the heads."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select

from contracts.base import rfc3339
from stores.platform.database import Database
from stores.platform.journal.journal import GENESIS, anchor_hash, heads_hash, link_hash, safe_upper_bound
from stores.platform.tables import journal, journal_anchors, journal_heads

_BATCH = 1_000


@dataclass(frozen=True)
class ChainFault:
    """The first place where the journal is not what was written.

    ``seq`` is the bad entry's number, or of the last good one before what is missing; None when none is left.
    """

    kind: str
    aggregate: str
    seq: int | None
    message: str


@dataclass(frozen=True)
class ChainReport:
    """What a check of the whole journal found; ``fault`` is None when every entry is as it was written."""

    entries: int
    aggregates: int
    anchors: int
    fault: ChainFault | None = None

    @property
    def intact(self) -> bool:
        """Whether nothing was changed, removed or cut off."""
        return self.fault is None


def anchor(database: Database, now: datetime) -> bool:
    """Chains one hash over the heads of every aggregate that moved since the last anchor.

    An anchor makes a cut at the journal's end visible even when the heads were changed to match. Returns
    False, and writes nothing, when no entry came since. Call it now and then, not with every entry.
    """
    with database.read() as connection:
        bound = safe_upper_bound(connection)
        if bound <= _last_anchor(connection)[0]:
            return False
    with database.write() as connection:
        # Two that anchor at once: the second one to get here sees the first one's anchor.
        if connection.dialect.name != "sqlite":
            connection.exec_driver_sql("LOCK TABLE journal_anchors IN EXCLUSIVE MODE")
        since, prev_hash = _last_anchor(connection)
        if bound <= since:
            return False
        row: dict[str, Any] = {
            "upto_seq": bound,
            "heads_hash": heads_hash(_moved_heads(connection, since, bound)),
            "prev_hash": prev_hash,
            "created_at": rfc3339(now),
        }
        row["hash"] = anchor_hash(prev_hash, bound, row["heads_hash"], row["created_at"])
        connection.execute(insert(journal_anchors), row)
    return True


def verify_chains(database: Database) -> ChainReport:
    """Reads the whole journal once and names the first entry that was edited, removed or cut off."""
    with database.read() as connection:
        check = _ChainCheck(connection)
        with closing(check.faults()) as faults:
            fault = next(faults, None)
        return ChainReport(check.entries, len(check.heads), check.anchors, fault)


class _ChainCheck:
    """One pass over the journal in the order of its numbers."""

    def __init__(self, connection: Connection) -> None:
        self.entries = 0
        self.anchors = 0
        self.heads: dict[str, tuple[int, str]] = {}
        self._seqs: dict[str, int] = {}
        self._moved: dict[str, tuple[int, str]] = {}
        self._connection = connection

    def faults(self) -> Generator[ChainFault]:
        """Everything that is wrong, in the order of the journal's numbers."""
        anchors = list(
            self._connection.execute(select(journal_anchors).order_by(journal_anchors.c.anchor_id)).mappings()
        )
        yield from self._anchor_chain_faults(anchors)
        pending = iter(anchors)
        due = next(pending, None)
        everything = select(journal).order_by(journal.c.seq).execution_options(yield_per=_BATCH)
        with self._connection.execute(everything) as rows:
            for row in rows.mappings():
                while due is not None and row["seq"] > due["upto_seq"]:
                    yield from self._anchor_faults(due)
                    due = next(pending, None)
                yield from self._entry_faults(row)
        while due is not None:
            yield from self._anchor_faults(due)
            due = next(pending, None)
        yield from self._head_faults()

    def _entry_faults(self, row: RowMapping) -> Iterator[ChainFault]:
        aggregate, seq = row["aggregate"], row["seq"]
        length, head = self.heads.get(aggregate, (0, GENESIS))
        where = f"entry {seq} ({aggregate} number {row['aggregate_seq']})"
        if link_hash(dict(row)) != row["hash"]:
            yield ChainFault("edited", aggregate, seq, f"{where} was changed after it was written")
        if row["aggregate_seq"] != length + 1 or row["prev_hash"] != head:
            message = f"before {where} number {length + 1} of its aggregate was removed or replaced"
            yield ChainFault("removed", aggregate, seq, message)
        self.entries += 1
        self.heads[aggregate] = self._moved[aggregate] = (row["aggregate_seq"], row["hash"])
        self._seqs[aggregate] = seq

    def _anchor_chain_faults(self, anchors: list[RowMapping]) -> Iterator[ChainFault]:
        prev_hash = GENESIS
        for row in anchors:
            expected = anchor_hash(prev_hash, row["upto_seq"], row["heads_hash"], row["created_at"])
            if row["prev_hash"] != prev_hash or row["hash"] != expected:
                message = f"anchor {row['anchor_id']} was changed, or the one before it removed"
                yield ChainFault("anchor", "", row["upto_seq"], message)
            prev_hash = row["hash"]

    def _anchor_faults(self, row: RowMapping) -> Iterator[ChainFault]:
        if heads_hash(self._moved) != row["heads_hash"]:
            message = (
                f"the entries up to {row['upto_seq']} are not those anchored at {row['created_at']}:"
                " an aggregate's newest entries were removed or rewritten"
            )
            yield ChainFault("truncated", "", row["upto_seq"], message)
        self.anchors += 1
        self._moved = {}

    def _head_faults(self) -> Iterator[ChainFault]:
        kept: Mapping[str, tuple[int, str]] = {
            row.aggregate: (row.aggregate_seq, row.hash)
            for row in self._connection.execute(select(journal_heads))
        }
        for aggregate in sorted(kept.keys() | self.heads.keys()):
            expected, found = kept.get(aggregate, (0, GENESIS)), self.heads.get(aggregate, (0, GENESIS))
            if expected == found:
                continue
            last = self._seqs.get(aggregate)
            if expected[0] > found[0]:
                message = f"{aggregate} had {expected[0]} entries and has {found[0]}: its end was cut off"
                yield ChainFault("truncated", aggregate, last, message)
            message = f"the head kept of {aggregate} is not its last entry, number {found[0]}"
            yield ChainFault("head", aggregate, last, message)


def _last_anchor(connection: Connection) -> tuple[int, str]:
    newest = (
        select(journal_anchors.c.upto_seq, journal_anchors.c.hash)
        .order_by(journal_anchors.c.anchor_id.desc())
        .limit(1)
    )
    row = connection.execute(newest).first()
    return (row.upto_seq, row.hash) if row else (0, GENESIS)


def _moved_heads(connection: Connection, since: int, upto: int) -> dict[str, tuple[int, str]]:
    columns: tuple[Any, ...] = (journal.c.aggregate, journal.c.aggregate_seq, journal.c.hash)
    rows = connection.execute(
        select(*columns).where(journal.c.seq > since, journal.c.seq <= upto).order_by(journal.c.seq)
    )
    return {row.aggregate: (row.aggregate_seq, row.hash) for row in rows}
