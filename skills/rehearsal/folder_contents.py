"""The files of a folder read once, as conditions and variations look at them."""

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts.generated_trees import GeneratedTrees
from skills.rehearsal.archive_contents import read_packed
from skills.rehearsal.state_facts import state_facts

MAX_TEXT_BYTES = 1024 * 1024
"""The largest file that is looked at as text."""

MAX_FILES = 20_000
"""The most files of a folder."""

Facts = Callable[[Path], Mapping[str, str]]
"""Reads the state behind files (git, databases) of a folder, by subject."""


@dataclass(frozen=True)
class _File:
    digest: str
    text: str | None
    mode: int
    members: frozenset[str] | None
    essence: str


class ReadContents:
    """The contents of a folder at the moment of reading; later changes on the disk do not show.

    Links are not followed, files that are no regular files are left out, as are those beyond ``MAX_FILES``.
    """

    def __init__(
        self, folder: Path, facts: Facts = state_facts, written: Collection[str] = frozenset()
    ) -> None:
        """``written`` are the files that the commands before this moment were seen to write."""
        self._written = frozenset(written)
        folders, files = _paths(folder)
        self._files = {path: _read(folder / path) for path in files}
        self._trees = GeneratedTrees([*folders, *files])
        self._facts = dict(facts(folder))

    def paths(self) -> Collection[str]:
        """Every file."""
        return self._files.keys()

    def tree_of(self, path: str) -> str | None:
        """The generated tree or the repository that a file lies in."""
        return self._trees.tree_of(path)

    def text(self, path: str) -> str | None:
        """The text of a file of at most 1 MiB; ``None`` for others."""
        found = self._files.get(path)
        return found.text if found else None

    def digest(self, path: str) -> str | None:
        """The SHA-256 of a file's content."""
        found = self._files.get(path)
        return found.digest if found else None

    def essence(self, path: str) -> str | None:
        """What a file holds, whatever the time it was made at; for most files their digest."""
        found = self._files.get(path)
        return found.essence if found else None

    def mode(self, path: str) -> int | None:
        """A file's permission bits."""
        found = self._files.get(path)
        return found.mode if found else None

    def members(self, path: str) -> Collection[str] | None:
        """The files in an archive."""
        found = self._files.get(path)
        return found.members if found else None

    def facts(self) -> Mapping[str, str]:
        """What is true of the state behind files."""
        return self._facts

    def was_written(self, path: str) -> bool:
        """Whether a command was seen to write the file."""
        return path in self._written


def _paths(folder: Path) -> tuple[list[str], list[str]]:
    """The folders and the files."""
    inside: list[str] = []
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        inside.append(Path(place).relative_to(folder).as_posix())
        for name in sorted(files):
            path = Path(place, name)
            if len(found) < MAX_FILES and not path.is_symlink() and path.is_file():
                found.append(path.relative_to(folder).as_posix())
    return inside, found


def _read(path: Path) -> _File:
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            head = file.read(MAX_TEXT_BYTES + 1)
    except OSError:
        return _File("", None, 0, None, "")
    packed = read_packed(path, head)
    members, essence = (packed.members, packed.essence) if packed else (None, digest)
    return _File(digest, _text(head), mode, members, essence)


def _text(content: bytes) -> str | None:
    if len(content) > MAX_TEXT_BYTES or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
