"""Folder capture: lists what a folder holds, nearest first and bounded, and reads single regular files safely.

Links are never followed and special files (devices, pipes, sockets) never opened. Generated trees (virtual
environments, ``node_modules``, caches) are left out.
"""

import hashlib
import os
import stat
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from contracts.generated_trees import generated_in, is_tree_by_name

MAX_ENTRIES = 5_000
"""Files, folders and links that are listed; beyond it a listing is partial."""

MAX_DEPTH = 12
"""Folder levels below the captured folder."""

_MOST_LOOKED_AT = 100_000
_CHUNK_BYTES = 1024 * 1024


class FoundKind(StrEnum):
    """What stands at a path."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


@dataclass(frozen=True)
class FoundEntry:
    """One path, relative to the folder with slashes; a link's target as it is written."""

    path: str
    kind: FoundKind
    size_bytes: int
    mode: int
    modified_ns: int
    link_target: str | None = None


@dataclass(frozen=True)
class FoundFolder:
    """What a folder held at one moment; ``partial`` where a limit, an unreadable folder or name left something out."""

    folder: Path
    entries: tuple[FoundEntry, ...]
    partial: bool


def list_folder(
    folder: Path,
    *,
    max_entries: int = MAX_ENTRIES,
    max_depth: int = MAX_DEPTH,
    leave_out: Collection[Path] = (),
    out_of_time: Callable[[], bool] = lambda: False,
) -> FoundFolder:
    """Lists ``folder``, nearest first, each level by name; ``leave_out`` are folders that are passed over.

    Names that are no UTF-8 are left out. ``out_of_time`` is asked before each folder.
    """
    passed_over = {os.path.realpath(path) for path in leave_out}
    entries: list[FoundEntry] = []
    waiting: deque[tuple[str, int]] = deque([("", 0)])
    partial = False
    while waiting:
        inside, depth = waiting.popleft()
        if out_of_time():
            return FoundFolder(folder, tuple(entries), True)
        found, complete = _scanned(folder / inside)
        partial = partial or not complete
        generated = generated_in([entry.name for entry in found], is_root=not inside)
        for entry in found:
            if entry.name in generated:
                continue
            one = _entry(f"{inside}{entry.name}", entry)
            if one is None or (one.kind is FoundKind.FOLDER and _is_passed_over(entry, passed_over)):
                partial = partial or (one is None and not _is_special(entry))
                continue
            if len(entries) >= max_entries:
                return FoundFolder(folder, tuple(entries), True)
            entries.append(one)
            if one.kind is FoundKind.FOLDER:
                if depth < max_depth:
                    waiting.append((f"{one.path}/", depth + 1))
                else:
                    partial = True
    return FoundFolder(folder, tuple(entries), partial)


def read_file(folder: Path, path: str, limit: int) -> bytes | None:
    """The content of a regular file below ``folder``; none when it is larger, something else, or unreadable.

    No link on the way is followed, and nothing is waited for.
    """
    content = read_head(folder, path, limit + 1)
    return content if content is not None and len(content) <= limit else None


def read_head(folder: Path, path: str, most: int) -> bytes | None:
    """The first bytes of a regular file below ``folder``, at most so many; none when it is none, or unreadable."""
    try:
        with _opened(folder, path) as stream:
            return stream.read(most) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None
    except OSError:
        return None


def digest_of(folder: Path, path: str, out_of_time: Callable[[], bool]) -> str | None:
    """The SHA-256 of a regular file below ``folder``; none when it is none, unreadable, or there is no time left."""
    digest = hashlib.sha256()
    try:
        with _opened(folder, path) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return None
            while chunk := stream.read(_CHUNK_BYTES):
                if out_of_time():
                    return None
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def _opened(folder: Path, path: str) -> BinaryIO:
    *above, name = path.split("/")
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
            os.close(place)
            place = below
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    finally:
        os.close(place)
    return os.fdopen(descriptor, "rb")


def _scanned(folder: Path) -> tuple[list[os.DirEntry[str]], bool]:
    try:
        with os.scandir(folder) as found:
            entries = list(islice(found, _MOST_LOOKED_AT + 1))
    except OSError:
        return [], False
    return sorted(entries[:_MOST_LOOKED_AT], key=lambda one: one.name), len(entries) <= _MOST_LOOKED_AT


def _entry(path: str, entry: os.DirEntry[str]) -> FoundEntry | None:
    try:
        path.encode()
        status = entry.stat(follow_symlinks=False)
        target = _target(entry.path) if stat.S_ISLNK(status.st_mode) else None
        (target or "").encode()
    except (OSError, UnicodeEncodeError):
        return None
    kind = _kind(status.st_mode)
    if kind is None:
        return None
    size = status.st_size if kind is FoundKind.FILE else 0
    return FoundEntry(path, kind, size, stat.S_IMODE(status.st_mode), status.st_mtime_ns, target)


def _target(path: str) -> str:
    # As it is written: Path.readlink would make "./a" of it "a".
    return os.readlink(path)  # noqa: PTH115


def _kind(mode: int) -> FoundKind | None:
    if stat.S_ISREG(mode):
        return FoundKind.FILE
    if stat.S_ISDIR(mode):
        return FoundKind.FOLDER
    return FoundKind.LINK if stat.S_ISLNK(mode) else None


def _is_special(entry: os.DirEntry[str]) -> bool:
    try:
        return _kind(entry.stat(follow_symlinks=False).st_mode) is None
    except OSError:
        return False


def _is_passed_over(entry: os.DirEntry[str], passed_over: Collection[str]) -> bool:
    if is_tree_by_name(entry.name) or _is_whole_tree(Path(entry.path)):
        return True
    return bool(passed_over) and os.path.realpath(entry.path) in passed_over


def _is_whole_tree(folder: Path) -> bool:
    """Whether tools made everything that the folder holds."""
    names = [entry.name for entry in _scanned(folder)[0]]
    return bool(names) and len(generated_in(names)) == len(names)
