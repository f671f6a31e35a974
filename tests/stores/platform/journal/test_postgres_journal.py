"""Entries that commit in another order than they were numbered in."""

import threading

from sqlalchemy import text

from stores.platform.database import Database
from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import JournalFilter, append, read_entries, safe_upper_bound
from tests.stores.platform.journal_drafts import draft


def _bound(store: Database) -> int:
    with store.read() as connection:
        return safe_upper_bound(connection)


def test_an_entry_is_not_safe_while_one_with_a_lower_number_may_still_commit(
    postgres_store: Database,
) -> None:
    with postgres_store.write() as slow:
        (low,) = append(slow, [draft(1, aggregate="slow")])
        with postgres_store.write() as quick:
            (high,) = append(quick, [draft(2, aggregate="quick")])
        assert low < high
        assert _bound(postgres_store) < low
    assert _bound(postgres_store) == high


def test_the_bound_holds_when_the_older_transaction_took_the_higher_number(postgres_store: Database) -> None:
    with postgres_store.write() as younger, postgres_store.write() as older:
        for connection in (older, younger):
            connection.execute(text("SELECT pg_current_xact_id()"))
        (low,) = append(younger, [draft(1, aggregate="younger")])
        (high,) = append(older, [draft(2, aggregate="older")])
        assert low < high
        older.commit()
        assert _bound(postgres_store) < low
        younger.commit()
    assert _bound(postgres_store) == high


def test_a_number_whose_transaction_was_undone_holds_nothing_back(postgres_store: Database) -> None:
    with postgres_store.engine.connect() as undone:
        append(undone, [draft(1, aggregate="undone")])
        undone.rollback()
    with postgres_store.write() as connection:
        (number,) = append(connection, [draft(2)])
    assert _bound(postgres_store) == number


def test_a_follower_that_stops_at_the_bound_sees_every_entry_once(postgres_store: Database) -> None:
    writers = 5
    start, done = threading.Barrier(writers + 1), threading.Event()

    def write(worker: int) -> None:
        start.wait()
        for number in range(30):
            with postgres_store.write() as connection:
                append(
                    connection, [draft(number, aggregate=f"{worker}"), draft(number, aggregate=f"{worker}")]
                )

    seen: list[int] = []

    def follow() -> None:
        start.wait()
        finished = False
        while not finished:
            finished = done.is_set()
            with postgres_store.read() as connection:
                bound = safe_upper_bound(connection)
                after = seen[-1] if seen else 0
                new = read_entries(connection, JournalFilter(), after=after, upto=bound, limit=10_000)
                seen.extend(entry.seq for entry in new)

    follower = threading.Thread(target=follow)
    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(writers)]
    for thread in (follower, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    follower.join()
    assert len(seen) == len(set(seen)) == writers * 60
    assert verify_chains(postgres_store).fault is None
