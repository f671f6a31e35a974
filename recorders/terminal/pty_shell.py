"""A recorded bash under its own pseudo-terminal."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from shutil import which

from recorders.spool import RecorderError

RECORDING_VARIABLE = "APPRENTICE_RECORDING"
"""Set in a recorded shell to its session."""

_GRACE_S = 5.0
# Makes the pseudo-terminal the new session's own before bash takes the process over. A program of its own, because
# forking without one is not safe while the delivering thread runs.
_LAUNCHER = (
    *(sys.executable, "-I", "-S", "-c"),
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])",
)


def is_recorded() -> bool:
    """Whether this process runs in a recorded shell."""
    return RECORDING_VARIABLE in os.environ


class PtyShell:
    """The shell process and the master side of its terminal.

    Raises:
        RecorderError: there is no bash, or its folder cannot be entered.
    """

    def __init__(self, rcfile: Path, folder: Path, *, interactive: bool, session: str) -> None:
        bash = which("bash")
        if bash is None:
            raise RecorderError("the terminal recorder needs bash: install it, or put it on the PATH")
        self._master, slave = os.openpty()
        environment = os.environ | {RECORDING_VARIABLE: session}
        if not interactive:
            environment["TERM"] = "dumb"
        options = [] if interactive else ["--noediting"]
        try:
            self._process = subprocess.Popen(
                [*_LAUNCHER, bash, *options, "--noprofile", "--rcfile", str(rcfile), "-i"],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._master)
            raise RecorderError(f"the shell cannot start in {folder}: {error}") from error
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)
        self._untyped = b""

    @property
    def pid(self) -> int:
        """The shell's process id."""
        return self._process.pid

    def fileno(self) -> int:
        """The terminal's master side."""
        return self._master

    def read(self) -> bytes:
        """What the shell has printed since; empty when its terminal is closed."""
        try:
            return os.read(self._master, 65536)
        except OSError:
            return b""

    def type(self, data: bytes) -> None:
        """Types ``data`` on the shell's keyboard, as far as it takes it; ``type(b"")`` goes on with the rest."""
        self._untyped += data
        try:
            self._untyped = self._untyped[os.write(self._master, self._untyped) :]
        except BlockingIOError:
            return
        except OSError:
            self._untyped = b""

    @property
    def has_untyped(self) -> bool:
        """Whether the shell's keyboard was full; wait until the terminal is writable and type on."""
        return bool(self._untyped)

    @property
    def hides_typing(self) -> bool:
        """Whether what is typed now stays invisible, as at the question for a password.

        Programs that edit their line themselves show it though the terminal does not: they take single keys.
        """
        modes = self._modes()
        return modes is None or (bool(modes & termios.ICANON) and not modes & termios.ECHO)

    @property
    def takes_single_keys(self) -> bool:
        """Whether the program edits its line itself, so that a tab may complete a word."""
        modes = self._modes()
        return modes is None or not modes & termios.ICANON

    def _modes(self) -> int | None:
        """The local modes of the terminal as the program that runs in it has set them; ``None`` when it is closed."""
        try:
            return int(termios.tcgetattr(self._master)[3])
        except (OSError, termios.error):
            return None

    def resize_like(self, terminal: int) -> None:
        """Gives the shell's terminal the size of ``terminal``."""
        with suppress(OSError):
            size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    @property
    def is_running(self) -> bool:
        """Whether the shell is alive."""
        return self._process.poll() is None

    def close(self) -> None:
        """Hangs up as a closed terminal window does, and kills what does not go within five seconds."""
        foreground = None
        with suppress(OSError):
            foreground = os.tcgetpgrp(self._master)
        os.close(self._master)
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            for group in {foreground, self._process.pid} - {None, 0}:
                with suppress(OSError):
                    os.killpg(group or 0, signal.SIGKILL)
            self._process.wait()
