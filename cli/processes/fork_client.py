"""Starts parts as forks of a process that has loaded their modules (``fork_server``), and follows them."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Self

from cli.processes.child_launcher import tied_to_this_process
from cli.processes.fork_server import MOST_BYTES

PROGRAM = (sys.executable, "-P", "-m", "cli.processes.fork_server")
LOADED_WITHIN_SECONDS = 60.0

CAN_FORK = sys.platform == "linux"
"""Elsewhere nothing ends a part when the process that it was forked from is killed."""


class ForkFailed(OSError):
    """The process that forks has ended, does not answer, or cannot fork."""


class ForkedProcess:
    """A part that was forked, as ``asyncio.subprocess.Process`` shows one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        """Waits for its end; its exit code, negative for a signal."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        """Asks it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it with no chance to tidy up."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def ended(self, code: int) -> None:
        """Says how it ended."""
        self.returncode = code
        self._ended.set()


class _ForkServer:
    """One server, from its start to its end."""

    def __init__(self, process: Process, connection: socket.socket) -> None:
        self._process = process
        self._connection = connection
        self._asked: list[asyncio.Future[ForkedProcess]] = []
        self._parts: dict[int, ForkedProcess] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def started(cls, program: Sequence[str], environment: Mapping[str, str]) -> Self:
        """A new one, which begins to load. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                process = await asyncio.create_subprocess_exec(
                    *tied_to_this_process([*program, str(theirs.fileno())]),
                    stdin=DEVNULL,
                    # What is wrong with a module is said by the part, which is started as a program then.
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    env=dict(environment),
                    pass_fds=(theirs.fileno(),),
                    process_group=0,
                )
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        return cls(process, ours)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes from it."""
        return self._reading.done()

    async def fork(self, arguments: Sequence[str], output: int) -> ForkedProcess:
        """A new part; one that comes when nobody waits for it any more is ended. Raises ForkFailed."""
        try:
            socket.send_fds(self._connection, [json.dumps({"arguments": list(arguments)}).encode()], [output])
        except OSError as error:
            raise ForkFailed(f"the process that parts are forked from cannot be asked: {error}") from error
        asked: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()
        self._asked.append(asked)
        try:
            await asyncio.wait({asked}, timeout=LOADED_WITHIN_SECONDS)
        except asyncio.CancelledError:
            asked.add_done_callback(_end)
            raise
        if asked.done():
            return asked.result()
        asked.add_done_callback(_end)
        if not self._parts:
            await self.close()
        raise ForkFailed("the process that parts are forked from does not answer")

    async def close(self) -> None:
        """Ends it, and with it what it forked."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await asyncio.wait({self._reading})

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            with suppress(OSError):
                while message := await loop.sock_recv(self._connection, MOST_BYTES):
                    self._take(json.loads(message))
        finally:
            self._connection.close()
            for part in self._parts.values():
                # They die with the server.
                part.ended(-signal.SIGKILL)
            for asked in self._asked:
                asked.set_exception(ForkFailed("the process that parts are forked from has ended"))

    def _take(self, message: Mapping[str, int]) -> None:
        if "ended" in message:
            self._parts.pop(message["ended"]).ended(message["code"])
        elif "failed" in message:
            self._asked.pop(0).set_exception(ForkFailed(message["failed"], os.strerror(message["failed"])))
        else:
            part = self._parts[message["started"]] = ForkedProcess(message["started"])
            self._asked.pop(0).set_result(part)


class ForkClient:
    """Keeps a fork server: where it has ended, another one is started for what is to be forked next."""

    def __init__(self, environment: Mapping[str, str], program: Sequence[str] = PROGRAM) -> None:
        self._environment = environment
        self._program = program
        self._server: _ForkServer | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Starts the server, which begins to load. Raises OSError."""
        await self._living()

    async def fork(self, arguments: Sequence[str], output: int) -> ForkedProcess:
        """A new part that runs ``apprentice`` with these arguments and writes to ``output``; raises OSError."""
        server = await self._living()
        return await server.fork(arguments, output)

    async def close(self) -> None:
        """Ends the server, and with it what it forked."""
        if self._server is not None:
            await self._server.close()

    async def _living(self) -> _ForkServer:
        # Parts that died with one server ask at once: they share the next one.
        async with self._starting:
            if self._server is None or self._server.has_ended:
                self._server = await _ForkServer.started(self._program, self._environment)
            return self._server


def _end(asked: asyncio.Future[ForkedProcess]) -> None:
    if asked.exception() is None:
        asked.result().kill()
