"""Detects programs that a command leaves running, from the process table when the command has ended.

Without privileges there are three ways to see other processes. Tracing them (ptrace, seccomp) changes how they run;
the kernel's process connector is closed to containers and to ordinary users of older kernels, and reports so late
that a short-lived program is gone before it can be named; the process table is open to all but shows one moment. That
moment is chosen so that it is enough: when a command has ended, the programs that only helped it are gone - its own
event covers them - and what is still there was launched. Nothing is polled. Only the name of the program is read and
kept, never its arguments (DOC3 §0A.10 "process_launch").

A process that leaves its parent is found through ``adopting``: the recorder takes over the orphans of the command
it runs, as a container's first process does. A recorded shell's own background jobs stay below the shell; what
detaches from it twice (a daemon) is not seen there. Where there is no ``/proc`` nothing is reported.
"""

import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import uuid_utils

from contracts.base import clipped
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from recorders.command_events import CommandScene

MOST_LAUNCHES = 20
"""Programs named for one command; who starts more has started a system, not a program."""

RUNNING = "running"
"""The state in which a launch leaves its program (``after_state_ref``)."""

_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36
_ZOMBIE = frozenset({"Z", "X"})


@dataclass(frozen=True)
class LaunchedProgram:
    """A running program; ``started`` tells it from another process that gets its number later."""

    pid: int
    started: str
    name: str


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    started: str
    state: str


class LaunchWatch:
    """The programs below one process; what runs when the watch begins is not news."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._known: set[tuple[int, str]] = set()
        self.take_new()

    def take_new(self) -> tuple[LaunchedProgram, ...]:
        """The programs that have begun since the last call and still run, the oldest first."""
        running = _below(self._root)
        self._known &= {(one.pid, one.started) for one in running}
        found: list[LaunchedProgram] = []
        for one in running:
            name = None if (one.pid, one.started) in self._known else _program_of(one)
            if name is not None:
                self._known.add((one.pid, one.started))
                found.append(LaunchedProgram(one.pid, one.started, name))
        return tuple(found)


@contextmanager
def adopting() -> Generator[None]:
    """Makes this process the parent of its descendants' orphans while the block runs, where the system can."""
    is_set = _set_subreaper(1)
    try:
        yield
    finally:
        if is_set:
            _set_subreaper(0)


def launch_event(program: LaunchedProgram, scene: CommandScene) -> ObservedActionEvent:
    """The event of a launched program."""
    is_hashed = scene.redaction_mode is RedactionMode.HASH_ONLY
    return ObservedActionEvent(
        event_id=str(uuid_utils.uuid7()),
        learn_session_id=scene.learn_session_id,
        adapter_kind=ObservationAdapterKind.PROCESS_LAUNCH,
        app_family=None if is_hashed else clipped(program.name, 80),
        action_label=clipped(f"Launch {program.name}", 240),
        after_state_ref=RUNNING,
        caused_state_change=True,
        redaction_mode=scene.redaction_mode,
        created_at=datetime.now(UTC),
    )


def _set_subreaper(value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return bool(prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0) == 0)


def _below(root: int) -> list[_Process]:
    """The living descendants of ``root`` by their start."""
    children: dict[int, list[_Process]] = {}
    with suppress(OSError):
        for entry in os.scandir(_PROC):
            process = _process(int(entry.name)) if entry.name.isdigit() else None
            if process is not None:
                children.setdefault(process.parent, []).append(process)
    found: list[_Process] = []
    waiting = [root]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += [one.pid for one in below]
    return sorted((one for one in found if one.state not in _ZOMBIE), key=lambda one: int(one.started))


def _process(pid: int) -> _Process | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in brackets and may hold anything, so the fields are counted from the last bracket on.
    fields = text.rpartition(")")[2].split()
    return _Process(pid, int(fields[1]), fields[19], fields[0])


def _program_of(process: _Process) -> str | None:
    """The program's name; none for what has left again, and for a copy of its parent that has not begun one.

    A shell's ``program &`` is such a copy for a moment, and a bracketed list in the background is one for good.
    """
    folder = _PROC / str(process.pid)
    try:
        words = (folder / "cmdline").read_bytes()
        if not words or words == (_PROC / str(process.parent) / "cmdline").read_bytes():
            return None
        name = (folder / "exe").readlink().name
    except OSError:
        return None
    return os.fsencode(name.removesuffix(" (deleted)")).decode("utf-8", errors="replace") or None
