"""Runs a command so that it dies with the process that started it.

Called as ``python child_launcher.py PARENT_PID COMMAND…``. Linux ends the command when its parent ends,
however the parent ended. It becomes the command, so the process id stays. Started by its path: only
the standard library is at hand.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Ties this process to ``parent`` and becomes ``command``; returns only by ``SystemExit``."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent ended before the tie was made.
        raise SystemExit(1)
    try:
        os.execvp(command[0], command)  # noqa: S606 - becoming the command is the purpose
    except OSError as error:
        raise SystemExit(f"{command[0]} cannot be run: {error.strerror}") from None


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
