"""Who follows the store on PostgreSQL hears of what other processes commit; nobody has to look.

The followers here would look after an hour, so that all they hear they were told.
"""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from uuid_utils import uuid7

from stores.platform.change_notices import CHANNEL
from stores.platform.database import Database
from stores.platform.journal import tail as tail_module
from stores.platform.journal.journal import LIFECYCLE, JournalDraft, append
from stores.platform.journal.tail import JournalTail, Subscription
from stores.platform.projection import projector as projector_module
from stores.platform.projection.documents import put_document
from stores.platform.projection.projector import ProjectionLoop, Projector

PATIENCE = 20.0
AN_HOUR = 3_600.0
SESSION = str(uuid7())


@pytest.fixture
def elsewhere(postgres_store: Database) -> Iterator[Database]:
    """The same store, as another process has it."""
    database = Database(postgres_store.engine.url.render_as_string(hide_password=False))
    yield database
    database.close()


class Follower:
    """Waits for what it is told."""

    def __init__(self, database: Database) -> None:
        self._told = threading.Event()
        self.end = database.follow(self._told.set)
        # Of the beginning: from now on it hears everything.
        self.is_told()

    def is_told(self) -> bool:
        told = self._told.wait(PATIENCE)
        self._told.clear()
        return told


def write(database: Database) -> int:
    entry = JournalDraft(
        stream=LIFECYCLE,
        aggregate=f"learn-session/{uuid7()}",
        owner="ann",
        correlation_id="c",
        created_at="2026-01-02T03:04:05.000000Z",
        document={"payload": {}},
        session_id=SESSION,
    )
    with database.write() as connection:
        (number,) = append(connection, [entry])
    return number


def test_a_follower_hears_of_entries_and_documents_that_another_process_commits(
    postgres_store: Database, elsewhere: Database
) -> None:
    follower = Follower(postgres_store)
    write(elsewhere)
    assert follower.is_told()
    with elsewhere.write() as connection:
        put_document(connection, "memory", "system/a.json", b"{}")
    assert follower.is_told()


def test_a_follower_that_lost_its_connection_is_told_that_it_may_have_missed_something(
    postgres_store: Database, elsewhere: Database
) -> None:
    follower = Follower(postgres_store)
    with elsewhere.write() as connection:
        ended = connection.scalar(
            text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query = :listens"),
            {"listens": f"LISTEN {CHANNEL}"},
        )
    assert ended == 1
    assert follower.is_told()
    write(elsewhere)
    assert follower.is_told()


def test_announcing_makes_no_commit_wait_for_another(postgres_store: Database, elsewhere: Database) -> None:
    follower = Follower(postgres_store)
    with postgres_store.write() as first:
        append_to(first, "first")
        # With NOTIFY in the transactions this one would wait until the first has ended.
        with elsewhere.write() as second:
            append_to(second, "second")
        assert follower.is_told()


def append_to(connection: object, name: str) -> None:
    entry = JournalDraft(LIFECYCLE, name, "ann", "c", "2026-01-02T03:04:05.000000Z", {"payload": {}})
    append(connection, [entry])  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_the_tail_hands_out_what_another_process_wrote(
    postgres_store: Database, elsewhere: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "_POSTGRES_LOOK_SECONDS", AN_HOUR)
    tail = JournalTail(postgres_store)
    try:
        async with tail.subscribe(SESSION) as subscription:
            await _is_followed(subscription, elsewhere)
            number = await asyncio.to_thread(write, elsewhere)
            assert [entry.seq for entry in await subscription.take(PATIENCE)] == [number]
    finally:
        tail.close()


@pytest.mark.anyio
async def test_the_tail_hands_out_an_entry_that_an_undone_transaction_had_held_back(
    postgres_store: Database, elsewhere: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "_POSTGRES_LOOK_SECONDS", AN_HOUR)
    tail = JournalTail(postgres_store)
    try:
        async with tail.subscribe(SESSION) as subscription:
            await _is_followed(subscription, elsewhere)
            with elsewhere.engine.connect() as older:
                append_to(older, "undone")
                number = await asyncio.to_thread(write, elsewhere)
                older.rollback()
            assert [entry.seq for entry in await subscription.take(PATIENCE)] == [number]
    finally:
        tail.close()


async def _is_followed(subscription: Subscription, database: Database) -> None:
    """Returns when the tail hands out new entries to this subscription."""
    subscription.resume()
    async with asyncio.timeout(PATIENCE):
        while True:
            marker = await asyncio.to_thread(write, database)
            while not subscription.lagging:
                if marker in [entry.seq for entry in await subscription.take(PATIENCE)]:
                    return
            subscription.resume()


def test_a_worker_projects_what_another_process_wrote(
    postgres_store: Database, elsewhere: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projector_module, "LOOK_SECONDS", AN_HOUR)
    projected = threading.Event()

    class Watched(Projector):
        def catch_up(self, *, leave_large: bool = False) -> projector_module.ProjectionReport:
            report = super().catch_up(leave_large=leave_large)
            if report.documents_written:
                projected.set()
            return report

    loop = ProjectionLoop(Watched(postgres_store, tmp_path / "memory", tmp_path / "workspace"), lambda: None)
    try:
        with elsewhere.write() as connection:
            put_document(connection, "memory", "system/a.json", b"{}")
        assert projected.wait(PATIENCE)
    finally:
        loop.close()
    assert (tmp_path / "memory" / "system/a.json").read_bytes() == b"{}"


def test_postgresql_ends_the_session_of_a_writer_whose_machine_is_gone_within_three_seconds(
    postgres_store: Database, tmp_path: Path
) -> None:
    bound = text(
        "SELECT current_setting('tcp_keepalives_idle')::int"
        " + current_setting('tcp_keepalives_interval')::int * current_setting('tcp_keepalives_count')::int"
    )
    with projector_module.single_writer(postgres_store, tmp_path / "memory"):
        pass
    # The writer's connection is one of those that are pooled.
    with postgres_store.engine.connect() as one, postgres_store.engine.connect() as other:
        seconds = [int(connection.scalar(bound) or 0) for connection in (one, other)]
    assert 0 < min(seconds) <= 3
