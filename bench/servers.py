"""The servers that ``bench.ingest`` and ``bench.sse`` talk to, each in a process of its own.

Usage: ``python -m bench.servers (ours|peer) FOLDER``. Prints its port and serves until its input is closed.
``ours`` is the whole application over the database in FOLDER; ``peer`` is the least that Starlette can do.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from api.app import create_app
from bench.ingest import RawGroupCommit, rows_of
from config.memory import collect_seldom
from config.settings import Settings


class Peer:
    """Bare routes: rows straight into SQLite, and frames straight to every listener."""

    def __init__(self, folder: Path) -> None:
        self._rows = RawGroupCommit(folder / "peer.db")
        self._listeners: set[asyncio.Queue[bytes]] = set()

    def app(self) -> Starlette:
        """The application."""
        return Starlette(
            routes=[
                Route("/ingest", self._ingest, methods=["POST"]),
                Route("/publish", self._publish, methods=["POST"]),
                Route("/events", self._events),
            ]
        )

    async def _ingest(self, request: Request) -> JSONResponse:
        body = await request.body()

        def keep() -> int:
            rows = rows_of(body)
            self._rows.write(rows)
            return len(rows)

        return JSONResponse({"accepted": await to_thread.run_sync(keep)})

    async def _publish(self, request: Request) -> JSONResponse:
        frame = await request.body()
        for listener in self._listeners:
            listener.put_nowait(frame)
        return JSONResponse({})

    async def _events(self, _request: Request) -> StreamingResponse:
        return StreamingResponse(self._frames(), media_type="text/event-stream")

    async def _frames(self) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield b"retry: 2000\n\n"
            while True:
                yield await queue.get()
        finally:
            self._listeners.discard(queue)

    def close(self) -> None:
        """Closes the database."""
        self._rows.close()


def serve(app: ASGIApp) -> None:
    """Serves on a free port until the input is closed."""
    collect_seldom()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)

        def stop_at_end_of_input() -> None:
            sys.stdin.read()
            server.should_exit = True

        threading.Thread(target=stop_at_end_of_input, daemon=True).start()
        print(json.dumps({"port": listening.getsockname()[1]}), flush=True)
        server.run(sockets=[listening])


@dataclass(frozen=True)
class Running:
    """A server in a process of its own."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time it has used; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(kind: str, folder: Path) -> Iterator[Running]:
    """Starts a server and stops it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.servers", kind, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = json.loads(process.stdout.readline())["port"]
        _wait_until_it_answers(port)
        yield Running(port, process.pid)
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def _wait_until_it_answers(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                if connection.recv(1):
                    return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main() -> None:
    """Serves the side named on the command line."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    if kind == "ours":
        serve(create_app(Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'ours.db'}")))
        return
    peer = Peer(folder)
    serve(peer.app())
    peer.close()


if __name__ == "__main__":
    main()
