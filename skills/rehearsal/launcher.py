"""Launcher: the process between the worker and one rehearsed command.

It is started as a program, because a worker has threads and must not run code between fork and exec. The order
is one JSON line on standard input, which then stays open: when it closes, because the worker asks for an end or has
died, everything the command has started is killed. On a second pipe the launcher reports, a line each, as
``skills.rehearsal.launch_order`` defines.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import NoReturn

from host import landlock, namespaces, process_tree, seccomp
from skills.rehearsal.launch_order import (
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


def main(reports: int) -> NoReturn:
    """Runs the order that stands on standard input; ``reports`` is the pipe for the reports."""
    os.set_inheritable(reports, False)
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
        _in_child(order, reports, user, group)
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


def _in_child(order: Order, reports: int, user: int, group: int) -> NoReturn:
    """In namespaces: process 1 of the new tree, which reports the command's end. Else the command itself."""
    try:
        silence = os.open("/dev/null", os.O_RDONLY)
        os.dup2(silence, 0)
        os.close(silence)
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if order["isolation"] != SHARED:
            namespaces.build_tree(order["root"], user, group)
    except OSError as error:
        _report(reports, NO_NAMESPACES, str(error))
        os._exit(0)
    if order["isolation"] == SHARED:
        _run_command(order, reports, user, group)
    command = os.fork()
    if command == 0:
        _run_command(order, reports, user, group)
    # The command has the same user id: without this it could look into this process through /proc.
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    while True:
        process, status = os.wait()
        if process == command:
            _report(reports, ENDED, str(status))
            os._exit(0)


def _run_command(order: Order, reports: int, user: int, group: int) -> NoReturn:
    try:
        os.setsid()
        if os.geteuid() != user:
            _become(user, group)
        if not os.access(order["root"], os.R_OK | os.W_OK | os.X_OK):
            raise OSError(
                f"without namespaces, user {user} cannot reach {order['root']}; run the worker as an ordinary"
                " user, or put its data where others may pass through"
            )
        _limit(order, user)
        layers = _confine(order)
    except OSError as error:
        _report(reports, UNAVAILABLE, str(error))
        os._exit(_CANNOT_EXECUTE)
    _report(reports, CONFINED, json.dumps(layers))
    try:
        _execute(order)
    except OSError as error:
        os.write(2, f"the command could not be started: {error}\n".encode())
        os._exit(_CANNOT_EXECUTE)


def _limit(order: Order, user: int) -> None:
    processes = order["processes"]
    if order["isolation"] == SHARED:
        processes += process_tree.tasks_of(user)
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, order["cpu_seconds"], order["cpu_seconds"] + 1),
        (resource.RLIMIT_AS, order["memory_bytes"], order["memory_bytes"]),
        (resource.RLIMIT_FSIZE, order["file_bytes"], order["file_bytes"]),
        (resource.RLIMIT_NOFILE, order["open_files"], order["open_files"]),
        (resource.RLIMIT_NPROC, processes, processes),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
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
    readable = [*namespaces.CONFIGURATION, "/etc/passwd", "/etc/group"]
    temporary: list[landlock.PathRule] = []
    if order["isolation"] != SHARED:
        readable.append("/proc")
        temporary.append(landlock.PathRule(namespaces.TEMPORARY_FOLDER, landlock.every_right(abi)))
    return [
        *temporary,
        *(landlock.PathRule(path, landlock.READ_AND_EXECUTE) for path in namespaces.SYSTEM_FOLDERS),
        *(landlock.PathRule(path, landlock.READ) for path in readable),
        *(landlock.PathRule(path, landlock.DEVICE) for path in namespaces.DEVICES),
        landlock.PathRule(order["root"], landlock.every_right(abi)),
    ]


def _execute(order: Order) -> NoReturn:
    """Starts the shell. The folders are made here, where a link that leads out of the jail leads nowhere."""
    os.umask(0o022)
    temporary = Path(order["root"], order["temporary_folder"])
    temporary.mkdir(exist_ok=True)
    folder = Path(order["root"], order["working_folder"])
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": order["root"],
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "PWD": str(folder),
    }
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    options = ("--noprofile", "--norc") if shell == "/bin/bash" else ()
    os.execve(shell, [Path(shell).name, *options, "-c", order["command"]], environment)  # noqa: S606


def _report(reports: int, kind: str, text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(reports, f"{kind} {' '.join(text.split())}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
