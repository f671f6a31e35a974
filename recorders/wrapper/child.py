"""Runs one command with the recorder's terminal, files, signals and exit code."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from recorders.running import Steering
from recorders.spool import RecorderError

NOT_FOUND = 127
NOT_EXECUTABLE = 126

_FROM_THE_KEYBOARD = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends them to the command as well: the recorder only outlives them."""

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


class CommandNotStarted(RecorderError):
    """The command cannot be run; ``exit_code`` is what a shell answers then."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def run_child(
    arguments: Sequence[str],
    steered: Mapping[Steering, Callable[[], None]],
    at_end: Callable[[], None],
) -> int:
    """Runs the command on this process's own input and output until it ends; returns its exit code.

    ``steered`` is called when somebody steers the recorder from outside, ``at_end`` between the command's end
    and the moment its process id is given back. A command that a signal ended has the code 128 + n.

    Raises:
        CommandNotStarted: there is no such program, or it cannot be run.
    """
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int) -> None:
        if child is None:
            # The command may be there before this process has its number.
            early.append(number)
            return
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)

    with _until_a_signal() as sleep, _handlers(steered, pass_on):
        try:
            child = subprocess.Popen([*arguments])
        except FileNotFoundError:
            raise CommandNotStarted(f"{arguments[0]}: there is no such program", NOT_FOUND) from None
        except OSError as error:
            raise CommandNotStarted(f"{arguments[0]}: {error.strerror}", NOT_EXECUTABLE) from None
        for number in early:
            pass_on(number)
        while not _has_ended(child):
            sleep()
        at_end()
        status = child.wait()
    return status if status >= 0 else 128 - status


def _has_ended(child: "subprocess.Popen[bytes]") -> bool:
    if not sys.platform.startswith("linux"):
        return child.poll() is not None
    # Not yet taken back: its orphans have a parent again, and its number is nobody else's.
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


@contextmanager
def _until_a_signal() -> Generator[Callable[[], None]]:
    """Gives a way to sleep until a signal comes, the end of a child among them.

    A signal that comes right before a system call would wait for the end of that call, and what it asks with it.
    Each leaves a byte in a pipe here, so that the sleep after it is none.
    """
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def sleep() -> None:
        select.select([reading], [], [])
        with suppress(BlockingIOError):
            os.read(reading, 4_096)

    try:
        yield sleep
    finally:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)


@contextmanager
def _handlers(
    steered: Mapping[Steering, Callable[[], None]], pass_on: Callable[[int], None]
) -> Generator[None]:
    """Handlers, not "ignore": what is ignored here would be ignored by the command too."""

    def ignore(_number: int, _frame: FrameType | None) -> None:
        return

    def forward(number: int, _frame: FrameType | None) -> None:
        pass_on(number)

    def steer(number: int, _frame: FrameType | None) -> None:
        steered[by_number[number]]()

    by_number = {int(how.signal): how for how in steered}
    wanted = {number: ignore for number in (*_FROM_THE_KEYBOARD, signal.SIGCHLD)}
    wanted |= {number: forward for number in _PASSED_ON}
    wanted |= {how.signal: steer for how in steered}
    before: dict[signal.Signals, object] = {}
    try:
        for number, handler in wanted.items():
            if number == signal.SIGCHLD or signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
