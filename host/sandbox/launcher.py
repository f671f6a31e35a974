"""Launcher: the process between the worker and one confined command.

It is started as a program, because a worker has threads and must not run code between fork and exec. The order
is one JSON line on standard input, which then stays open: when it closes, because the worker asks for an end or has
died, everything the command has started is killed. On a second pipe the launcher reports, a line each, as
``host.sandbox.launch_order`` defines.

What it runs is a program, or its ``entry``: a function called in the confined process itself, which saves the start of
an interpreter. Nothing but the order has been in that process's memory by then.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from host import landlock, namespaces, process_tree, seccomp
from host.sandbox.launch_order import (
    CONFINED,
    ENDED,
    NO_NAMESPACES,
    PRIVILEGED,
    SHARED,
    UNAVAILABLE,
    USER,
    Layers,
    Order,
)

_SPARE_USERS = (range(1_879_048_192, 1_883_242_496), range(61_184, 65_519))
"""User ids that distributions leave free; the second range is what a container without root of its own knows."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_CANNOT_EXECUTE = 126
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Pipes:
    """Descriptors beside input and output: for the reports, and those that the command talks over, if any."""

    reports: int
    channel: tuple[int, ...] = ()

    def close_channel(self) -> None:
        """Leaves the channel to the command alone."""
        for descriptor in self.channel:
            os.close(descriptor)


Entry = Callable[[tuple[int, ...]], None]
"""What runs in place of a program; given the channel."""


def main(reports: int, channel: tuple[int, ...] = (), entry: Entry | None = None) -> NoReturn:
    """Runs the order that stands on standard input; ``reports`` is the pipe for the reports."""
    os.set_inheritable(reports, False)
    pipes = Pipes(reports, channel)
    order = _read_order()
    try:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        user, group = _identity(order)
        os.chdir(order["root"])
        if order["isolation"] != SHARED:
            if order["isolation"] == USER and os.geteuid() != user:
                _become(user, group)
            namespaces.enter(privileged=order["isolation"] == PRIVILEGED)
    except OSError as error:
        _report(reports, UNAVAILABLE if order["isolation"] == SHARED else NO_NAMESPACES, str(error))
        os._exit(0)
    child = os.fork()
    if child == 0:
        _in_child(order, pipes, user, group, entry)
    pipes.close_channel()
    status = process_tree.wait_for(child, lifeline=0)
    if order["isolation"] == SHARED:
        process_tree.kill_descendants()
        if status is not None:
            _report(reports, ENDED, str(status))
    elif status is None:
        process_tree.kill_namespace(child)
    os._exit(0)


def _read_order() -> Order:
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(0, 65_536)
        if not part:
            os._exit(0)
        text += part
    order: Order = json.loads(text)
    return order


def _identity(order: Order) -> tuple[int, int]:
    """Who runs the command: the caller; for root a user id that nobody has, so that limits count."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    for spare in _SPARE_USERS:
        user = spare[os.getpid() % len(spare)]
        with contextlib.suppress(OSError):
            os.chown(order["root"], user, user)
            for folder, folders, files in os.walk(order["root"]):
                for name in (*folders, *files):
                    os.lchown(f"{folder}/{name}", user, user)
            return user, user
    raise OSError("root may not become another user here; run the worker as an ordinary user")


def _become(user: int, group: int) -> None:
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def _in_child(order: Order, pipes: Pipes, user: int, group: int, entry: Entry | None) -> NoReturn:
    """In namespaces: process 1 of the new tree, which reports the command's end. Else the command itself."""
    try:
        silence = os.open("/dev/null", os.O_RDONLY)
        os.dup2(silence, 0)
        os.close(silence)
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if order["isolation"] != SHARED:
            tree = namespaces.Tree(order["root"], order["root_bytes"], tuple(order["readable"]))
            namespaces.build_tree(tree, user, group)
    except OSError as error:
        _report(pipes.reports, NO_NAMESPACES, str(error))
        os._exit(0)
    if order["isolation"] == SHARED:
        _run_command(order, pipes, user, group, entry)
    command = os.fork()
    if command == 0:
        _run_command(order, pipes, user, group, entry)
    pipes.close_channel()
    # The command has the same user id: without this it could look into this process through /proc.
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    while True:
        process, status = os.wait()
        if process == command:
            _report(pipes.reports, ENDED, str(status))
            os._exit(0)


def _run_command(order: Order, pipes: Pipes, user: int, group: int, entry: Entry | None) -> NoReturn:
    try:
        os.setsid()
        if os.geteuid() != user:
            _become(user, group)
        if not os.access(order["root"], os.R_OK | os.W_OK | os.X_OK):
            raise OSError(
                f"without namespaces, user {user} cannot reach {order['root']}; run the worker as an ordinary"
                " user, or put its data where others may pass through"
            )
        _check_readable(order, user)
        _limit(order, user)
        layers = _confine(order)
    except OSError as error:
        _report(pipes.reports, UNAVAILABLE, str(error))
        os._exit(_CANNOT_EXECUTE)
    _report(pipes.reports, CONFINED, json.dumps(layers))
    try:
        environment = _settle(order)
        if entry is not None and not order["program"]:
            _run_entry(entry, pipes, environment)
        for descriptor in pipes.channel:
            os.set_inheritable(descriptor, True)
        os.execve(order["program"], order["arguments"], environment)  # noqa: S606
    except OSError as error:
        os.write(2, f"the command could not be started: {error}\n".encode())
        os._exit(_CANNOT_EXECUTE)


def _check_readable(order: Order, user: int) -> None:
    for path in order["readable"]:
        if not os.access(path, os.R_OK) or (Path(path).is_dir() and not os.access(path, os.X_OK)):
            raise OSError(
                f"user {user}, who runs the command, cannot read {path}; put it where others may read it"
            )


def _limit(order: Order, user: int) -> None:
    processes = order["processes"]
    if order["isolation"] == SHARED:
        processes += process_tree.tasks_of(user)
    memory = order["memory_bytes"]
    if not order["program"]:
        # What this process holds already is not the command's.
        memory += int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    data = order["data_bytes"] or resource.RLIM_INFINITY
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, order["cpu_seconds"], order["cpu_seconds"] + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_DATA, data, data),
        (resource.RLIMIT_FSIZE, order["file_bytes"], order["file_bytes"]),
        (resource.RLIMIT_NOFILE, order["open_files"], order["open_files"]),
        (resource.RLIMIT_NPROC, processes, processes),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = (
                most if value == resource.RLIM_INFINITY else min(value, most) for value in (soft, hard)
            )
        resource.setrlimit(kind, (soft, hard))


def _confine(order: Order) -> Layers:
    """Puts Landlock and the system call filter on this process.

    Raises:
        OSError: a layer without which nothing may run cannot be had.
    """
    shared = order["isolation"] == SHARED
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    abi = landlock.abi_version()
    if shared and abi < landlock.FIRST_ABI_THAT_GUARDS_TRUNCATION:
        raise OSError(
            f"no namespaces can be made, and the kernel's Landlock (version {abi}) is too old to do without;"
            " allow user namespaces, or use Linux 6.2 or newer"
        )
    program = seccomp.filter_program(
        os.uname().machine,
        shares_host=shared,
        forbid_signals=shared and abi < landlock.FIRST_ABI_THAT_GUARDS_SIGNALS,
        forbid_programs=order["programs"] == [] and not order["program"],
    )
    if shared and program is None:
        raise OSError(
            f"no namespaces can be made, and no system call filter is known for {os.uname().machine};"
            " allow user namespaces"
        )
    if abi:
        landlock.restrict(_rules(order, abi), abi)
    if program is not None:
        seccomp.install(program)
    return Layers(isolation=order["isolation"], landlock=abi, seccomp=program is not None)


def _rules(order: Order, abi: int) -> list[landlock.PathRule]:
    programs = order["programs"]
    own, system = landlock.every_right(abi), landlock.READ_AND_EXECUTE
    if programs is not None:
        own, system = own & ~landlock.EXECUTE, landlock.READ
        # A program is read by its loader, which is executed as well.
        programs = [*programs, *namespaces.LOADERS] if programs else []
    readable = [*namespaces.CONFIGURATION, "/etc/passwd", "/etc/group", *order["readable"]]
    temporary: list[landlock.PathRule] = []
    if order["isolation"] != SHARED:
        readable.append("/proc")
        temporary.append(landlock.PathRule(namespaces.TEMPORARY_FOLDER, own))
    return [
        *temporary,
        *(landlock.PathRule(path, system) for path in namespaces.SYSTEM_FOLDERS),
        *(landlock.PathRule(path, landlock.READ) for path in readable),
        *(landlock.PathRule(path, landlock.READ_AND_EXECUTE) for path in programs or ()),
        *(landlock.PathRule(path, landlock.DEVICE) for path in namespaces.DEVICES),
        landlock.PathRule(order["root"], own),
    ]


def _settle(order: Order) -> dict[str, str]:
    """Goes to the working folder; returns the environment.

    The folders are made here, where a link that leads out of the jail leads nowhere.
    """
    os.umask(0o022)
    temporary = Path(order["root"], order["temporary_folder"])
    temporary.mkdir(exist_ok=True)
    folder = Path(order["root"], order["working_folder"])
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": order["root"],
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "PWD": str(folder),
        **order["environment"],
    }


def _run_entry(entry: Entry, pipes: Pipes, environment: dict[str, str]) -> NoReturn:
    os.close(pipes.reports)
    os.environ.clear()
    os.environ.update(environment)
    entry(pipes.channel)
    os._exit(0)


def _report(reports: int, kind: str, text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(reports, f"{kind} {' '.join(text.split())}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
