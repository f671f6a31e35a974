"""Times observation ingest against raw SQLite group commit of the same batches, in one run.

Usage: ``python -m bench.ingest [--clients N] [--batches N] [--rounds N]``. Prints one JSON object.
Both sides write to SQLite with WAL and ``synchronous=FULL`` and answer after the commit, from the same number of
threads; they take turns in going first. ``ratio`` is the median over the rounds of (our events a second / the
peer's), ``cpu_ratio`` that of the processor times, which other programs disturb less.

rows: ``ObservationLog.ingest`` of parsed events beside rows that are ready, byte for byte what we write of them.
request: a request's bytes, validated and ingested, beside the same bytes decoded, encoded and written as they are.
http: our route beside a bare Starlette route that does what the peer of ``request`` does.
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
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter, process_time
from typing import Any

from sqlalchemy import insert
from uuid_utils import uuid7

from config.memory import collect_seldom
from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import IngestObservationsRequest
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState, ObservationMode
from contracts.platform.identity import Scope
from stores.learning.observations import ObservationLog
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.tables import learn_sessions, metadata
from stores.platform.tokens import Tokens

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
        self._thread = threading.Thread(target=self._run, daemon=True)
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
        observation_mode=ObservationMode.OUTSIDE_AGENT,
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
    """Has each client send its batches one after the other; events a second, and seconds per answer.

    The first batch of each, for which a session is looked up and statements are parsed, is sent before.
    """
    waits: list[float] = []
    for first, *_ in work:
        send(first)

    def client(batches: Sequence[Any]) -> None:
        for batch in batches[1:]:
            began = perf_counter()
            send(batch)
            waits.append(perf_counter() - began)

    with ThreadPoolExecutor(len(work)) as pool:
        began = perf_counter()
        list(pool.map(client, work))
        seconds = perf_counter() - began
    return len(waits) * EVENTS_A_BATCH / seconds, waits


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


def rows_round(clients: int, batches: int, ours_first: bool) -> dict[str, float]:
    """One round from parsed events on our side, and from ready rows on the peer's."""

    def work_of(session: str, bodies: list[bytes]) -> tuple[list[Any], list[Any]]:
        parsed = [IngestObservationsRequest.model_validate_json(body).events for body in bodies]
        rows: list[list[Row]] = [
            [(session, e.event_id, e.retain, e.model_dump_json()) for e in events] for events in parsed
        ]
        return [(session, events) for events in parsed], rows

    def ours(log: ObservationLog, work: Any) -> None:
        log.ingest(*work)

    return store_round(clients, batches, ours_first, work_of, ours, RawGroupCommit.write)


def request_round(clients: int, batches: int, ours_first: bool) -> dict[str, float]:
    """One round from the bytes of a request on both sides."""

    def work_of(session: str, bodies: list[bytes]) -> tuple[list[Any], list[Any]]:
        return [(session, body) for body in bodies], list(bodies)

    def ours(log: ObservationLog, work: Any) -> None:
        session, body = work
        log.ingest(session, IngestObservationsRequest.model_validate_json(body).events)

    def peer(raw: RawGroupCommit, body: bytes) -> None:
        raw.write(rows_of(body))

    return store_round(clients, batches, ours_first, work_of, ours, peer)


def store_round(
    clients: int,
    batches: int,
    ours_first: bool,
    work_of: Callable[[str, list[bytes]], tuple[list[Any], list[Any]]],
    ours: Callable[[ObservationLog, Any], None],
    peer: Callable[[RawGroupCommit, Any], None],
) -> dict[str, float]:
    """One round of both sides on fresh databases, in this process."""
    with tempfile.TemporaryDirectory() as name, log_in(Path(name), clients) as (log, sessions):
        work = [work_of(s, [batch_of(s, n * EVENTS_A_BATCH) for n in range(batches)]) for s in sessions]
        raw = RawGroupCommit(Path(name) / "raw.db")
        sides: dict[str, Callable[[], tuple[float, list[float]]]] = {
            "ours": lambda: events_a_second(partial(ours, log), [mine for mine, _ in work]),
            "peer": lambda: events_a_second(partial(peer, raw), [theirs for _, theirs in work]),
        }
        result: dict[str, float] = {}
        for side in ("ours", "peer") if ours_first else ("peer", "ours"):
            busy = process_time()
            rate, waits = sides[side]()
            result |= figures(side, rate, waits, (process_time() - busy) / (clients * batches))
        raw.close()
        assert all(log.counters(session).accepted == batches * EVENTS_A_BATCH for session in sessions)
    return with_ratios(result)


def figures(side: str, rate: float, waits: list[float], cpu_seconds_a_batch: float) -> dict[str, float]:
    """What is reported of one side."""
    return {
        f"{side}_events_a_second": rate,
        f"{side}_p99_ms": statistics.quantiles(waits, n=100)[98] * 1000,
        f"{side}_cpu_us_an_event": cpu_seconds_a_batch * 1e6 / EVENTS_A_BATCH,
    }


def with_ratios(result: dict[str, float]) -> dict[str, float]:
    """The figures of both sides, and how they compare: 1 is as good as the peer, and more is better."""
    return result | {
        "ratio": result["ours_events_a_second"] / result["peer_events_a_second"],
        "cpu_ratio": result["peer_cpu_us_an_event"] / result["ours_cpu_us_an_event"],
    }


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
                result |= figures(side, rate, waits, (server.cpu_seconds() - busy) / (clients * batches))
                for connection in pool:
                    connection.close()
    return with_ratios(result)


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


ROUNDS = {"rows": rows_round, "request": request_round, "http": http_round}


def measure(clients: int, batches: int, rounds: int) -> dict[str, dict[str, float]]:
    """The medians of all three comparisons, with the collector as the service has it."""
    collect_seldom()
    return {
        name: summary([one(clients, batches, number % 2 == 0) for number in range(rounds)])
        for name, one in ROUNDS.items()
    }


def main() -> None:
    """Runs the rounds and prints the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--batches", type=int, default=20, help="batches of 100 events for each client")
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    print(json.dumps(measure(options.clients, options.batches, options.rounds), indent=2))


if __name__ == "__main__":
    main()
