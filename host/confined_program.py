"""Launcher that confines itself with Landlock and seccomp, without new privileges, and then becomes a program.

Started as a program of its own, because a worker has threads and must not run code between fork and exec. What to
start stands in a file descriptor (a file in memory), so that no argument and no variable is seen in a process list.
Whatever the program starts is confined as well. The network stays open, but no Unix socket can be made: agents of keys,
the session bus and container engines are reached by those.
"""

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypedDict

from host import landlock, seccomp

CANNOT_CONFINE = 125
"""Exit status of a launcher that could not be confined; the program was not started."""

CANNOT_EXECUTE = 126

_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT = 23, 24, 28, 47
_CLEAR_ALL, _NO_ROOT_AND_LOCKED, _MOST_CAPABILITIES = 4, 0b11, 64
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[1])
_LAUNCH = (
    "import sys; sys.path.append(sys.argv[2]); from host.confined_program import main; main(int(sys.argv[1]))"
)


class ProgramOrder(TypedDict):
    """What is started, and what it may reach."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    rules: list[tuple[str, int]]


def can_confine() -> bool:
    """Whether this kernel has Landlock."""
    return landlock.abi_version() > 0


def confinement() -> tuple[bool, str]:
    """Whether local programs are confined here, and in words for people what holds."""
    abi = landlock.abi_version()
    always = "they get no variable of the worker that is not named, and no argument may name keys or the data directory"
    if not abi:
        return False, (
            "local tool servers are NOT confined: this system has no Landlock (Linux 5.13 and newer have it), so they "
            f"can read what the worker's account can, its tokens and keys among it; {always}"
        )
    lacks: list[str] = []
    if abi < landlock.FIRST_ABI_THAT_GUARDS_TRUNCATION:
        lacks.append("it does not keep them from emptying files (Linux 6.2 does)")
    if abi < landlock.FIRST_ABI_THAT_GUARDS_SIGNALS:
        lacks.append("it does not keep them from ending the worker's other processes (Linux 6.12 does)")
    if seccomp.program_filter(os.uname().machine) is None:
        lacks.append("no system call filter is known for this machine, so they can use Unix sockets")
    said = f"local tool servers run confined (Landlock {abi}), without data directory and keys"
    return True, "; ".join((said, *lacks))


def order_in_memory(
    arguments: Sequence[str], environment: Mapping[str, str], folder: str, rules: Sequence[landlock.PathRule]
) -> int:
    """A descriptor with the order, for ``launch_command``; the caller closes it once the launcher is started."""
    order = ProgramOrder(
        arguments=[*arguments],
        environment={**environment},
        folder=folder,
        rules=[(one.path, one.rights) for one in rules],
    )
    descriptor = os.memfd_create("program-order")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(json.dumps(order).encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def launch_command(descriptor: int) -> list[str]:
    """What starts the launcher, which needs that descriptor and an empty environment."""
    return [sys.executable, "-I", "-S", "-c", _LAUNCH, str(descriptor), _PACKAGE_ROOT]


def main(descriptor: int) -> NoReturn:
    """Carries out the order in ``descriptor``; exits with ``CANNOT_CONFINE`` where a layer cannot be had."""
    with os.fdopen(descriptor, "rb") as file:
        order: ProgramOrder = json.loads(file.read())
    try:
        os.chdir(order["folder"])
        _confine(order)
    except OSError:
        os._exit(CANNOT_CONFINE)
    try:
        os.execve(order["arguments"][0], order["arguments"], order["environment"])  # noqa: S606
    except (OSError, ValueError):
        os._exit(CANNOT_EXECUTE)


def _confine(order: ProgramOrder) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        _give_up_capabilities(libc)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    abi = landlock.abi_version()
    if not abi:
        raise OSError("Landlock is not there")
    landlock.restrict([landlock.PathRule(*rule) for rule in order["rules"]], abi, closes_network=False)
    program = seccomp.program_filter(os.uname().machine)
    if program is not None:
        seccomp.install(program)


def _give_up_capabilities(libc: ctypes.CDLL) -> None:
    """Root without its rights: Landlock does not hold against them everywhere (another process's environment is read by
    CAP_PERFMON)."""
    libc.prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    held = any(libc.prctl(_PR_CAPBSET_READ, one, 0, 0, 0) == 1 for one in range(_MOST_CAPABILITIES))
    for capability in range(_MOST_CAPABILITIES):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        if libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
            raise OSError(ctypes.get_errno(), "a capability was not given up")
    # Without it a root that executes something is given what the bounding set holds, and what it may inherit.
    if libc.prctl(_PR_SET_SECUREBITS, _NO_ROOT_AND_LOCKED, 0, 0, 0) != 0 and held:
        raise OSError(ctypes.get_errno(), "the rights of root were not given up")
