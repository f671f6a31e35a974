"""A small real ingest route for the recorders' tests: idempotent, and able to refuse."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase

import pytest
import uuid_utils

from contracts.learning.observation import ExitClass, ObservedActionEvent, TerminalObservation


@dataclass(frozen=True)
class Refusing:
    """One answer other than success."""

    status: int
    code: str = "INTERNAL_ERROR"
    retryable: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)

    def body(self) -> bytes:
        error = {"code": self.code, "message": "no", "retryable": self.retryable, "correlation_id": "c"}
        return json.dumps({"error": error | self.extra}).encode()


class IngestServer:
    """Keeps what it accepted, in order, and every raw body it was sent; refuses as told beforehand."""

    def __init__(self, port: int = 0, accepted: Mapping[str, dict[str, object]] | None = None) -> None:
        self.accepted: dict[str, dict[str, object]] = dict(accepted or {})
        self.bodies: list[bytes] = []
        self.tokens: set[str] = set()
        self.batch_sizes: list[int] = []
        self.heartbeats: list[tuple[str, str | None]] = []
        self.refusals: list[Refusing] = []
        self.always: Refusing | None = None
        self.states: dict[str, tuple[str, bytes]] = {}
        self.states_asked = 0
        self.refused_states: list[Refusing] = []
        self.changed = threading.Condition()
        self.connections: list[socket.socket] = []
        self._is_up = True
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections.append(self.connection)

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    # The recorder was killed meanwhile: no server takes half a request.
                    self.close_connection = True
                    return
                if self.path.endswith("/heartbeat"):
                    kind = self.path.split("/")[-2]
                    server.heartbeats.append((kind, json.loads(body).get("error_code")))
                    status, answer, headers = 200, b"{}", {}
                else:
                    status, answer, headers = server.answer(self.path, body, self.headers["Authorization"])
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def do_PUT(self) -> None:
                body = _body_in_chunks(self.rfile)
                status, answer = server.answer_state(self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = False
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def answer(self, path: str, body: bytes, token: str) -> tuple[int, bytes, dict[str, str]]:
        with self.changed:
            self.bodies.append(body)
            self.tokens.add(token)
            self.changed.notify_all()
            refusal = self.refusals.pop(0) if self.refusals else self.always
            if refusal is not None:
                return refusal.status, refusal.body(), refusal.headers
            events = json.loads(body)["events"]
            session = path.split("/")[4]
            self.batch_sizes.append(len(events))
            new = [e for e in events if e["event_id"] not in self.accepted]
            assert all(e["learn_session_id"] == session for e in events)
            self.accepted |= {e["event_id"]: e for e in new}
        counts = {"accepted": len(new), "duplicate": len(events) - len(new), "session_state": "capturing"}
        counts |= {"dropped_off_target": 0, "dropped_not_meaningful": 0}
        return 200, json.dumps(counts).encode(), {}

    def answer_state(self, path: str, body: bytes) -> tuple[int, bytes]:
        with self.changed:
            self.states_asked += 1
            self.changed.notify_all()
            refusal = self.refused_states.pop(0) if self.refused_states else self.always
            if refusal is not None:
                return refusal.status, refusal.body()
            self.states[path.split("/")[-1]] = (path.split("/")[4], body)
        return 200, b"{}"

    def refuse(self, status: int, times: int = 1, **how: object) -> None:
        """Answers the next ``times`` requests with ``status``."""
        with self.changed:
            self.refusals += [Refusing(status, **how)] * times

    @staticmethod
    def refusing(status: int, **how: object) -> Refusing:
        """A refusal for ``always``."""
        return Refusing(status, **how)

    def wait_for_body(self, part: bytes) -> None:
        """Waits until a request held ``part``."""
        with self.changed:
            assert self.changed.wait_for(lambda: any(part in body for body in self.bodies), 20)

    def labels(self) -> list[str]:
        with self.changed:
            return [str(e["action_label"]) for e in self.accepted.values()]

    def wait_for_requests(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.bodies) >= count, 20)

    def stop(self) -> None:
        """Goes away as a killed server does, kept-alive connections included; a second call does nothing."""
        if not self._is_up:
            return
        self._is_up = False
        self._http.shutdown()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()


def _body_in_chunks(stream: BufferedIOBase) -> bytes:
    """A request's body that was sent without saying its length beforehand; as much as came of one cut off."""
    pieces: list[bytes] = []
    while size := int(stream.readline() or b"0", 16):
        pieces.append(stream.read(size))
        stream.readline()
    stream.readline()
    return b"".join(pieces)


@pytest.fixture
def ingest_server() -> Iterator[IngestServer]:
    server = IngestServer()
    yield server
    server.stop()


@pytest.fixture
def restart_ingest_server() -> Iterator[Callable[[IngestServer], IngestServer]]:
    """Starts a server anew on the port of one that was stopped; it remembers what the first accepted."""
    started: list[IngestServer] = []

    def restart(old: IngestServer) -> IngestServer:
        server = IngestServer(old.port, old.accepted)
        started.append(server)
        return server

    yield restart
    for server in started:
        server.stop()


@pytest.fixture
def session_id() -> str:
    return str(uuid_utils.uuid7())


@pytest.fixture
def new_event(session_id: str) -> Callable[..., ObservedActionEvent]:
    """Makes an observed command of the session."""

    def make(label: str, session: str = session_id) -> ObservedActionEvent:
        return ObservedActionEvent(
            event_id=str(uuid_utils.uuid7()),
            learn_session_id=session,
            adapter_kind="terminal_command",
            action_label=label,
            terminal=TerminalObservation(command=label, exit_class=ExitClass.OK, working_folder="."),
            created_at=datetime.now(UTC),
        )

    return make
