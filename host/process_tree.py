"""Process trees: wait for a child, kill everything that a command has started."""

import contextlib
import os
import select
import signal
import stat
from pathlib import Path

_POLL_MILLISECONDS = 100
_SWEEP_PAUSE_SECONDS = 0.005
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def wait_for(child: int, lifeline: int) -> int | None:
    """The child's wait status, or None when the ``lifeline`` pipe closed first. Reaps orphans on the way."""
    watch = select.poll()
    watch.register(lifeline, select.POLLIN | select.POLLHUP)
    watch.register(os.pidfd_open(child), select.POLLIN)
    while True:
        if any(descriptor == lifeline for descriptor, _ in watch.poll(_POLL_MILLISECONDS)):
            return None
        for process, status in _reaped():
            if process == child:
                return status


def kill_namespace(first_process: int) -> None:
    """Ends a process tree by its process 1, which takes every other with it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(first_process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(first_process, 0)


def kill_descendants() -> None:
    """Ends everything below this process, which must be the subreaper of its tree.

    All are stopped before any is killed, so that none forks ahead of the sweep.
    """
    while found := _descendants(os.getpid()):
        stopped: set[int] = set()
        while new := found - stopped:
            _signal(new, signal.SIGSTOP)
            stopped |= new
            found = _descendants(os.getpid())
        _signal(stopped, signal.SIGKILL)
        select.select([], [], [], _SWEEP_PAUSE_SECONDS)
        _reaped()


def tasks_of(user: int) -> int:
    """How many threads ``user`` has on this host."""
    count = 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                if process.stat().st_uid == user:
                    count += sum(1 for _ in Path(process, "task").iterdir())
    return count


def deleted_bytes(ancestor: int, device: int) -> int:
    """The disk space of files on ``device`` that only processes below ``ancestor`` still hold open."""
    held: dict[int, int] = {}
    for process in _descendants(ancestor):
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(OSError):
                    found = descriptor.stat()
                    if found.st_nlink == 0 and found.st_dev == device and stat.S_ISREG(found.st_mode):
                        held[found.st_ino] = found.st_blocks * 512
    return sum(held.values())


def private_bytes(ancestor: int) -> int:
    """The memory of the processes below ``ancestor``, at the most: what several have in common counts for each."""
    return sum(map(_resident, _below(ancestor)))


def used_bytes(ancestor: int) -> int:
    """The memory of the processes below ``ancestor``: what several have in common counts once. Takes longer."""
    return sum(map(_proportional, _below(ancestor)))


def _below(ancestor: int) -> set[int]:
    """As ``_descendants``, by the kernel's own lists of children: cheap where the host has many processes.

    A list may lack a child while others end (proc(5)): good enough to measure, not to kill by.
    """
    found: set[int] = set()
    waiting = [ancestor]
    while waiting:
        new = _children(waiting.pop()) - found
        found |= new
        waiting.extend(new)
    return found


def _children(process: int) -> set[int]:
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                found.update(map(int, Path(task, "children").read_bytes().split()))
    return found


def _resident(process: int) -> int:
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_bytes().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE_BYTES


def _proportional(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_bytes().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except (OSError, StopIteration):
        return _resident(process)


def _reaped() -> list[tuple[int, int]]:
    ended: list[tuple[int, int]] = []
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(one)
    return ended


def _signal(processes: set[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def _descendants(ancestor: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name in brackets may itself hold brackets; the parent is the second field after it.
                fields = Path(entry, "stat").read_bytes().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: set[int] = set()
    waiting = [ancestor]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found
