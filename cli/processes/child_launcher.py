"""Runs a command so that it dies with the process that started it.

Called as ``python child_launcher.py PARENT_PID COMMAND…``. Linux ends the command when its parent ends,
however the parent ended. It becomes the command, so the process id stays. Started by its path: only
the standard library is at hand.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1


def tied_to_this_process(command: Sequence[str]) -> list[str]:
    """The command, run so that it dies with this process where the system can do that (Linux)."""
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def tie_to(parent: int) -> None:
    """Has the system kill this process when ``parent`` ends; raises SystemExit where it has ended already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent ended before the tie was made.
        raise SystemExit(1)


def main(parent: int, command: list[str]) -> None:
    """Ties this process to ``parent`` and becomes ``command``; returns only by ``SystemExit``."""
    tie_to(parent)
    try:
        os.execvp(command[0], command)  # noqa: S606 - becoming the command is the purpose
    except OSError as error:
        raise SystemExit(f"{command[0]} cannot be run: {error.strerror}") from None


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
