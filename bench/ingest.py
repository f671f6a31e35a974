"""Times observation ingest against raw SQLite group commit of the same batches, in one run.

Usage: ``python -m bench.ingest [--clients N] [--batches N] [--rounds N] [--http]``. Prints one JSON object.
Both sides write to SQLite with WAL and ``synchronous=FULL`` and answer after the commit; they take turns in
going first. ``ratio`` is the median over the rounds of (our events a second / the peer's).

Store: ``ObservationLog.ingest`` of parsed events (checked, filtered, redacted, encoded) beside ready rows.
HTTP (``--http``): our route beside a bare Starlette route that decodes the same JSON and writes the same rows.
"""

import argparse
import http.client
import json
import sqlite3
import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter, process_time
from typing import Any

from sqlalchemy import insert
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import IngestObservationsRequest
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState
from contracts.runtime.identity import Scope
from stores.canonical import canonical_json
from stores.database import Database
from stores.observations import ObservationLog
from stores.tables import learn_sessions, metadata
from stores.tokens import Tokens

EVENTS_A_BATCH = 100

Row = tuple[str, str, bool, str]


def event_of(session_id: str, number: int) -> dict[str, Any]:
    """One terminal command as the recorder sends it, about 512 bytes of JSON."""
    return {
        "event_id": str(uuid7()),
        "learn_session_id": session_id,
        "adapter_kind": "terminal_command",
        "app_family": "terminal",
        "window_title": "zsh - monthly reports",
        "action_label": f"Export the report of customer {number}",
        "target_ref": f"reports/{number}.csv",
        "caused_state_change": True,
        "terminal": {
            "command": f"python export.py --customer {number} --out reports/{number}.csv",
            "exit_class": "ok",
            "working_folder": "reports",
            "produced_files": [
                {"path": f"reports/{number}.csv", "change": "created", "size_bytes": 1000 + number}
            ],
        },
        "created_at": rfc3339(datetime.now(UTC)),
    }


def batch_of(session_id: str, first: int) -> bytes:
    """The body of one ingest request."""
    return json.dumps(
        {"events": [event_of(session_id, first + n) for n in range(EVENTS_A_BATCH)]}, separators=(",", ":")
    ).encode()


def rows_of(body: bytes) -> list[Row]:
    """What the peer writes of a request: the events as they came."""
    events = json.loads(body)["events"]
    return [
        (event["learn_session_id"], event["event_id"], False, json.dumps(event, separators=(",", ":")))
        for event in events
    ]


class RawGroupCommit:
    """The peer: the least that can be done to write rows durably, many callers to a flush."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute(
            "CREATE TABLE observations (seq INTEGER PRIMARY KEY, session_id TEXT, event_id TEXT,"
            " retain BOOLEAN, body TEXT, UNIQUE (session_id, event_id))"
        )
        self._queue: SimpleQueue[tuple[list[Row], Future[None]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def write(self, rows: list[Row]) -> None:
        """Returns when the rows are durable."""
        done: Future[None] = Future()
        self._queue.put((rows, done))
        done.result()

    def close(self) -> None:
        """Ends the writing thread."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            group = [item]
            while not self._queue.empty():
                if (more := self._queue.get()) is None:
                    return
                group.append(more)
            self._connection.execute("BEGIN IMMEDIATE")
            for rows, _ in group:
                self._connection.executemany(
                    "INSERT INTO observations (session_id, event_id, retain, body) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT DO NOTHING",
                    rows,
                )
            self._connection.execute("COMMIT")
            for _, done in group:
                done.set_result(None)


def capturing_session(database: Database) -> str:
    """A session that takes observations."""
    now = datetime.now(UTC)
    session = LearnSession(
        learn_session_id=str(uuid7()),
        owner_user_id="admin",
        entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
        state=LearnSessionState.CAPTURING,
        created_at=now,
        updated_at=now,
    )
    aggregate = LearnSessionAggregate(session=session, change=1, state_since=now)
    with database.write() as connection:
        connection.execute(
            insert(learn_sessions).values(
                session_id=session.learn_session_id,
                owner=session.owner_user_id,
                state=session.state.value,
                change=1,
                holds_slot=False,
                created_at=rfc3339(now),
                updated_at=rfc3339(now),
                aggregate=canonical_json(aggregate),
            )
        )
    return session.learn_session_id


def events_a_second(
    send: Callable[[Any], object], work: Sequence[Sequence[Any]]
) -> tuple[float, list[float]]:
    """Has each client send its batches one after the other; events a second, and seconds per answer."""
    waits: list[float] = []

    def client(batches: Sequence[Any]) -> None:
        for batch in batches:
            began = perf_counter()
            send(batch)
            waits.append(perf_counter() - began)

    with ThreadPoolExecutor(len(work)) as pool:
        began = perf_counter()
        list(pool.map(client, work))
        seconds = perf_counter() - began
    return sum(map(len, work)) * EVENTS_A_BATCH / seconds, waits


@contextmanager
def log_in(folder: Path, clients: int) -> Iterator[tuple[ObservationLog, list[str]]]:
    """An observation log with one capturing session for each client."""
    database = Database(f"sqlite:///{folder / 'ours.db'}")
    metadata.create_all(database.engine)
    log = ObservationLog(database)
    try:
        yield log, [capturing_session(database) for _ in range(clients)]
    finally:
        log.close()
        database.close()


def store_round(clients: int, batches: int, ours_first: bool) -> dict[str, float]:
    """One round of both sides on fresh databases."""
    with tempfile.TemporaryDirectory() as name, log_in(Path(name), clients) as (log, sessions):
        bodies = [[batch_of(s, n * EVENTS_A_BATCH) for n in range(batches)] for s in sessions]
        parsed = [
            [(s, IngestObservationsRequest.model_validate_json(body).events) for body in theirs]
            for s, theirs in zip(sessions, bodies, strict=True)
        ]
        rows = [[rows_of(body) for body in theirs] for theirs in bodies]
        raw = RawGroupCommit(Path(name) / "raw.db")
        sides: dict[str, Callable[[], tuple[float, list[float]]]] = {
            "ours": lambda: events_a_second(lambda work: log.ingest(*work), parsed),
            "peer": lambda: events_a_second(raw.write, rows),
        }
        result: dict[str, float] = {}
        for side in ("ours", "peer") if ours_first else ("peer", "ours"):
            busy = process_time()
            rate, waits = sides[side]()
            result[f"{side}_cpu_us_an_event"] = (
                (process_time() - busy) * 1e6 / (clients * batches * EVENTS_A_BATCH)
            )
            result[f"{side}_events_a_second"] = rate
            result[f"{side}_p99_ms"] = statistics.quantiles(waits, n=100)[98] * 1000
        raw.close()
        assert all(log.counters(session).accepted == batches * EVENTS_A_BATCH for session in sessions)
    result["ratio"] = result["ours_events_a_second"] / result["peer_events_a_second"]
    return result


def http_round(clients: int, batches: int, ours_first: bool) -> dict[str, float]:
    """One round over HTTP, each side's server in a process of its own."""
    from bench.servers import running

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with log_in(folder, clients) as (log, sessions):
            del log
            secret = token_in(folder)
        bodies = [[batch_of(s, n * EVENTS_A_BATCH) for n in range(batches)] for s in sessions]
        paths = {"ours": "/api/learn/sessions/{}/observations", "peer": "/ingest"}
        result: dict[str, float] = {}
        for side in ("ours", "peer") if ours_first else ("peer", "ours"):
            with running(side, folder) as server:
                pool = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(clients)]
                work = [
                    [(connection, paths[side].format(session), secret, body) for body in theirs]
                    for connection, session, theirs in zip(pool, sessions, bodies, strict=True)
                ]
                busy = server.cpu_seconds()
                rate, waits = events_a_second(post, work)
                result[f"{side}_cpu_us_an_event"] = (
                    (server.cpu_seconds() - busy) * 1e6 / (clients * batches * EVENTS_A_BATCH)
                )
                for connection in pool:
                    connection.close()
            result[f"{side}_events_a_second"] = rate
            result[f"{side}_p99_ms"] = statistics.quantiles(waits, n=100)[98] * 1000
    result["ratio"] = result["ours_events_a_second"] / result["peer_events_a_second"]
    return result


def token_in(folder: Path) -> str:
    """A secret that may observe and read."""
    database = Database(f"sqlite:///{folder / 'ours.db'}")
    _, secret = Tokens(database).create("bench", "admin", [Scope.OBSERVE, Scope.READ], datetime.now(UTC))
    database.close()
    return secret


def post(work: tuple[http.client.HTTPConnection, str, str, bytes]) -> None:
    """Sends one batch and reads its answer, which has to say that all of it was kept."""
    connection, path, secret, body = work
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    connection.request("POST", path, body, headers)
    answer = json.loads(connection.getresponse().read())
    assert answer.get("accepted") == EVENTS_A_BATCH, answer


def summary(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """The medians over the rounds."""
    return {key: round(statistics.median(each[key] for each in rounds), 3) for key in rounds[0]}


def main() -> None:
    """Runs the rounds and prints the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--batches", type=int, default=20, help="batches of 100 events for each client")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--http", action="store_true", help="over HTTP as well")
    options = parser.parse_args()
    measured = {"store": store_round, "http": http_round} if options.http else {"store": store_round}
    result = {
        name: summary([one(options.clients, options.batches, n % 2 == 0) for n in range(options.rounds)])
        for name, one in measured.items()
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
