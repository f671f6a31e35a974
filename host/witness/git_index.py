"""Index and trees of a git repository: what the next commit holds, and how it differs from HEAD and the files.

Format: gitformat-index(5), versions 2 to 4.
"""

import hashlib
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from host.witness.bounded_folder import BoundedFolder
from host.witness.git_objects import GitObjects, UnreadableObject

_MAX_INDEX_BYTES = 16 * 1024 * 1024
_MAX_TREES = 20_000
_MAX_FILES = 100_000
_MAX_TREE_DEPTH = 100
_FIXED = struct.Struct(">10I")
_EXTENDED = 0x4000
_SUBMODULE = 0o160000
_LINK = 0o120000


@dataclass(frozen=True)
class IndexEntry:
    """A file of the index; ``stage`` is above 0 in a conflict."""

    path: bytes
    mode: int
    object_id: str
    stage: int
    size: int
    modified_ns: int
    unchecked: bool
    """Whether git is told not to look at the file (assume-unchanged, skip-worktree)."""


def read_index(folder: BoundedFolder, git_folder: str, id_bytes: int) -> tuple[IndexEntry, ...]:
    """The entries of the index; none where there is no index yet.

    Raises:
        UnreadableObject: it is damaged, too large or of an unknown version.
        LimitReached: the budget is spent.
    """
    if "index" not in folder.names(git_folder):
        return ()
    data = folder.read(f"{git_folder}/index", _MAX_INDEX_BYTES)
    try:
        if data is None or data[:4] != b"DIRC":
            raise UnreadableObject("the index cannot be read")
        version, count = struct.unpack_from(">2I", data, 4)
        if not 2 <= version <= 4 or count > _MAX_FILES:
            raise UnreadableObject("the index has an unknown version or too many files")
        return tuple(_entries(data, version, count, id_bytes))
    except (struct.error, IndexError, ValueError) as error:
        raise UnreadableObject("the index is damaged") from error


def _entries(data: bytes, version: int, count: int, id_bytes: int) -> Iterator[IndexEntry]:
    at, previous = 12, b""
    for _ in range(count):
        start = at
        numbers = _FIXED.unpack_from(data, at)
        at += _FIXED.size
        object_id, at = data[at : at + id_bytes], at + id_bytes
        (flags,) = struct.unpack_from(">H", data, at)
        at += 2
        more = 0
        if flags & _EXTENDED:
            (more,) = struct.unpack_from(">H", data, at)
            at += 2
        if version == 4:
            strip, at = _strip(data, at)
            end = data.index(b"\0", at)
            path, at = previous[: len(previous) - strip] + data[at:end], end + 1
        else:
            end = data.index(b"\0", at)
            path = data[at:end]
            at = start + ((end - start + 8) // 8) * 8
        previous = path
        if len(path) > 4096 or len(object_id) != id_bytes:
            raise UnreadableObject("the index is damaged")
        yield IndexEntry(
            path,
            numbers[6],
            object_id.hex(),
            (flags >> 12) & 3,
            numbers[9],
            numbers[2] * 1_000_000_000 + numbers[3],
            bool(flags & 0x8000 or more & 0x4000),
        )


def _strip(data: bytes, at: int) -> tuple[int, int]:
    byte, at = data[at], at + 1
    value = byte & 0x7F
    while byte & 0x80:
        byte, at = data[at], at + 1
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at


def files_of_tree(objects: GitObjects, tree: str, id_bytes: int) -> dict[bytes, tuple[int, str]]:
    """Mode and object of every file of a tree, by path.

    Raises:
        UnreadableObject: a tree is missing, damaged, or there are too many.
        LimitReached: the budget is spent.
    """
    found: dict[bytes, tuple[int, str]] = {}
    waiting: list[tuple[bytes, str, int]] = [(b"", tree, 0)]
    read = 0
    while waiting:
        inside, object_id, depth = waiting.pop()
        read += 1
        if read > _MAX_TREES or len(found) > _MAX_FILES or depth > _MAX_TREE_DEPTH:
            raise UnreadableObject("there are too many files and folders")
        for mode, name, inner in _tree_entries(objects, object_id, id_bytes):
            if stat.S_ISDIR(mode):
                waiting.append((inside + name + b"/", inner, depth + 1))
            else:
                found[inside + name] = (mode, inner)
    return found


def _tree_entries(objects: GitObjects, tree: str, id_bytes: int) -> Iterator[tuple[int, bytes, str]]:
    content = objects.read(tree).content
    at = 0
    try:
        while at < len(content):
            end = content.index(b"\0", at)
            mode, _, name = content[at:end].partition(b" ")
            at = end + 1 + id_bytes
            yield int(mode, 8), name, content[end + 1 : at].hex()
    except ValueError as error:
        raise UnreadableObject("a tree is damaged") from error


def changed_files(
    folder: BoundedFolder, top: str, index: tuple[IndexEntry, ...], committed: dict[bytes, tuple[int, str]]
) -> set[bytes]:
    """The tracked files that differ between HEAD, the index and the folder ``top`` (empty: the folder itself).

    Files are compared as git stores them, and with CRLF read as LF; filters are not run.

    Raises:
        LimitReached: the budget is spent.
    """
    staged = {entry.path: (entry.mode, entry.object_id) for entry in index}
    changed = {path for path in staged.keys() | committed.keys() if staged.get(path) != committed.get(path)}
    for entry in index:
        folder.budget.spend()
        if entry.path not in changed and not entry.unchecked and entry.mode != _SUBMODULE:
            path = entry.path.decode("utf-8", errors="surrogateescape")
            if not _is_as_staged(folder, f"{top}/{path}" if top else path, entry):
                changed.add(entry.path)
    return changed


def _is_as_staged(folder: BoundedFolder, path: str, entry: IndexEntry) -> bool:
    if entry.mode == _LINK:
        target = folder.link_target(path)
        return target is not None and entry.object_id == _blob_id(target, entry)
    try:
        with folder.open(path) as file:
            status = file.status
            if bool(status.st_mode & 0o100) != bool(entry.mode & 0o100):
                return False
            if status.st_size & 0xFFFFFFFF == entry.size and status.st_mtime_ns == entry.modified_ns:
                return True
            content = file.read(status.st_size) if status.st_size <= folder.limits.file_bytes else b""
    except OSError:
        return False
    return entry.object_id in (_blob_id(content, entry), _blob_id(content.replace(b"\r\n", b"\n"), entry))


def _blob_id(content: bytes, entry: IndexEntry) -> str:
    digest = hashlib.sha1(usedforsecurity=False) if len(entry.object_id) == 40 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest()
