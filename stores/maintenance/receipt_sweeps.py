"""The sweeps over receipts: whole months move into archive files, old checkpoint receipts become counts.

The journal keeps every entry (its chains are its proof); what changes is which file of the tree holds a line.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, insert, literal_column, select

from contracts.base import rfc3339
from contracts.learning.checkpoints import CheckpointVerificationReceipt
from contracts.maintenance.runs import CompactedAbility, CompactedCheckpointReceipts, SweepName
from domain.maintenance.retention import CHECKPOINT_RECEIPTS_KEPT, compact_checkpoint_receipts
from stores.maintenance.sweeps import LEFT_ALONE, Settled
from stores.mcp.dispatch.rows import USES
from stores.mcp.receipts import RECEIPTS as MCP_RECEIPTS
from stores.platform.canonical import document_bytes
from stores.platform.journal.journal import CHECKPOINT_RECEIPTS, RECEIPTS, TRACES
from stores.platform.projection.documents import put_document, read_document
from stores.platform.tables import journal, stream_archives

RECEIPTS_KEPT = timedelta(days=90)
"""How long a receipt or trace stays in the stream's own file, at least; whole months leave it."""

ROTATED = (RECEIPTS, MCP_RECEIPTS, USES, TRACES)
"""The streams whose whole months are archived."""

COMPACTED = "system/learning/checkpoint_receipts_compacted.json"
"""The counts of the checkpoint receipts that are not among the newest of their ability."""

ROTATE = "~rotate"
"""The last item of the checkpoint sweep; no ability id sorts behind it."""

SMALLEST_ARCHIVE = 100
"""Fewer checkpoint receipts than this are not worth a file."""


class RotateReceipts:
    """Lines of logs leave the stream's file for one archive a month, once all the month is 90 days old (DOC3 L4951).

    Learning receipts, receipts of tool servers, receipts of uses and execution traces; nothing is deleted.
    """

    name = SweepName.ROTATE_RECEIPTS
    batch = 1

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Months of streams, such as ``system/mcp/receipts 2026-08``, that have lines outside the archives."""
        whole = f"{(now - RECEIPTS_KEPT):%Y-%m}"
        # Literals: PostgreSQL does not see that two expressions with parameters are the same.
        month = func.substr(journal.c.created_at, literal_column("1"), literal_column("7"))
        found: list[str] = []
        for stream in sorted(ROTATED):
            query = (
                select(month)
                .where(
                    journal.c.stream == stream,
                    journal.c.seq > _archived_upto(connection, stream),
                    journal.c.created_at < whole,
                )
                .group_by(month)
                .order_by(month)
            )
            found += [f"{stream} {one}" for one in connection.scalars(query)]
        return [item for item in found if item > after][:limit]

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Archives one month of one stream."""
        stream, month = item.split(" ")
        first_after = connection.scalar(
            select(func.min(journal.c.seq)).where(
                journal.c.stream == stream, journal.c.created_at >= _month_after(month)
            )
        )
        folder, name = stream.rsplit("/", 1)
        return _archive(
            connection, stream, f"{folder}/archived/{name}/{month}.jsonl", first_after, now, at_least=1
        )


class CompactCheckpointReceipts:
    """Of each ability the newest 100 receipts stay whole; of older ones a document keeps the counts.

    The counts are worked out from the journal each time, so a second run changes nothing. The lines that no
    ability counts among its newest then leave the stream's file from its beginning.
    """

    name = SweepName.COMPACT_CHECKPOINT_RECEIPTS
    batch = 1

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """The abilities with more receipts than stay whole, then the rotation of the file."""
        if after == ROTATE:
            return []
        query = (
            select(journal.c.ability_id)
            .where(
                journal.c.stream == CHECKPOINT_RECEIPTS,
                journal.c.ability_id.is_not(None),
                journal.c.ability_id > after,
            )
            .group_by(journal.c.ability_id)
            .having(func.count() > CHECKPOINT_RECEIPTS_KEPT)
            .order_by(journal.c.ability_id)
            .limit(limit)
        )
        abilities: list[str] = [one for one in connection.scalars(query) if one is not None]
        return [*abilities, ROTATE] if len(abilities) < limit else abilities

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Counts one ability's older receipts, or rotates the file."""
        if item == ROTATE:
            return self._rotate(connection, now)
        bodies = connection.scalars(
            select(journal.c.document).where(
                journal.c.stream == CHECKPOINT_RECEIPTS, journal.c.ability_id == item
            )
        )
        compacted = compact_checkpoint_receipts(
            CheckpointVerificationReceipt.model_validate_json(body) for body in bodies
        )
        counted = CompactedAbility(
            counts=dict(compacted.counts), newest_counted_at=compacted.dropped[0].created_at
        )
        content = read_document(connection, "memory", COMPACTED)
        known = CompactedCheckpointReceipts.model_validate_json(content) if content else None
        abilities = dict(known.abilities) if known else {}
        if abilities.get(item) == counted:
            return LEFT_ALONE
        abilities[item] = counted
        put_document(
            connection, "memory", COMPACTED, document_bytes(CompactedCheckpointReceipts(abilities=abilities))
        )
        return Settled(done=True)

    def _rotate(self, connection: Connection, now: datetime) -> Settled:
        newest_first = func.row_number().over(
            partition_by=journal.c.ability_id, order_by=journal.c.seq.desc()
        )
        ranked = (
            select(journal.c.seq, newest_first.label("place"))
            .where(journal.c.stream == CHECKPOINT_RECEIPTS)
            .subquery()
        )
        oldest_whole = connection.scalar(
            select(func.min(ranked.c.seq)).where(ranked.c.place <= CHECKPOINT_RECEIPTS_KEPT)
        )
        archive = f"system/learning/archived/checkpoint_receipts/before-{oldest_whole or 0:012d}.jsonl"
        return _archive(
            connection, CHECKPOINT_RECEIPTS, archive, oldest_whole, now, at_least=SMALLEST_ARCHIVE
        )


def _archived_upto(connection: Connection, stream: str) -> int:
    query = select(func.max(stream_archives.c.upto_seq)).where(stream_archives.c.stream == stream)
    return connection.scalar(query) or 0


def _archive(
    connection: Connection, stream: str, archive: str, before: int | None, now: datetime, *, at_least: int
) -> Settled:
    """Gives the stream's lines with ``seq < before`` (all, when it is None) that no archive has to a new one."""
    lines = select(func.count(), func.max(journal.c.seq)).where(
        journal.c.stream == stream, journal.c.seq > _archived_upto(connection, stream)
    )
    count, upto = connection.execute(lines if before is None else lines.where(journal.c.seq < before)).one()
    if upto is None or count < at_least:
        return LEFT_ALONE
    connection.execute(
        insert(stream_archives).values(stream=stream, archive=archive, upto_seq=upto, created_at=rfc3339(now))
    )
    return Settled(done=True)


def _month_after(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04d}-{number % 12 + 1:02d}"
