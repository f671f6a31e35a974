"""Traces which files below a folder programs read, write and remove (inotify), in the order in which it happens."""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast

from inotify_simple import INotify, flags  # pyright: ignore[reportMissingTypeStubs]

MAX_WATCHED_FOLDERS = 2_000
"""Folders that are watched; what happens in others goes unseen, and the trace says that it is partial."""

_POLL_MS = 50
_READ = flags.ACCESS | flags.CLOSE_NOWRITE
_WRITTEN = flags.MODIFY | flags.MOVED_TO | flags.CREATE
_GONE = flags.DELETE | flags.MOVED_FROM
_WATCHED = _READ | _WRITTEN | _GONE | flags.ATTRIB | flags.ONLYDIR


@dataclass
class FileUse:
    """The files that were used between two marks, by their path relative to the traced folder."""

    read: set[str] = field(default_factory=set[str])
    """Opened, and what was there already and lives on: renamed, or given other permissions or times."""
    written: set[str] = field(default_factory=set[str])
    """Created, changed or renamed to."""
    removed: set[str] = field(default_factory=set[str])
    """Deleted or renamed away."""


class _Event(Protocol):
    wd: int
    mask: int
    cookie: int
    name: str


class FileTrace:
    """Watches a folder while programs run in it; a new file in ``marks`` begins the next stretch.

    A program that waits after each mark until it is ``noted`` has its files in the stretch that is its own, also
    where it made folders. A file that is mapped into memory and never opened otherwise goes unseen, and so does what
    is read in a new folder in the instant before it is watched.
    """

    def __init__(
        self, folder: Path, marks: Path, *, prefix: str = "", noted: Callable[[], None] = lambda: None
    ) -> None:
        """``prefix`` is how the names of marks begin; other files there, and a mark for a second time, do not count.

        ``noted`` is called, by the tracing thread, when everything before a mark has been taken in.
        """
        self.stretches: list[FileUse] = [FileUse()]
        """What was used up to each mark, in order; the last one is open."""
        self.is_partial = False
        """Whether events were lost or folders went unwatched."""
        self._folder = folder
        self._prefix = prefix
        self._noted = noted
        self._seen: set[str] = set()
        self._inotify: Any = INotify()
        self._folders: dict[int, str] = {}
        self._renamed: dict[int, str] = {}
        """The folders that were renamed away, by what ties the two halves of a rename together."""
        self._marks = self._inotify.add_watch(marks, flags.CLOSE_WRITE)
        self._watch("")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="file-trace", daemon=True)

    def __enter__(self) -> "FileTrace":
        self._thread.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._inotify.close()

    def _watch(self, inside: str) -> None:
        """Watches a folder and those below it. What is in a new folder already was written by then."""
        if len(self._folders) >= MAX_WATCHED_FOLDERS:
            self.is_partial = True
            return
        with contextlib.suppress(OSError):
            number = self._inotify.add_watch(self._folder / inside, _WATCHED)
            self._folders[number] = inside
            with os.scandir(self._folder / inside) as entries:
                for entry in entries:
                    path = f"{inside}{entry.name}"
                    self.stretches[-1].written.add(path)
                    if entry.is_dir(follow_symlinks=False):
                        self._watch(f"{path}/")

    def _follow(self) -> None:
        self.stretches = [FileUse()]
        while True:
            is_over = self._ended.is_set()
            events = cast("list[_Event]", list(self._inotify.read(timeout=_POLL_MS)))
            for event in events:
                self._take_in(event)
            if is_over and not events:
                return

    def _take_in(self, event: _Event) -> None:
        if event.mask & flags.Q_OVERFLOW:
            self.is_partial = True
        elif event.wd == self._marks:
            if event.name.startswith(self._prefix) and event.name not in self._seen:
                self._seen.add(event.name)
                self.stretches.append(FileUse())
                self._noted()
        elif event.wd in self._folders and event.name:
            path, use = f"{self._folders[event.wd]}{event.name}", self.stretches[-1]
            is_folder = bool(event.mask & flags.ISDIR)
            lives_on = event.mask & (flags.ATTRIB | flags.MOVED_FROM) and path not in use.written
            if lives_on or (event.mask & _READ and not is_folder):
                use.read.add(path)
            if event.mask & (_WRITTEN | flags.ATTRIB):
                use.written.add(path)
                use.removed.discard(path)
            if event.mask & _GONE:
                use.removed.add(path)
                use.written.discard(path)
            if is_folder and event.mask & flags.MOVED_FROM:
                self._renamed[event.cookie] = path
            if is_folder and event.mask & (flags.CREATE | flags.MOVED_TO):
                self._watch(f"{path}/")
                self._take_along(self._renamed.pop(event.cookie, None), path, use)

    @staticmethod
    def _take_along(old: str | None, new: str, use: FileUse) -> None:
        """Notes of everything in a renamed folder that it is gone from its old name."""
        if old is not None:
            inside = {f"{old}{path.removeprefix(new)}" for path in use.written if path.startswith(f"{new}/")}
            use.read |= inside - use.written
            use.removed |= inside
            use.written -= inside
