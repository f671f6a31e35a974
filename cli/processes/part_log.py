"""The log file of a part: rotated when it grows past a limit, and readable by its owner only."""

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

ROTATE_AT_BYTES = 10 * 1024 * 1024
KEPT_FILES = 3

_TAIL_BYTES = 8192


class PartLog:
    """Appends to ``path``; when it grows past the limit it becomes ``path.1`` and the oldest is dropped."""

    def __init__(self, path: Path, limit: int = ROTATE_AT_BYTES, kept: int = KEPT_FILES) -> None:
        self.path = path
        self._limit = limit
        self._kept = kept
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = self._opened()
        with suppress(OSError):
            self._rotate_if_full()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, chunk: bytes) -> None:
        """Appends ``chunk``; raises OSError when the disk refuses it, or a new file where this one is full."""
        self._file.write(chunk)
        self._rotate_if_full()

    def tail(self, lines: int) -> list[str]:
        """The last lines that were written, at most 8 KiB of them."""
        file = self._file.fileno()
        end = os.pread(file, _TAIL_BYTES, max(0, os.fstat(file).st_size - _TAIL_BYTES))
        return end.decode("utf-8", errors="replace").splitlines()[-lines:]

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _rotate_if_full(self) -> None:
        if self._file.tell() < self._limit:
            return
        # Where somebody removed it, or an earlier try could not open the new one, nothing is left to move.
        if self.path.exists():
            for number in range(self._kept - 1, 0, -1):
                with suppress(FileNotFoundError):
                    self._numbered(number).replace(self._numbered(number + 1))
            self.path.replace(self._numbered(1))
        # The full one is kept until there is a new one: better a file too long than lines lost.
        full, self._file = self._file, self._opened()
        full.close()

    def _opened(self) -> FileIO:
        # Readable by its owner only: what a part writes is not ours to vouch for.
        return FileIO(self.path, "a+b", opener=lambda name, flags: os.open(name, flags, 0o600))

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
