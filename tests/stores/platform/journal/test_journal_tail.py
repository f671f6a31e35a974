"""The live end of the journal: nothing is missed, and no listener takes more than its share of memory."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from uuid_utils import uuid7

from contracts.learning.session import LearnSessionState
from stores.platform.database import Database
from stores.platform.journal.journal import LIFECYCLE, JournalDraft, append
from stores.platform.journal.tail import PAGE, JournalTail, Kept, Subscription, TailEntry
from stores.platform.tables import metadata

pytestmark = pytest.mark.anyio

NOW = "2026-01-02T03:04:05.000000Z"
SESSION = str(uuid7())
PATIENCE = 15.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    metadata.create_all(database.engine)
    yield database
    database.close()


@pytest.fixture
def tail(database: Database) -> Iterator[JournalTail]:
    tail = JournalTail(database, backlog=3)
    yield tail
    tail.close()


def draft(
    state: str | None = "capturing", *, session: str = SESSION, stream: str = LIFECYCLE
) -> JournalDraft:
    return JournalDraft(
        stream=stream,
        aggregate=f"learn-session/{session}",
        owner="ann",
        correlation_id="c",
        created_at=NOW,
        document={
            "event_kind": "learn.x",
            "session_id": session,
            "payload": {} if state is None else {"state": state},
            "timestamp": NOW,
        },
        session_id=session,
    )


def write(database: Database, *drafts: JournalDraft) -> tuple[int, ...]:
    with database.write() as connection:
        return append(connection, drafts)


def numbers(entries: list[TailEntry]) -> list[int]:
    return [entry.seq for entry in entries]


async def listening(database: Database, subscription: Subscription) -> None:
    """Returns when the tail hands new entries to this listener and it has taken all there were."""
    subscription.resume()
    async with asyncio.timeout(PATIENCE):
        while True:
            (marker,) = write(database, draft())
            # Whoever came before the tail had a position is told to read the store once more.
            while not subscription.lagging:
                if marker in numbers(await subscription.take(PATIENCE)):
                    return
            subscription.resume()


async def test_a_listener_gets_the_new_entries_of_its_session_only(
    database: Database, tail: JournalTail
) -> None:
    async with tail.subscribe(SESSION) as subscription:
        await listening(database, subscription)
        *_, mine = write(
            database, draft(session=str(uuid7())), draft(stream="system/learning/receipts"), draft()
        )
        assert numbers(await subscription.take(PATIENCE)) == [mine]


async def test_one_commit_is_handed_out_together(database: Database, tail: JournalTail) -> None:
    async with tail.subscribe(SESSION) as subscription:
        await listening(database, subscription)
        written = write(database, draft(), draft())
        assert numbers(await subscription.take(PATIENCE)) == list(written)


async def test_a_listener_that_does_not_take_is_told_that_it_lags_and_holds_nothing(
    database: Database, tail: JournalTail
) -> None:
    async with tail.subscribe(SESSION) as slow, tail.subscribe(SESSION) as fast:
        await listening(database, slow)
        await listening(database, fast)
        await slow.take(0)
        written: list[int] = []
        seen: list[int] = []
        for _ in range(5):
            written += write(database, draft())
            seen += numbers(await fast.take(PATIENCE))
        assert seen == written
        assert slow.lagging
        assert await slow.take(0) == []
        slow.resume()
        assert numbers(tail.replay(SESSION, written[0] - 1)) == written


async def test_waiting_ends_when_the_time_is_over(database: Database, tail: JournalTail) -> None:
    async with tail.subscribe(SESSION) as subscription:
        await listening(database, subscription)
        assert await subscription.take(0.001) == []
        assert not subscription.lagging


async def test_the_store_is_not_watched_while_nobody_listens(database: Database, tail: JournalTail) -> None:
    before = set(threading.enumerate())
    write(database, draft())
    assert numbers(tail.replay(SESSION, 0)) == [1]
    assert [one for one in set(threading.enumerate()) - before if one.name == "journal-tail"] == []


async def test_a_listener_that_comes_after_all_others_left_misses_nothing(
    database: Database, tail: JournalTail
) -> None:
    async with tail.subscribe(SESSION) as first:
        await listening(database, first)
    write(database, draft())
    async with tail.subscribe(SESSION) as second:
        second.resume()
        seen = set(numbers(tail.replay(SESSION, 0)))
        (newest,) = write(database, draft())
        async with asyncio.timeout(PATIENCE):
            while newest not in seen:
                seen.update(numbers(await second.take(PATIENCE)))
                if second.lagging:
                    second.resume()
                    seen.update(numbers(tail.replay(SESSION, 0)))
        assert seen == set(range(1, newest + 1))


async def test_a_closed_tail_ends_its_listeners_and_takes_no_new_ones(
    database: Database, tail: JournalTail
) -> None:
    async with tail.subscribe(SESSION) as subscription:
        await listening(database, subscription)
        waiting = asyncio.create_task(subscription.take(60))
        await asyncio.to_thread(tail.close)
        assert await asyncio.wait_for(waiting, PATIENCE) == []
        assert subscription.closed
    async with tail.subscribe(SESSION) as late:
        assert late.closed


def test_replay_goes_page_by_page_from_the_given_number(database: Database, tail: JournalTail) -> None:
    write(database, *(draft() for _ in range(PAGE + 2)))
    first = tail.replay(SESSION, 0)
    assert numbers(first) == list(range(1, PAGE + 1))
    assert numbers(tail.replay(SESSION, PAGE)) == [PAGE + 1, PAGE + 2]
    assert tail.replay(SESSION, PAGE + 2) == []


def test_what_is_kept_is_the_stream_not_the_journal(database: Database, tail: JournalTail) -> None:
    assert tail.kept() == Kept(None, 0)
    write(
        database, draft(stream="system/learning/receipts"), draft(), draft(stream="system/learning/receipts")
    )
    assert tail.kept() == Kept(2, 3)


def test_the_state_is_that_of_the_newest_event_that_tells_it(database: Database, tail: JournalTail) -> None:
    assert tail.state_of(SESSION) is None
    write(database, draft("armed"), draft("cancelled"), draft(None), draft("idle", session=str(uuid7())))
    assert tail.state_of(SESSION) is LearnSessionState.CANCELLED
