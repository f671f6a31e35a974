"""Starts confined commands through a launch server, which is started on first use and again if it has died."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from host.sandbox.launch_order import SandboxUnavailable

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_SERVE = (
    "import sys; sys.path.append(sys.argv[3]); from host.sandbox.launch_server import serve;"
    " serve(int(sys.argv[1]), sys.argv[2], sys.argv[3])"
)
_START_SECONDS = 20.0
_END_SECONDS = 5.0


class LaunchServer:
    """A launch server for one entry. May be used by several threads; ends with this process."""

    def __init__(self, entry: str) -> None:
        """``entry`` is ``module:function``: what a launcher runs in place of a program."""
        self._entry = entry
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._owner = os.getpid()

    def launch(self, descriptors: Sequence[int]) -> int:
        """Forks a launcher and gives it ``descriptors``: order, output, errors, reports, its channel; its process id.

        Raises:
            SandboxUnavailable: the server cannot be started.
        """
        with self._lock:
            for attempt in (1, 2):
                connection = self._connected()
                try:
                    socket.send_fds(connection, [b"launch"], descriptors)
                    if answer := connection.recv(64):
                        return int(answer)
                except OSError as error:
                    if attempt == 2:
                        raise SandboxUnavailable(f"the launch server does not answer: {error}") from error
                self._end()
            raise SandboxUnavailable("the launch server ends as soon as it is asked")

    def warm(self) -> None:
        """Starts the server, so that the first launch need not wait for it."""
        with self._lock:
            self._connected()

    def close(self) -> None:
        """Ends the server; what it has launched goes on."""
        if self._owner == os.getpid():
            with self._lock:
                self._end()

    def _connected(self) -> socket.socket:
        if self._connection is not None and self._owner == os.getpid():
            return self._connection
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [
                        sys.executable,
                        "-I",
                        "-S",
                        "-c",
                        _SERVE,
                        str(theirs.fileno()),
                        self._entry,
                        _PACKAGE_ROOT,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    cwd="/",
                    env={},
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            ours.settimeout(_START_SECONDS)
            if not ours.recv(64):
                raise OSError("it ended at its start")
        except OSError as error:
            ours.close()
            self._end()
            raise SandboxUnavailable(f"the launch server could not be started: {error}") from error
        atexit.unregister(self.close)
        atexit.register(self.close)
        self._owner = os.getpid()
        self._connection = ours
        return ours

    def _end(self) -> None:
        connection, process = self._connection, self._process
        self._connection = self._process = None
        if connection is not None:
            connection.close()
        if process is not None:
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
