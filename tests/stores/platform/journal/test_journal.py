import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, delete, func, select, text, update

from stores.platform.database import Database
from stores.platform.journal.chains import anchor, verify_chains
from stores.platform.journal.journal import (
    GENESIS,
    JournalFilter,
    append,
    count_entries,
    heads_hash,
    link_hash,
    read_entries,
    read_stream,
    safe_upper_bound,
)
from stores.platform.projection.documents import InvalidTreePathError
from stores.platform.tables import journal, journal_anchors, journal_heads
from tests.stores.platform.journal_drafts import CHECKPOINTS, RECEIPTS, draft

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def _append(store: Database, *drafts) -> tuple[int, ...]:
    with store.write() as connection:
        return append(connection, drafts)


def _three_sessions(store: Database) -> None:
    for number in range(12):
        _append(store, draft(number, aggregate=f"session/{number % 3}"))


def test_entries_get_rising_numbers_in_the_order_of_their_drafts(store: Database) -> None:
    first = _append(store, draft(1), draft(2, aggregate="session/2"), draft(3))
    second = _append(store, draft(4))
    assert list(first + second) == sorted(set(first + second))
    with store.read() as connection:
        entries = read_stream(connection, RECEIPTS)
    assert [(entry.seq, entry.document["number"]) for entry in entries] == list(
        zip(first + second, [1, 2, 3, 4], strict=True)
    )


def test_nothing_to_append_gives_no_number_and_no_entry(store: Database) -> None:
    assert _append(store) == ()
    assert verify_chains(store).entries == 0


def test_an_entry_is_linked_to_the_one_before_it_in_its_aggregate_alone(store: Database) -> None:
    _append(store, draft(1, aggregate="a"), draft(2, aggregate="b"), draft(3, aggregate="a"))
    with store.read() as connection:
        rows = [dict(row) for row in connection.execute(select(journal).order_by(journal.c.seq)).mappings()]
    assert [row["prev_hash"] for row in rows] == [GENESIS, GENESIS, rows[0]["hash"]]
    assert [row["aggregate_seq"] for row in rows] == [1, 1, 2]
    assert all(link_hash(row) == row["hash"] for row in rows)


def test_what_was_rolled_back_leaves_neither_entry_nor_head(store: Database) -> None:
    _append(store, draft(1))

    def fail_after_appending() -> None:
        with store.write() as connection:
            append(connection, [draft(2), draft(3, aggregate="new")])
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail_after_appending()
    _append(store, draft(4))
    report = verify_chains(store)
    assert (report.intact, report.entries, report.aggregates) == (True, 2, 1)


def test_a_stream_that_cannot_be_a_file_of_the_tree_is_refused(store: Database) -> None:
    for stream in ("../outside", "/etc/passwd", "receipts.jsonl", "a\nb", ""):
        with pytest.raises(InvalidTreePathError):
            _append(store, draft(1, stream=stream))
    assert verify_chains(store).entries == 0


def test_threads_that_append_to_the_same_aggregates_make_one_unbroken_chain(store: Database) -> None:
    start = threading.Barrier(6)

    def work(worker: int) -> None:
        start.wait()
        for number in range(15):
            _append(store, draft(number, aggregate="shared"), draft(number, aggregate=f"own/{worker}"))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = verify_chains(store)
    assert report.fault is None
    assert (report.entries, report.aggregates) == (180, 7)
    with store.read() as connection:
        shared = read_entries(connection, JournalFilter(aggregate="shared"), limit=200)
    assert [entry.aggregate_seq for entry in shared] == list(range(1, 91))


def test_a_filter_finds_what_matches_everything_it_names(store: Database) -> None:
    _append(
        store,
        draft(1, owner="olga", session_id="s1"),
        draft(2, owner="olga", session_id="s2"),
        draft(3, owner="piet", session_id="s1"),
        draft(4, owner="olga", session_id="s1", stream=CHECKPOINTS),
    )

    def numbers(wanted: JournalFilter, **options) -> list[int]:
        with store.read() as connection:
            return [e.document["number"] for e in read_entries(connection, wanted, **options)]

    assert numbers(JournalFilter(owner="olga", session_id="s1")) == [1, 4]
    assert numbers(JournalFilter(streams=(RECEIPTS,), session_id="s1")) == [1, 3]
    assert numbers(JournalFilter(streams=(RECEIPTS, CHECKPOINTS)), newest_first=True, limit=2) == [4, 3]
    assert numbers(JournalFilter(), newest_first=True, limit=2, offset=2) == [2, 1]
    assert numbers(JournalFilter(), after=1, upto=3) == [2, 3]
    with store.read() as connection:
        assert count_entries(connection, JournalFilter(owner="olga")) == 3


def test_the_safe_bound_is_the_newest_entry_when_nobody_writes(store: Database) -> None:
    with store.read() as connection:
        assert safe_upper_bound(connection) == 0
    numbers = _append(store, draft(1), draft(2))
    with store.read() as connection:
        assert safe_upper_bound(connection) == numbers[-1]


def test_an_intact_journal_is_reported_intact_with_its_counts(store: Database) -> None:
    _three_sessions(store)
    assert anchor(store, NOW)
    report = verify_chains(store)
    assert report.intact
    assert (report.entries, report.aggregates, report.anchors) == (12, 3, 1)


def test_anchoring_again_without_new_entries_writes_nothing(store: Database) -> None:
    assert not anchor(store, NOW)
    _append(store, draft(1))
    assert anchor(store, NOW)
    assert not anchor(store, NOW)
    with store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(journal_anchors)) == 1


def _seq_of(connection: Connection, number: int) -> int:
    seqs = connection.scalars(select(journal.c.seq).order_by(journal.c.seq)).all()
    return seqs[number]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("document", '{"number":99}'),
        ("owner", "mallory"),
        ("created_at", "2020-01-01T00:00:00.000000Z"),
        ("stream", CHECKPOINTS),
        ("session_id", "other"),
        ("hash", "f" * 64),
    ],
)
def test_an_edited_entry_is_named(sqlite_store: Database, column: str, value: str) -> None:
    _three_sessions(sqlite_store)
    with sqlite_store.write() as connection:
        seq = _seq_of(connection, 5)
        connection.execute(update(journal).where(journal.c.seq == seq).values({column: value}))
    fault = verify_chains(sqlite_store).fault
    assert fault is not None
    assert (fault.kind, fault.seq, fault.aggregate) == ("edited", seq, "session/2")


def test_a_removed_entry_is_named_by_the_next_one_of_its_aggregate(store: Database) -> None:
    _three_sessions(store)
    with store.write() as connection:
        connection.execute(delete(journal).where(journal.c.seq == _seq_of(connection, 4)))
        following = _seq_of(connection, 6)
    fault = verify_chains(store).fault
    assert fault is not None
    assert (fault.kind, fault.seq, fault.aggregate) == ("removed", following, "session/1")


def test_a_cut_at_the_end_is_seen_by_the_heads(store: Database) -> None:
    _three_sessions(store)
    with store.write() as connection:
        connection.execute(delete(journal).where(journal.c.seq >= _seq_of(connection, 10)))
        last = _seq_of(connection, 7)
    fault = verify_chains(store).fault
    assert fault is not None
    assert (fault.kind, fault.aggregate, fault.seq) == ("truncated", "session/1", last)


def test_a_cut_that_also_moved_the_heads_is_seen_by_the_anchors(store: Database) -> None:
    _three_sessions(store)
    anchor(store, NOW)
    _append(store, draft(20))
    anchor(store, NOW)
    with store.write() as connection:
        last = _seq_of(connection, 11)
        connection.execute(delete(journal).where(journal.c.seq == last))
        rest = connection.execute(select(journal).where(journal.c.aggregate == "session/2")).all()[-1]
        connection.execute(
            update(journal_heads)
            .where(journal_heads.c.aggregate == "session/2")
            .values(aggregate_seq=rest.aggregate_seq, hash=rest.hash)
        )
    fault = verify_chains(store).fault
    assert fault is not None
    assert (fault.kind, fault.seq) == ("truncated", last)


def test_a_whole_aggregate_rewritten_with_fitting_hashes_is_seen_by_the_anchors(store: Database) -> None:
    _append(store, draft(1))
    anchor(store, NOW)
    with store.write() as connection:
        row = dict(connection.execute(select(journal)).mappings().one())
        forged = row | {"document": '{"number":2}'}
        forged["hash"] = link_hash(forged)
        connection.execute(update(journal).values(document=forged["document"], hash=forged["hash"]))
        connection.execute(update(journal_heads).values(hash=forged["hash"]))
    fault = verify_chains(store).fault
    assert fault is not None
    assert fault.kind == "truncated"


def test_a_changed_anchor_is_named(store: Database) -> None:
    _three_sessions(store)
    anchor(store, NOW)
    with store.write() as connection:
        connection.execute(update(journal_anchors).values(heads_hash=heads_hash({})))
    fault = verify_chains(store).fault
    assert fault is not None
    assert fault.kind == "anchor"


def test_a_head_that_went_missing_is_named(store: Database) -> None:
    _three_sessions(store)
    with store.write() as connection:
        connection.execute(text("DELETE FROM journal_heads WHERE aggregate = 'session/1'"))
    fault = verify_chains(store).fault
    assert fault is not None
    assert (fault.kind, fault.aggregate) == ("head", "session/1")
