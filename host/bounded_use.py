"""Bounded use of disk, memory and output: a folder's size, a process tree's memory, the two ends of a long output."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from host.process_tree import private_bytes, used_bytes

_BLOCK_BYTES = 512
_MEMORY_PAUSE_SECONDS = 0.05
_SHORTEST_PAUSE_SECONDS = 0.02
# Of a processor, spent on measuring.
_SHARE_OF_TIME = 0.05
_WORTH_A_LOOK_BYTES = 16 * 1024 * 1024


def exceeds(folder: Path, most_bytes: int, most_files: int) -> bool:
    """Whether ``folder`` takes more disk space or holds more files than given. Links are not followed.

    Stops counting as soon as the answer is known. What vanishes or cannot be read meanwhile is left out.
    """
    size = count = 0
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += _allocated(entry)
                    if size > most_bytes or count > most_files:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return False


def _allocated(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
    except OSError:
        return 0


class GrowthWatch:
    """Notices soon that a folder takes more disk space or holds more files than given.

    A small folder is measured fifty times a second; a large one as often as a twentieth of a processor allows, and
    whenever its file system has lost 16 MiB, whoever wrote them. ``deleted`` tells the disk space of files that are
    open and no longer in the folder; it is asked once the file system has lost as much as the folder may take.
    """

    def __init__(
        self, folder: Path, most_bytes: int, most_files: int, deleted: Callable[[], int] = lambda: 0
    ) -> None:
        self._folder, self._most_bytes, self._most_files = folder, most_bytes, most_files
        self._deleted = deleted
        self._free_at_first = self._free_before = self._free()
        self._next = 0.0

    def exceeded(self, now: float) -> bool:
        """Whether the folder is seen to exceed its bounds; ``now`` is of ``time.monotonic``."""
        free = self._free()
        if now < self._next and self._free_before - free < _WORTH_A_LOOK_BYTES:
            return False
        self._free_before = free
        found = self.measured()
        took = time.monotonic() - now
        self._next = now + max(_SHORTEST_PAUSE_SECONDS, took / _SHARE_OF_TIME)
        return found

    def measured(self) -> bool:
        """Measures now."""
        left = self._most_bytes
        if self._free_at_first - self._free() > left:
            left -= self._deleted()
        return left < 0 or exceeds(self._folder, left, self._most_files)

    def _free(self) -> int:
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return 0
        return found.f_bfree * found.f_frsize


class MemoryWatch:
    """Notices soon that the processes below one take more memory than given, all of them together.

    Looked at twenty times a second at most, and for a twentieth of a processor. Where the cheap upper bound is below
    the limit, nothing else is read.
    """

    def __init__(self, ancestor: int, most_bytes: int) -> None:
        self._ancestor, self._most_bytes = ancestor, most_bytes
        self._next = 0.0

    def exceeded(self, now: float) -> bool:
        """Whether they are seen to exceed their bound; ``now`` is of ``time.monotonic``."""
        if now < self._next:
            return False
        most = self._most_bytes
        found = private_bytes(self._ancestor) > most and used_bytes(self._ancestor) > most
        self._next = now + max(_MEMORY_PAUSE_SECONDS, (time.monotonic() - now) / _SHARE_OF_TIME)
        return found


class BoundedOutput:
    """Takes any amount of output and keeps its first and its last half of ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = b""
        self._tail = b""
        self.truncated = False

    def append(self, chunk: bytes) -> None:
        """Takes the next piece."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        rest = self._tail + chunk[room:] if room else self._tail + chunk
        self.truncated = self.truncated or len(rest) > self._half
        self._tail = rest[-self._half :]

    def text(self) -> str:
        """What was kept, a cut shown by a line of its own; bytes that are no UTF-8 are replaced."""
        head, tail = (part.decode("utf-8", errors="replace") for part in (self._head, self._tail))
        return f"{head}\n[output cut]\n{tail}" if self.truncated else head + tail
