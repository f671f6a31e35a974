"""Group commit: those who wait at the same time share a transaction, and each has an answer of its own."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from contracts.errors import ErrorCode, Refusal
from stores.platform.database import Database
from stores.platform.journal.group_commit import GroupCommitWriter

PATIENCE = 15.0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    yield database
    database.close()


class Gate:
    """Work that waits until it is let through."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def apply(self, _connection: Connection, group: Sequence[str]) -> list[str]:
        self.entered.set()
        assert self.open.wait(PATIENCE)
        if "broken" in group:
            raise sqlite3.IntegrityError("broken")
        return [work.upper() for work in group]


def _queue(pool: ThreadPoolExecutor, writer: GroupCommitWriter[str, str], *work: str) -> list[Future[str]]:
    """Hands in ``work`` in this order, to wait behind what is under way."""
    queued: list[Future[str]] = []
    for position, piece in enumerate(work, start=1):
        queued.append(pool.submit(writer.write, piece))
        deadline = time.monotonic() + PATIENCE
        while writer.waiting < position:
            assert time.monotonic() < deadline
    return queued


def test_a_full_queue_refuses_at_once(database: Database) -> None:
    gate = Gate()
    writer = GroupCommitWriter[str, str](database, gate.apply, capacity=2)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(writer.write, "a")
        assert gate.entered.wait(PATIENCE)
        queued = _queue(pool, writer, "b", "c")
        with pytest.raises(Refusal) as refused:
            writer.write("d")
        gate.open.set()
        assert [future.result(PATIENCE) for future in (first, *queued)] == ["A", "B", "C"]
    writer.close()
    assert refused.value.code is ErrorCode.TOO_MANY_REQUESTS


def test_work_that_fails_fails_alone_though_it_shared_a_transaction(database: Database) -> None:
    gate = Gate()
    writer = GroupCommitWriter[str, str](database, gate.apply)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(writer.write, "a")
        assert gate.entered.wait(PATIENCE)
        before, broken, after = _queue(pool, writer, "b", "broken", "c")
        gate.open.set()
        assert (first.result(PATIENCE), before.result(PATIENCE), after.result(PATIENCE)) == ("A", "B", "C")
        assert isinstance(broken.exception(PATIENCE), sqlite3.IntegrityError)
    writer.close()


def test_closing_writes_what_waits_and_refuses_what_comes_later(database: Database) -> None:
    gate = Gate()
    writer = GroupCommitWriter[str, str](database, gate.apply)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(writer.write, "a")
        assert gate.entered.wait(PATIENCE)
        (second,) = _queue(pool, writer, "b")
        closing = pool.submit(writer.close)
        gate.open.set()
        closing.result(PATIENCE)
        assert (first.result(PATIENCE), second.result(PATIENCE)) == ("A", "B")
    with pytest.raises(Refusal) as refused:
        writer.write("c")
    assert refused.value.code is ErrorCode.TOO_MANY_REQUESTS


def test_who_comes_while_a_transaction_begins_is_of_its_group(database: Database) -> None:
    groups: list[list[str]] = []
    begun, go_on = threading.Event(), threading.Event()

    def apply(_connection: Connection, group: Sequence[str]) -> list[str]:
        groups.append(list(group))
        return list(group)

    @event.listens_for(database.engine, "begin")
    def hold(_connection: Connection) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)

    writer = GroupCommitWriter[str, str](database, apply)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(writer.write, "a")
        assert begun.wait(PATIENCE)
        second = pool.submit(writer.write, "b")
        deadline = time.monotonic() + PATIENCE
        while writer.waiting < 2:
            assert time.monotonic() < deadline
        go_on.set()
        assert (first.result(PATIENCE), second.result(PATIENCE)) == ("a", "b")
    writer.close()
    assert groups == [["a", "b"]]


def test_a_transaction_that_cannot_begin_fails_those_who_wait_and_the_next_is_tried(
    database: Database,
) -> None:
    broken = [True]

    @event.listens_for(database.engine, "begin")
    def refuse(_connection: Connection) -> None:
        if broken[0]:
            raise sqlite3.OperationalError("database is locked")

    writer = GroupCommitWriter[str, str](database, lambda _connection, group: list(group))
    with pytest.raises(sqlite3.OperationalError):
        writer.write("a")
    broken[0] = False
    assert writer.write("b") == "b"
    writer.close()
