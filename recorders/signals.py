"""Signals as bytes in a pipe (self-pipe), so that an event loop handles them between other events."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

WATCHED = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG, signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP)
"""Pause, resume and stop (``recorders.running.Steering``), window size, termination and hang-up."""


class SignalInbox:
    """The signals received and not yet handled."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """The descriptor to wait on for reading."""
        return self._descriptor

    def take(self) -> list[signal.Signals]:
        """The waiting signals, oldest first."""
        try:
            return [signal.Signals(number) for number in os.read(self._descriptor, 64)]
        except BlockingIOError:
            return []


@contextmanager
def watched_signals() -> Generator[SignalInbox]:
    """Collects signals while the block runs and restores the handlers. Outside the main thread it stays empty."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)

    def note(number: int, _frame: FrameType | None) -> None:
        os.write(writing, bytes([number]))

    in_main_thread = threading.current_thread() is threading.main_thread()
    before = {s: signal.signal(s, note) for s in WATCHED} if in_main_thread else {}
    try:
        yield SignalInbox(reading)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
