"""Times the live event stream against a bare Starlette fan-out of the same frames, in one run.

Usage: ``python -m bench.sse [--clients N] [--rate N] [--seconds N] [--rounds N]``. Prints one JSON object.
All clients follow one session. On our side each event is committed to the journal by another process and found
there; the peer is handed the frame over HTTP and puts it into every listener's queue. ``delivered`` is the
share of events that arrived within the run; ``delivered_ratio`` and ``lag_ratio`` are medians of ours / peer.
"""

import argparse
import asyncio
import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.ingest import log_in, summary, token_in
from bench.servers import Running, running
from contracts.base import rfc3339
from contracts.workflow_ids import learn_session_id
from stores.platform.database import Database
from stores.platform.journal.journal import LIFECYCLE, JournalDraft, append

GRACE_SECONDS = 2.0
SENT_AT = b'"sent_at":'


class Listener(asyncio.Protocol):
    """Counts the events it is sent, and how late each chunk's last one is."""

    def __init__(self, request: bytes) -> None:
        self.ready = asyncio.get_running_loop().create_future()
        self.events = 0
        self.lags: list[float] = []
        self._request = request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for the stream."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Takes in a chunk; events are smaller than a segment, so none is cut."""
        if not self.ready.done() and b"retry:" in data:
            self.ready.set_result(None)
        count = data.count(SENT_AT)
        if count:
            self.events += count
            start = data.rindex(SENT_AT) + len(SENT_AT)
            self.lags.append(time.time() - float(data[start : data.index(b"}", start)].split(b",")[0]))


def lifecycle_event(session_id: str) -> dict[str, Any]:
    """An event with the time at which it was sent."""
    return {
        "event_kind": "learn.boundary.marked",
        "session_id": session_id,
        "payload": {"state": "capturing", "label": "Open the export dialog", "sent_at": time.time()},
        "timestamp": rfc3339(datetime.now(UTC)),
    }


def to_journal(database: Database, session_id: str) -> None:
    """Our side's publishing: one committed journal entry."""
    document = lifecycle_event(session_id)
    draft = JournalDraft(
        stream=LIFECYCLE,
        aggregate=learn_session_id(session_id),
        owner="admin",
        correlation_id="bench",
        created_at=document["timestamp"],
        document=document,
        session_id=session_id,
    )
    with database.write() as connection:
        append(connection, [draft])


def to_peer(connection: http.client.HTTPConnection, session_id: str, number: int) -> None:
    """The peer's publishing: the frame as it is to be sent."""
    document = lifecycle_event(session_id)
    envelope = {"data": document, "event": document["event_kind"], "schema_version": 1}
    frame = f"id: {number}\nevent: {document['event_kind']}\ndata: {json.dumps(envelope)}\n\n"
    connection.request("POST", "/publish", frame.replace('"sent_at": ', '"sent_at":').encode())
    connection.getresponse().read()


async def follow(port: int, path: str, secret: str, clients: int) -> list[Listener]:
    """Connects all listeners and returns when each has its first bytes."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n"
        "Accept: text/event-stream\r\n\r\n"
    ).encode()
    loop = asyncio.get_running_loop()
    listeners: list[Listener] = []
    for _ in range(clients):
        _, listener = await loop.create_connection(lambda: Listener(request), "127.0.0.1", port)
        listeners.append(listener)
    await asyncio.wait_for(asyncio.gather(*(listener.ready for listener in listeners)), 60)
    return listeners


async def listen_to(
    server: Running, path: str, secret: str, options: argparse.Namespace, publish: Callable[[int], None]
) -> dict[str, float]:
    """Publishes at a steady rate and sees what arrives."""
    listeners = await follow(server.port, path, secret, options.clients)
    # Everybody is live once everybody has had the first event.
    await asyncio.to_thread(publish, 0)
    while any(listener.events == 0 for listener in listeners):
        await asyncio.sleep(0.05)
    for listener in listeners:
        listener.events = 0
        listener.lags.clear()
    busy = server.cpu_seconds()
    total = options.rate * options.seconds
    began = time.monotonic()
    for number in range(total):
        await asyncio.sleep(max(0.0, began + number / options.rate - time.monotonic()))
        await asyncio.to_thread(publish, number + 1)
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline and sum(each.events for each in listeners) < total * len(listeners):
        await asyncio.sleep(0.01)
    lags = [lag for listener in listeners for lag in listener.lags]
    return {
        "cpu_us_an_event": (server.cpu_seconds() - busy) * 1e6 / (total * len(listeners)),
        "delivered": sum(each.events for each in listeners) / (total * len(listeners)),
        "lag_p50_ms": statistics.median(lags) * 1000,
        "lag_p99_ms": statistics.quantiles(lags, n=100)[98] * 1000,
    }


def one_side(
    side: str, folder: Path, session_id: str, secret: str, options: argparse.Namespace
) -> dict[str, float]:
    """Starts a side's server, measures, stops it."""
    with running(side, folder) as server:
        if side == "ours":
            database = Database(f"sqlite:///{folder / 'ours.db'}")
            path = f"/api/learn/sessions/{session_id}/events"

            def publish(_number: int) -> None:
                to_journal(database, session_id)

            result = asyncio.run(listen_to(server, path, secret, options, publish))
            database.close()
        else:
            connection = http.client.HTTPConnection("127.0.0.1", server.port)

            def publish(number: int) -> None:
                to_peer(connection, session_id, number)

            result = asyncio.run(listen_to(server, "/events", secret, options, publish))
            connection.close()
    return result


def one_round(options: argparse.Namespace, ours_first: bool) -> dict[str, float]:
    """Both sides once."""
    result: dict[str, float] = {}
    for side in ("ours", "peer") if ours_first else ("peer", "ours"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with log_in(folder, 1) as (_, (session_id,)):
                secret = token_in(folder)
            found = one_side(side, folder, session_id, secret, options)
        result |= {f"{side}_{key}": value for key, value in found.items()}
    result["delivered_ratio"] = result["ours_delivered"] / result["peer_delivered"]
    result["lag_ratio"] = result["ours_lag_p50_ms"] / result["peer_lag_p50_ms"]
    return result


def measure(clients: int, rate: int, seconds: int, rounds: int) -> dict[str, float]:
    """The medians over the rounds."""
    options = argparse.Namespace(clients=clients, rate=rate, seconds=seconds)
    return summary([one_round(options, number % 2 == 0) for number in range(rounds)])


def main() -> None:
    """Runs the rounds and prints the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--rate", type=int, default=20, help="events a second")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    print(json.dumps(measure(options.clients, options.rate, options.seconds, options.rounds), indent=2))


if __name__ == "__main__":
    main()
