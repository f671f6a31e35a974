"""Process supervisor: starts parts in order, restarts them with backoff, stops them in reverse.

Nothing outlives the supervisor: an orderly stop ends each part and its process group, and on Linux a part
also dies when the supervisor itself is killed.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from cli.processes.child_launcher import tied_to_this_process
from cli.processes.fork_client import ForkClient
from cli.processes.part_log import PartLog
from cli.processes.part_output import keep_output
from contracts.backoff import Backoff

RESTART_BACKOFF = Backoff(first=0.5, cap=30.0)
"""Seconds before a part is started again that failed more than once in a row; the first time it is at once."""

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Part:
    """One program to keep running. A ``command`` that is called is called for each start.

    ``is_ready`` is asked until it says yes before the next part starts; ``drain_seconds`` is how long the
    part may take to finish its work after SIGTERM before it is killed. ``forked`` are the arguments of a part that is
    rather forked from a process that has its modules, where there is one.
    """

    name: str
    command: Sequence[str] | Callable[[], Sequence[str]]
    environment: Mapping[str, str]
    is_ready: Callable[[], Awaitable[bool]] | None = None
    ready_within_seconds: float = 60.0
    drain_seconds: float = 10.0
    forked: Sequence[str] = ()


class PartProcess(Protocol):
    """The process of a part, however it was started."""

    @property
    def pid(self) -> int:
        """Its id."""
        ...

    @property
    def returncode(self) -> int | None:
        """How it ended, negative for a signal; None while it runs."""
        ...

    async def wait(self) -> int:
        """Waits for its end."""
        ...

    def terminate(self) -> None:
        """Asks it to end."""
        ...


@dataclass
class Restarts:
    """Counts a part's failures in a row and delays its restarts, in seconds; a healthy run resets the count."""

    backoff: Backoff = RESTART_BACKOFF
    healthy_after_seconds: float = 60.0
    _failures: int = field(default=0, init=False)

    def next_delay(self, ran_seconds: float) -> float:
        """The wait after a part ended that had run for ``ran_seconds``."""
        self._failures = 1 if ran_seconds >= self.healthy_after_seconds else self._failures + 1
        return self.backoff.delay(self._failures - 1) if self._failures > 1 else 0.0


class PartFailed(Exception):
    """A part did not come up; the text names it, how it ended and the last lines it wrote."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


@dataclass
class _Spawned:
    """One process of a part, and the reading of what it writes."""

    process: PartProcess
    pump: asyncio.Task[None]
    swept: bool = False


@dataclass
class _Running:
    part: Part
    log: PartLog
    restarts: Restarts
    spawned: _Spawned
    started: float

    @property
    def process(self) -> PartProcess:
        return self.spawned.process


class Supervisor:
    """Runs parts until it is asked to stop.

    ``announce`` is given one line for people whenever something happens, ``pids_changed`` the process ids by
    part name after every start. ``echo`` receives every line the parts write, with the part's name. ``forks`` is
    what parts are forked from that can be; it is started before the first and ended after the last.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        log_dir: Path,
        announce: Callable[[str], None],
        *,
        pids_changed: Callable[[Mapping[str, int]], None] | None = None,
        echo: Callable[[str, str], None] | None = None,
        backoff: Backoff = RESTART_BACKOFF,
        forks: ForkClient | None = None,
    ) -> None:
        self._parts = parts
        self._forks = forks
        self._log_dir = log_dir
        self._announce = announce
        self._pids_changed = pids_changed
        self._echo = echo
        self._backoff = backoff
        self._running: list[_Running] = []
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()

    def request_stop(self) -> None:
        """Asks for an orderly stop; asking again kills what has not stopped yet. Safe in a signal handler."""
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each part that was started."""
        return {running.part.name: running.process.pid for running in self._running}

    async def run(self, when_ready: Callable[[], None]) -> None:
        """Starts every part, calls ``when_ready`` once all are, keeps them running until asked to stop.

        Raises:
            PartFailed: a part ended or was not ready in time while starting; the others were stopped.
        """
        stopping = asyncio.create_task(self._stop.wait())
        keepers: list[asyncio.Task[None]] = []
        try:
            starting = asyncio.create_task(self._start_all())
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                await _cancelled(starting)
                return
            starting.result()
            when_ready()
            keepers = [asyncio.create_task(self._keep(running)) for running in self._running]
            await asyncio.wait({stopping, *keepers}, return_when=asyncio.FIRST_COMPLETED)
            for keeper in keepers:
                if keeper.done():
                    keeper.result()
        finally:
            for task in (stopping, *keepers):
                await _cancelled(task)
            await self._stop_all()

    async def _start_all(self) -> None:
        if self._forks is not None:
            with contextlib.suppress(OSError):
                await self._forks.start()
        for part in self._parts:
            log = PartLog(self._log_dir / f"{part.name}.log")
            try:
                spawned = await self._spawn(part, log)
            except OSError as error:
                log.close()
                raise PartFailed(f"{part.name} cannot be started: {error}", part.name) from None
            running = _Running(part, log, Restarts(self._backoff), spawned, time.monotonic())
            self._running.append(running)
            await self._wait_until_ready(running)
        self._tell_pids()

    async def _wait_until_ready(self, running: _Running) -> None:
        part = running.part
        try:
            async with asyncio.timeout(part.ready_within_seconds):
                while True:
                    self._refuse_dead_parts()
                    if part.is_ready is None or await part.is_ready():
                        return
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            raise PartFailed(
                f"{part.name} was not ready within {part.ready_within_seconds:g} s{_last_lines(running)}",
                part.name,
            ) from None

    def _refuse_dead_parts(self) -> None:
        for running in self._running:
            code = running.process.returncode
            if code is not None:
                name = running.part.name
                raise PartFailed(f"{name} {_ending(code)} while starting{_last_lines(running)}", name)

    async def _keep(self, running: _Running) -> None:
        name = running.part.name
        while True:
            code = await running.process.wait()
            ending = _ending(code)
            await self._sweep(running.spawned)
            while True:
                delay = running.restarts.next_delay(time.monotonic() - running.started)
                when = f"in {delay:g} s" if delay else "at once"
                self._say(f"{name} {ending}; starting it again {when} (see {running.log.path})")
                await asyncio.sleep(delay)
                running.started = time.monotonic()
                try:
                    running.spawned = await self._spawn(running.part, running.log)
                    break
                except OSError as error:
                    ending = f"cannot be started: {error}"
            # Before the notification, so that its readers find the new process id.
            try:
                self._tell_pids()
            except OSError as error:
                self._say(
                    f"the new process id of {name} cannot be noted: {error}; what was noted before is out of date "
                    "until a part is started again"
                )
            self._say(f"{name} runs again (pid {running.process.pid})")

    async def _spawn(self, part: Part, log: PartLog) -> _Spawned:
        # A pipe of our own: with asyncio's, wait() could last until every grandchild has closed it too.
        read_end, write_end = os.pipe()
        try:
            process = await self._process_of(part, write_end)
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        echo = partial(self._echo, part.name) if self._echo else None
        return _Spawned(process, asyncio.create_task(keep_output(read_end, log, echo)))

    async def _process_of(self, part: Part, output: int) -> PartProcess:
        if self._forks is not None and part.forked:
            with contextlib.suppress(OSError):
                return await self._forks.fork(part.forked, output)
        command = part.command() if callable(part.command) else part.command
        return await asyncio.create_subprocess_exec(
            *tied_to_this_process(command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(part.environment),
            # Its own group: a Ctrl-C reaches the supervisor alone, which then stops the parts in order.
            process_group=0,
        )

    async def _stop_all(self) -> None:
        for running in reversed(self._running):
            process = running.process
            if process.returncode is None:
                process.terminate()
                await self._drained(running)
            await self._sweep(running.spawned)
            await process.wait()
            running.log.close()
        if self._forks is not None:
            await self._forks.close()

    async def _drained(self, running: _Running) -> None:
        ended = asyncio.create_task(running.process.wait())
        hurried = asyncio.create_task(self._hurry.wait())
        limit = running.part.drain_seconds
        await asyncio.wait({ended, hurried}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            why = "was asked to hurry" if self._hurry.is_set() else f"did not stop within {limit:g} s"
            self._say(f"{running.part.name} {why}; killing it")
        await _cancelled(ended)
        await _cancelled(hurried)

    async def _sweep(self, spawned: _Spawned) -> None:
        """Ends what is left of the process group, and the reading of what it wrote."""
        # Once: afterwards the id may be that of another group.
        if not spawned.swept:
            spawned.swept = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(spawned.process.pid, signal.SIGKILL)
        await asyncio.wait({spawned.pump}, timeout=2)
        await _cancelled(spawned.pump)

    def _say(self, line: str) -> None:
        # The terminal that would show it may be gone.
        with contextlib.suppress(OSError):
            self._announce(line)

    def _tell_pids(self) -> None:
        if self._pids_changed:
            self._pids_changed(self.pids)


async def _cancelled(task: asyncio.Task[object] | asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"


def _last_lines(running: _Running) -> str:
    lines = running.log.tail(8)
    return f"; the end of {running.log.path}:\n" + "\n".join(lines) if lines else f" (see {running.log.path})"
