"""Bounded use of disk and output: the size of a folder, and the two ends of a long output."""

import os
from pathlib import Path

_BLOCK_BYTES = 512


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
