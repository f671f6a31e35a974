"""Sandbox: runs one shell command in a jail folder, so that a rehearsal can do no harm (Linux).

Several layers: namespaces with their own file tree, Landlock, a system call filter, resource limits, a
clean environment, and a kill of the whole process tree at the end. Where files or the network cannot be
closed off, nothing runs: ``SandboxUnavailable``.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from host.bounded_use import BoundedOutput, GrowthWatch
from host.process_tree import deleted_bytes
from host.sandbox.launch_order import (
    CONFINED,
    ENDED,
    NO_NAMESPACES,
    PRIVILEGED,
    SHARED,
    UNAVAILABLE,
    USER,
    CommandOutcome,
    HostIsolation,
    Order,
    SandboxLimits,
    SandboxUnavailable,
    host_isolation,
)

__all__ = ["CommandOutcome", "HostIsolation", "Sandbox", "SandboxLimits", "SandboxUnavailable", "probe_host"]

TEMPORARY_FOLDER = ".tmp"
"""The folder in the jail that ``TMPDIR`` names."""

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_LAUNCH = (
    "import sys; sys.path.append(sys.argv[2]); from host.sandbox.launcher import main; main(int(sys.argv[1]))"
)
_NO_START_FILES = ("--noprofile", "--norc")
_POLL_SECONDS = 0.02
_WHILE_RUNNING_SECONDS = 1.0
_KILL_GRACE_SECONDS = 5.0
_CHUNK_BYTES = 65_536
_GREW = "the rehearsal folder grew beyond its limit"
_BY_SIGNAL = {
    signal.SIGXFSZ: "a file grew beyond its limit",
    signal.SIGXCPU: "the limit of processor time was used up",
    signal.SIGSYS: "a forbidden kind of system call was made",
}


@dataclass
class _Run:
    """One launch, while it lasts."""

    output: BoundedOutput
    launcher: int
    reports: bytearray = field(default_factory=bytearray)
    timed_out: bool = False
    cancelled: bool = False
    violations: list[str] = field(default_factory=list[str])

    def report(self, kind: str) -> str | None:
        """What the launcher reported under ``kind``."""
        for line in self.reports.decode(errors="replace").splitlines():
            if line.startswith(kind + " "):
                return line[2:]
        return None


class Sandbox:
    """A jail folder in which commands run one after the other; not for use by two threads at once.

    The folder must exist and belong to the caller. Run as root, the sandbox gives the folder and all in it to
    a user id that nobody has, and runs the command as that user.
    """

    def __init__(
        self, root: Path, limits: SandboxLimits | None = None, *, isolations: Sequence[str] | None = None
    ) -> None:
        """``isolations`` are the ways of ``host.sandbox.launch_order`` to try, the best first; by default all."""
        self.root = root.resolve()
        self.limits = limits or SandboxLimits()
        self._isolations = tuple(isolations) if isolations is not None else _isolations_for_caller()

    def run(
        self,
        command: str,
        working_folder: str = ".",
        *,
        cancelled: threading.Event | None = None,
        while_running: Callable[[], None] | None = None,
        every: float = _WHILE_RUNNING_SECONDS,
    ) -> CommandOutcome:
        """Runs ``command`` by bash (sh where there is none) in a folder of the jail, which is made if absent.

        When the command ends, runs out of time or is ``cancelled``, everything it has started ends with it.
        ``while_running`` is called about ``every`` so many seconds until then; what it raises ends the command as well.
        The environment holds PATH, HOME (the jail), TMPDIR (inside it), LANG, PWD; standard input is empty.

        Raises:
            SandboxUnavailable: files or the network cannot be closed off here, so nothing was run.
            ValueError: the working folder leads out of the jail.
        """
        if Path(working_folder).is_absolute() or ".." in Path(working_folder).parts:
            raise ValueError(f"working folder {working_folder!r} leads out of the jail; name one inside it")
        if not sys.platform.startswith("linux"):
            raise SandboxUnavailable("commands are rehearsed on Linux only; run the worker on Linux")
        started = time.monotonic()
        watch = _Watch(self.root, self.limits, cancelled, while_running, every)
        reasons: list[str] = []
        for isolation in self._isolations:
            run = self._launch(self._order(command, working_folder, isolation), watch)
            confined = run.report(CONFINED)
            if confined is not None:
                self._isolations = (isolation,)
                return _outcome(run, host_isolation(json.loads(confined)), time.monotonic() - started)
            reason = run.report(NO_NAMESPACES) or run.report(UNAVAILABLE)
            if reason is None and (run.timed_out or run.cancelled):
                return _outcome(run, HostIsolation(False, False, False), time.monotonic() - started)
            reasons.append(reason or f"the launcher ended early: {run.output.text()[-400:]}")
        raise SandboxUnavailable(
            "commands cannot be isolated on this host: " + "; ".join(dict.fromkeys(reasons))
        )

    def _order(self, command: str, working_folder: str, isolation: str) -> Order:
        shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
        options = _NO_START_FILES if shell == "/bin/bash" else ()
        return Order(
            isolation=isolation,
            root=str(self.root),
            root_bytes=0,
            working_folder=working_folder,
            temporary_folder=TEMPORARY_FOLDER,
            program=shell,
            arguments=[Path(shell).name, *options, "-c", command],
            environment={},
            readable=[],
            programs=None,
            cpu_seconds=self.limits.cpu_seconds,
            memory_bytes=self.limits.memory_bytes,
            data_bytes=0,
            file_bytes=min(self.limits.file_bytes, self.limits.jail_bytes),
            processes=self.limits.processes,
            open_files=self.limits.open_files,
        )

    def _launch(self, order: Order, watch: "_Watch") -> _Run:
        reports, reports_end = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _LAUNCH, str(reports_end), _PACKAGE_ROOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                cwd="/",
                env={},
                pass_fds=(reports_end,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(reports)
            raise SandboxUnavailable(f"the launcher could not be started: {error}") from error
        finally:
            os.close(reports_end)
        run = _Run(BoundedOutput(self.limits.output_bytes), process.pid)
        with process, os.fdopen(reports, "rb", buffering=0) as report_pipe:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                _send(process.stdin, json.dumps(order).encode() + b"\n")
                self._follow(process, process.stdout, report_pipe, run, watch)
            finally:
                process.stdin.close()
        return run

    def _follow(
        self,
        process: "subprocess.Popen[bytes]",
        output: IO[bytes],
        reports: IO[bytes],
        run: _Run,
        watch: "_Watch",
    ) -> None:
        """Drains both pipes until the whole tree has ended; closing the launcher's input is what ends it."""
        assert process.stdin is not None
        kill_at = float("inf")
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ, run.output.append)
            selector.register(reports, selectors.EVENT_READ, run.reports.extend)
            while selector.get_map():
                for key, _ in selector.select(_POLL_SECONDS):
                    chunk = os.read(key.fd, _CHUNK_BYTES)
                    if chunk:
                        key.data(chunk)
                    else:
                        selector.unregister(key.fileobj)
                now = time.monotonic()
                if process.stdin.closed:
                    if now >= kill_at:
                        process.kill()
                elif selector.get_map() and watch.ends(run, now):
                    process.stdin.close()
                    kill_at = now + _KILL_GRACE_SECONDS
        watch.measure(run)


class _Watch:
    """Decides, many times a second, whether a command must end now."""

    def __init__(
        self,
        root: Path,
        limits: SandboxLimits,
        cancelled: threading.Event | None,
        while_running: Callable[[], None] | None,
        every: float,
    ) -> None:
        self._root = root
        self._limits = limits
        self._cancelled = cancelled
        self._while_running = while_running
        self._growth = GrowthWatch(root, limits.jail_bytes, limits.jail_files, self._deleted)
        self._launcher = 0
        now = time.monotonic()
        self._deadline = now + limits.wall_seconds
        self._every = every
        self._next_call = now + every

    def ends(self, run: _Run, now: float) -> bool:
        """Whether the command must end; the reason is noted in ``run``."""
        if self._while_running is not None and now >= self._next_call:
            self._next_call = now + self._every
            self._while_running()
        run.timed_out = now >= self._deadline
        run.cancelled = self._cancelled is not None and self._cancelled.is_set()
        self._launcher = run.launcher
        if not run.violations and self._growth.exceeded(now):
            run.violations.append(_GREW)
        return run.timed_out or run.cancelled or bool(run.violations)

    def measure(self, run: _Run) -> None:
        """Notes when the jail holds more than it may."""
        if not run.violations and self._growth.measured():
            run.violations.append(_GREW)

    def _deleted(self) -> int:
        return deleted_bytes(self._launcher, self._root.stat().st_dev) if self._launcher else 0


def probe_host() -> HostIsolation:
    """What this host can keep apart, found by running an empty command; nothing is cached."""
    with tempfile.TemporaryDirectory(prefix="apprentice-probe-") as folder:
        try:
            return Sandbox(Path(folder)).run(":").isolation
        except SandboxUnavailable as error:
            return HostIsolation(False, False, False, (str(error),))


def _isolations_for_caller() -> tuple[str, ...]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return (PRIVILEGED, USER, SHARED) if is_root else (USER, SHARED)


def _send(pipe: IO[bytes], text: bytes) -> None:
    view = memoryview(text)
    try:
        while view:
            view = view[os.write(pipe.fileno(), view) :]
    except BrokenPipeError:
        return


def _outcome(run: _Run, isolation: HostIsolation, duration: float) -> CommandOutcome:
    ended = run.report(ENDED)
    stopped_by_sandbox = run.timed_out or run.cancelled or bool(run.violations)
    status = int(ended) if ended is not None and not stopped_by_sandbox else None
    exit_code = os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None
    by_signal = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
    # A shell that outlives its program hands the signal on as 128 and the number.
    fatal = by_signal or (exit_code - 128 if exit_code is not None and exit_code > 128 else 0)
    violations = [*run.violations, *(text for number, text in _BY_SIGNAL.items() if number == fatal)]
    return CommandOutcome(
        exit_code=exit_code,
        signal=by_signal,
        timed_out=run.timed_out,
        output=run.output.text(),
        truncated=run.output.truncated,
        duration_seconds=duration,
        cancelled=run.cancelled,
        violations=tuple(violations),
        isolation=isolation,
    )
