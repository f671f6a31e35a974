"""The content of a skill's folder and its digest: what a person approves, and what is run (X-3).

Read through descriptors that follow no link, within limits; what is no regular file or folder makes it malformed.
"""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

MAX_FILES, MAX_FILE_BYTES, MAX_FOLDER_BYTES, MAX_DEPTH = 200, 1_048_576, 8_388_608, 8
"""What a skill's folder may hold: files, bytes of one (1 MiB), bytes in all (8 MiB), folders in folders."""

_IGNORED = frozenset({"__pycache__"})
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class MalformedFolder(Exception):
    """The folder cannot be a skill; the text says why, naming the path inside it."""


@dataclass(frozen=True)
class FolderFile:
    """One file, by its path inside the folder."""

    path: str
    executable: bool
    content: bytes


@dataclass(frozen=True)
class FolderContent:
    """All files of a folder, in the order of their paths, and the digest over them."""

    files: tuple[FolderFile, ...]
    digest: str

    def text(self, path: str) -> str | None:
        """The text of a file, or None where there is none.

        Raises:
            MalformedFolder: it is no UTF-8.
        """
        found = next((file for file in self.files if file.path == path), None)
        if found is None:
            return None
        try:
            return found.content.decode()
        except UnicodeDecodeError as error:
            raise MalformedFolder(f"{path} is no UTF-8 text") from error


def read_folder(folder: Path) -> FolderContent:
    """Reads a folder whole.

    Raises:
        MalformedFolder: it holds a link, a device or a pipe, or more than the limits, or cannot be read.
    """
    files: list[FolderFile] = []
    try:
        top = os.open(folder, _READ | os.O_DIRECTORY)
        try:
            _read(top, "", files, 0)
        finally:
            os.close(top)
    except OSError as error:
        raise MalformedFolder(f"it cannot be read: {error.strerror}") from error
    files.sort(key=lambda file: file.path.encode())
    digest = hashlib.sha256()
    for file in files:
        head = f"{file.path}\0{'x' if file.executable else '-'}\0{len(file.content)}\0"
        digest.update(head.encode())
        digest.update(file.content)
    return FolderContent(tuple(files), digest.hexdigest())


def _read(folder: int, prefix: str, files: list[FolderFile], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise MalformedFolder(f"{prefix} is deeper than {MAX_DEPTH} folders")
    for name in sorted(os.listdir(folder)):
        path = prefix + name
        _check_name(name, path)
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            if name not in _IGNORED:
                inner = os.open(name, _READ | os.O_DIRECTORY, dir_fd=folder)
                try:
                    _read(inner, path + "/", files, depth + 1)
                finally:
                    os.close(inner)
        elif stat.S_ISREG(mode):
            files.append(_file(folder, name, path))
        else:
            raise MalformedFolder(f"{path} is a {_kind(mode)}; a skill holds files and folders only")
        _check_size(files)


def _check_name(name: str, path: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise MalformedFolder("a file's name is no UTF-8") from error
    if not name.isprintable():
        raise MalformedFolder(f"{path!r} has a control character in its name")


def _check_size(files: list[FolderFile]) -> None:
    if len(files) > MAX_FILES:
        raise MalformedFolder(f"it holds more than {MAX_FILES} files")
    if sum(len(file.content) for file in files) > MAX_FOLDER_BYTES:
        raise MalformedFolder(f"it holds more than {MAX_FOLDER_BYTES} bytes")


def _file(folder: int, name: str, path: str) -> FolderFile:
    descriptor = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as opened:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise MalformedFolder(f"{path} is a {_kind(mode)}; a skill holds files and folders only")
        content = opened.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise MalformedFolder(f"{path} is longer than {MAX_FILE_BYTES} bytes")
    return FolderFile(path, bool(mode & 0o100), content)


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "link"), (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
    return next((kind for test, kind in kinds if test(mode)), "device")
