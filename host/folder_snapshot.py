"""Folder snapshots: which files a command created, changed or deleted; contents are never read."""

import os
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from contracts.base import clipped
from contracts.generated_trees import generated_in, is_tree_by_name
from contracts.learning.observation import ProducedFile

MAX_ENTRIES = 5_000
"""Files and folders looked at; beyond it a snapshot is partial."""

MAX_DEPTH = 8
"""Folder levels below the demonstration's folder."""

MAX_CHANGES = 100
"""Files named for one command, as many as the contract takes."""

_CLOCK_SLACK_NS = 20_000_000


class FileMark(NamedTuple):
    """What tells one version of a file from another without reading it."""

    modified_ns: int
    size_bytes: int
    inode: int


@dataclass(frozen=True)
class FolderSnapshot:
    """The files of a folder at one moment, by their path relative to it."""

    folder: Path
    files: dict[str, FileMark]
    is_partial: bool
    taken_ns: int


def take_snapshot(
    folder: Path, *, max_entries: int = MAX_ENTRIES, max_depth: int = MAX_DEPTH
) -> FolderSnapshot:
    """The present files of ``folder``, nearest first, links not followed.

    Repositories and generated trees are left out, and so is what cannot be read.
    """
    taken_ns = time.time_ns()
    files: dict[str, FileMark] = {}
    waiting: deque[tuple[str, int]] = deque([("", 0)])
    seen = 0
    while waiting:
        inside, depth = waiting.popleft()
        entries = _entries(folder / inside)
        generated = generated_in([entry.name for entry in entries], is_root=not inside)
        for entry in entries:
            if entry.name in generated:
                continue
            seen += 1
            if seen > max_entries:
                return FolderSnapshot(folder, files, True, taken_ns)
            path = f"{inside}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                mark = _mark(entry)
                if mark is not None:
                    files[path] = mark
            elif depth < max_depth and not _is_skipped(entry.name):
                waiting.append((f"{path}/", depth + 1))
    return FolderSnapshot(folder, files, False, taken_ns)


def produced_between(before: FolderSnapshot, after: FolderSnapshot) -> tuple[ProducedFile, ...]:
    """The files created, modified or deleted between two snapshots, by path, at most 100.

    Where a snapshot is partial, a file that only one of them reached is checked on the disk, so that a limit is
    never reported as a change.
    """
    partial = before.is_partial or after.is_partial
    changes: list[ProducedFile] = []
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.files.get(path), after.files.get(path)
        if old == new:
            continue
        if new is None:
            if not partial or not os.path.lexists(after.folder / path):
                changes.append(_change(path, "deleted", 0))
        elif old is None:
            if not partial or _appeared_since(after.folder / path, before.taken_ns):
                changes.append(_change(path, "created", new.size_bytes))
        else:
            changes.append(_change(path, "modified", new.size_bytes))
    return tuple(changes[:MAX_CHANGES])


def _is_skipped(folder: str) -> bool:
    return folder == ".git" or is_tree_by_name(folder)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _mark(entry: os.DirEntry[str]) -> FileMark | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return FileMark(status.st_mtime_ns, status.st_size, status.st_ino)


def _appeared_since(path: Path, moment_ns: int) -> bool:
    try:
        return path.lstat().st_ctime_ns >= moment_ns - _CLOCK_SLACK_NS
    except OSError:
        return False


def _change(path: str, change: str, size_bytes: int) -> ProducedFile:
    # A name that is no UTF-8 cannot cross the wire as it is.
    readable = os.fsencode(path).decode("utf-8", errors="replace")
    return ProducedFile(path=clipped(readable, 240), change=change, size_bytes=size_bytes)
