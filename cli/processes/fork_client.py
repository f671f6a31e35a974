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

from cli.processes.child_launcher import tied_to_this_process
from cli.processes.fork_server import MOST_BYTES

PROGRAM = (sys.executable, "-P", "-m", "cli.processes.fork_server")
LOADED_WITHIN_SECONDS = 60.0

CAN_FORK = sys.platform == "linux"
"""Elsewhere nothing ends a part when the process that it was forked from is killed."""


class ForkFailed(OSError):
    """The process that forks has ended, or does not answer."""


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


class ForkClient:
    """Keeps a fork server. Where it has ended, the next ``fork`` fails and another one is started."""

    def __init__(self, environment: Mapping[str, str], program: Sequence[str] = PROGRAM) -> None:
        self._environment = environment
        self._program = program
        self._server: Process | None = None
        self._socket: socket.socket | None = None
        self._reading: asyncio.Task[None] | None = None
        self._asked: list[asyncio.Future[ForkedProcess]] = []
        self._parts: dict[int, ForkedProcess] = {}

    async def start(self) -> None:
        """Starts the server, which begins to load. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._server = await asyncio.create_subprocess_exec(
                    *tied_to_this_process([*self._program, str(theirs.fileno())]),
                    stdin=DEVNULL,
                    # What is wrong with a module is said by the part, which is started as a program then.
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    env=dict(self._environment),
                    pass_fds=(theirs.fileno(),),
                    process_group=0,
                )
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        self._socket = ours
        self._reading = asyncio.create_task(self._read(ours))

    async def fork(self, arguments: Sequence[str], output: int) -> ForkedProcess:
        """A new part that runs ``apprentice`` with these arguments and writes to ``output``; raises ForkFailed."""
        if self._socket is None:
            # For the next one: this one is quicker there as a program of its own.
            await self.start()
            raise ForkFailed("the process that parts are forked from has ended")
        asked: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()
        self._asked.append(asked)
        try:
            socket.send_fds(self._socket, [json.dumps({"arguments": list(arguments)}).encode()], [output])
            async with asyncio.timeout(LOADED_WITHIN_SECONDS):
                return await asked
        except (TimeoutError, OSError) as error:
            await self.close()
            raise ForkFailed(
                str(error) or "the process that parts are forked from does not answer"
            ) from error

    async def close(self) -> None:
        """Ends the server, and with it what it forked."""
        if self._server is not None:
            with suppress(ProcessLookupError):
                self._server.kill()
            await self._server.wait()
        if self._reading is not None:
            await self._reading

    async def _read(self, ours: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with ours, suppress(OSError):
            while message := await loop.sock_recv(ours, MOST_BYTES):
                self._take(json.loads(message))
        self._socket = None
        for part in self._parts.values():
            # They die with the server.
            part.ended(-signal.SIGKILL)
        self._parts.clear()
        for asked in self._asked:
            if not asked.done():
                asked.set_exception(ForkFailed("the process that parts are forked from has ended"))
        self._asked.clear()

    def _take(self, message: Mapping[str, int]) -> None:
        if "ended" in message:
            self._parts.pop(message["ended"]).ended(message["code"])
            return
        part = self._parts[message["started"]] = ForkedProcess(message["started"])
        asked = self._asked.pop(0)
        if not asked.done():
            asked.set_result(part)
