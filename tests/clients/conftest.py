"""A scripted HTTP server: it answers what a test laid out, in order, and remembers what it was asked."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Answer:
    """``chunks`` are sent one by one; ``cut`` ends the connection in the middle of the body."""

    status: int = 200
    chunks: tuple[bytes, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    hang_up: bool = False


def json_answer(body: object, status: int = 200, **headers: str) -> Answer:
    return Answer(status, (json.dumps(body).encode(),), {"Content-Type": "application/json", **headers})


def error_answer(code: str, status: int, **more: object) -> Answer:
    extra = {key: value for key, value in more.items() if key != "headers"}
    error = {"code": code, "message": f"{code} happened", "retryable": status >= 500, "correlation_id": "c-1"}
    answer = json_answer({"error": {**error, **extra}}, status)
    answer.headers.update(more.get("headers", {}))  # type: ignore[arg-type]
    return answer


def event_stream(*events: tuple[str, str], cut: bool = False) -> Answer:
    chunks = tuple(f'id: {seq}\nevent: {kind}\ndata: {{"n": {seq}}}\n\n'.encode() for seq, kind in events)
    return Answer(200, chunks, {"Content-Type": "text/event-stream"}, cut=cut)


class WireServer(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Answer] = []
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answers(self, *script: Answer) -> None:
        self.script.extend(script)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WireServer

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        self.server.asked.append(Asked(self.command, self.path, dict(self.headers.items()), body))
        if not self.server.script:
            raise AssertionError(f"nothing is laid out for {self.command} {self.path}")
        answer = self.server.script.pop(0)
        self.close_connection = True
        if answer.hang_up:
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in answer.chunks:
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        if not answer.cut:
            self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_DELETE = handle_any

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def wire() -> Iterator[WireServer]:
    server = WireServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    assert server.script == [], "the client did not ask for everything that was laid out"


@pytest.fixture
def closed_url() -> str:
    """An address on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def laid_out() -> type:
    """The answers a test can lay out (fixtures are how test modules share under importlib mode)."""

    class LaidOut:
        json = staticmethod(json_answer)
        error = staticmethod(error_answer)
        events = staticmethod(event_stream)
        hang_up = Answer(hang_up=True)

    return LaidOut
