"""Bounded reading of an untrusted folder: links are never followed, entries, depth, bytes and time are limited.

A path is opened component by component, so that a folder that is replaced by a link in the meantime leads nowhere.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from contracts.generated_trees import generated_in, is_tree_by_name

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CHUNK = 1024 * 1024
_MAX_NAMES = 5_000
"""Names of one folder that is listed on request."""


class LimitReached(Exception):
    """A limit of the observation is reached; what was seen until then stands."""


@dataclass(frozen=True)
class Limits:
    """What one observation may cost; ``seconds`` and ``read_bytes`` are for each witness."""

    entries: int = 5_000
    depth: int = 32
    read_bytes: int = 512 * 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    """The largest file whose content is looked at."""
    seconds: float = 5.0


@dataclass
class Budget:
    """What is left of the limits."""

    read_bytes: int
    seconds: float
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def spend(self, size: int = 0) -> None:
        """Counts ``size`` bytes and looks at the clock.

        Raises:
            LimitReached: nothing is left.
        """
        self.read_bytes -= size
        if self.read_bytes < 0:
            raise LimitReached("too many bytes")
        if time.monotonic() > self.deadline:
            raise LimitReached("too much time")


@dataclass(frozen=True)
class Entry:
    """A file, folder, link or other thing; ``path`` is relative, undecodable bytes as surrogates."""

    path: str
    status: os.stat_result
    link_target: str = ""
    is_opaque: bool = False
    """Whether it is a folder that is not looked into."""

    @property
    def kind(self) -> str:
        """``file``, ``folder``, ``link`` or ``other`` (socket, pipe, device)."""
        mode = self.status.st_mode
        for kind, is_kind in (("file", stat.S_ISREG), ("folder", stat.S_ISDIR), ("link", stat.S_ISLNK)):
            if is_kind(mode):
                return kind
        return "other"

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rpartition("/")[2]

    @property
    def shown(self) -> str:
        """The path as a text that can be stored."""
        return readable(self.path)


class BoundedFile:
    """A regular file of the folder, read within the budget."""

    def __init__(self, descriptor: int, budget: Budget) -> None:
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self._budget = budget
        self.status = os.fstat(descriptor)
        self.size = self.status.st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer at the end only."""
        pieces: list[bytes] = []
        while size > 0:
            piece = self._file.read(min(size, _CHUNK))
            self._budget.spend(len(piece))
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def read_at(self, position: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``position`` on; none where the file does not reach so far."""
        if not 0 <= position <= self.size:
            return b""
        self._file.seek(position)
        return self.read(size)

    def chunks(self) -> Iterator[bytes]:
        """The whole content from the beginning, in pieces of a mebibyte."""
        self._file.seek(0)
        while piece := self.read(_CHUNK):
            yield piece


class BoundedFolder:
    """An open folder; `entries` are listed once, nearest first.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.budget = Budget(self.limits.read_bytes, self.limits.seconds)
        self.is_partial = False
        self.environments: list[str] = []
        """Virtual environments; filled by `entries`."""
        self.bare_repositories: list[str] = []
        """Git repositories without a working folder; filled by `entries`."""
        self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._root)

    def renew_budget(self) -> None:
        """Gives the next witness all of the bytes and seconds."""
        self.budget = Budget(self.limits.read_bytes, self.limits.seconds)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Everything in the folder up to the limits; `is_partial` says whether one of them ended the list.

        Generated trees are left out, but for those that are told by their names: they are entries not looked into.
        """
        found: list[Entry] = []
        waiting: deque[tuple[str, int]] = deque([("", 0)])
        try:
            while waiting and len(found) < self.limits.entries:
                inside, depth = waiting.popleft()
                here = self._scan(inside, self.limits.entries - len(found))
                found += here
                if _is_bare_repository(here):
                    self.bare_repositories.append(inside)
                elif depth < self.limits.depth:
                    waiting += ((e.path, depth + 1) for e in here if e.kind == "folder" and not e.is_opaque)
                else:
                    self.is_partial = self.is_partial or any(e.kind == "folder" for e in here)
        except LimitReached:
            self.is_partial = True
        self.is_partial = self.is_partial or bool(waiting) or len(found) >= self.limits.entries
        return tuple(found)

    def files(self) -> Iterator[Entry]:
        """The regular files among the entries."""
        return (entry for entry in self.entries if entry.kind == "file")

    def names(self, path: str) -> tuple[str, ...]:
        """The first 5,000 names in a folder, sorted; none where it is no folder that can be read."""
        try:
            with self._opened(path, os.O_DIRECTORY) as descriptor, os.scandir(descriptor) as found:
                return tuple(sorted(entry.name for entry, _ in zip(found, range(_MAX_NAMES), strict=False)))
        except OSError:
            return ()

    def open(self, path: str) -> BoundedFile:
        """Opens a regular file for reading.

        Raises:
            OSError: it is gone, no regular file, behind a link, or may not be read.
        """
        with self._opened(path) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"no regular file: {readable(path)}")
            return BoundedFile(os.dup(descriptor), self.budget)

    def read(self, path: str, limit: int) -> bytes | None:
        """The content of a file of at most ``limit`` bytes; None where there is none that can be read."""
        try:
            with self.open(path) as file:
                return file.read(limit) if file.size <= limit else None
        except OSError:
            return None

    def link_target(self, path: str) -> bytes | None:
        """Where a link points, as it is written; None where it is no link."""
        inside, _, name = path.rpartition("/")
        try:
            with self._opened(inside, os.O_DIRECTORY) as descriptor:
                return os.fsencode(os.readlink(name, dir_fd=descriptor))
        except OSError:
            return None

    @contextmanager
    def _opened(self, path: str, flags: int = 0) -> Generator[int]:
        descriptor = os.dup(self._root)
        try:
            parts = PurePosixPath(path).parts
            if ".." in parts or path.startswith("/"):
                raise OSError("no path within the folder")
            for position, part in enumerate(parts):
                wanted = flags if position == len(parts) - 1 else os.O_DIRECTORY
                inner = os.open(part, _OPEN | wanted, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _scan(self, inside: str, limit: int) -> list[Entry]:
        found: list[Entry] = []
        try:
            with self._opened(inside, os.O_DIRECTORY) as descriptor, os.scandir(descriptor) as listed:
                names = sorted(entry.name for entry, _ in zip(listed, range(limit), strict=False))
                if "pyvenv.cfg" in names and inside:
                    self.environments.append(inside)
                generated = generated_in(names, is_root=not inside)
                for name in names:
                    if name in generated:
                        continue
                    self.budget.spend()
                    if (
                        entry := _entry(f"{inside}/{name}" if inside else name, name, descriptor)
                    ) is not None:
                        found.append(entry)
        except OSError:
            return found
        return found


def _entry(path: str, name: str, descriptor: int) -> Entry | None:
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        target = os.readlink(name, dir_fd=descriptor) if stat.S_ISLNK(status.st_mode) else ""
    except OSError:
        return None
    return Entry(path, status, target, name == ".git" or is_tree_by_name(name))


def _is_bare_repository(entries: list[Entry]) -> bool:
    kinds = {(entry.name, entry.kind) for entry in entries}
    return kinds >= {("HEAD", "file"), ("objects", "folder"), ("refs", "folder")}


def readable(text: str) -> str:
    """``text`` as UTF-8 can hold it: bytes of a name that are none become the replacement character."""
    return os.fsencode(text).decode("utf-8", errors="replace")
