"""The names that files of the projected trees may have."""

import unicodedata
from functools import lru_cache

TEMPORARY_SUFFIX = ".apprentice-tmp"
"""Ends the name of a file while it is being written."""

STREAM_SUFFIX = ".jsonl"

MAX_PATH_CHARACTERS = 1_024
MAX_NAME_BYTES = 200
"""Of one file or folder name; file systems allow 255, and a temporary name is longer than its file's."""


class InvalidTreePathError(ValueError):
    """A path that cannot be that of a projected file."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path!r} cannot be a file of the tree: {reason}")
        self.path = path


@lru_cache(maxsize=4_096)
def checked_path(path: str) -> str:
    """``path`` itself, when it is relative, normal and printable.

    Raises:
        InvalidTreePathError: it is empty, absolute or too long, steps out of the tree, or holds characters
            that are invisible or that file systems read differently.
    """
    if not path or len(path) > MAX_PATH_CHARACTERS:
        raise InvalidTreePathError(path, f"it needs 1 to {MAX_PATH_CHARACTERS} characters")
    if any(unicodedata.category(character)[0] == "C" for character in path) or "\\" in path:
        raise InvalidTreePathError(path, "it holds a control or invisible character, or a backslash")
    if not unicodedata.is_normalized("NFC", path):
        raise InvalidTreePathError(path, "it is not in Unicode's composed form (NFC)")
    for name in path.split("/"):
        if name in {"", ".", ".."}:
            raise InvalidTreePathError(path, "it must be relative, without empty, '.' or '..' parts")
        if len(name.encode()) > MAX_NAME_BYTES:
            raise InvalidTreePathError(path, f"the name {name[:20]}… has more than {MAX_NAME_BYTES} bytes")
    if path.endswith(TEMPORARY_SUFFIX):
        raise InvalidTreePathError(path, f"{TEMPORARY_SUFFIX} is kept for files being written")
    return path


@lru_cache(maxsize=1_024)
def stream_path(stream: str) -> str:
    """The file of a journal stream, below the memory root.

    Raises:
        InvalidTreePathError: the stream's name cannot be a path, or already has the suffix.
    """
    if stream.endswith(STREAM_SUFFIX):
        raise InvalidTreePathError(stream, f"a stream is named without {STREAM_SUFFIX}")
    return checked_path(checked_path(stream) + STREAM_SUFFIX)


def parents_of(path: str) -> tuple[str, ...]:
    """The folders above ``path``, the outermost first; none for a file at the top."""
    names = path.split("/")[:-1]
    return tuple("/".join(names[: depth + 1]) for depth in range(len(names)))
