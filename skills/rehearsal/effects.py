"""Checks a rehearsal's files for the taught effects; copies a test policy's stand-ins into its folder.

The sources of stand-ins are only read.
"""

import os
import posixpath
import stat
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from contracts.learning.interpretation import ObservedEffect
from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind, TestPolicy


class _Fingerprint(NamedTuple):
    inode: int
    size: int
    mode: int
    modified_ns: int


class EffectWitness:
    """Watches the paths of the effects from before the first command until after the last.

    An effect's path is relative to the demonstration's folder, as recorders name produced files. What was
    there from the start proves nothing, and neither does the absence of what never was.
    """

    def __init__(self, root: Path, effects: Sequence[ObservedEffect]) -> None:
        self._root = root.resolve()
        self._before = {effect.path: self._look(effect.path) for effect in effects}
        self._seen = {path for path, found in self._before.items() if found is not None}

    def note(self, touched: Collection[str] = ()) -> None:
        """To be called after each command: remembers which paths have been there at some time.

        ``touched`` are paths that a trace saw to have been there.
        """
        self._seen |= {path for path in self._before if path in touched or self._look(path) is not None}

    def objection(self, effect: ObservedEffect) -> str | None:
        """Why the effect did not come about, for people; None when it did."""
        found = self._look(effect.path)
        if self._inside(effect.path) is None:
            return f"{effect.path} lies outside the rehearsal folder; effects are named inside it"
        if effect.kind == "file_absent":
            if found is not None:
                return f"{effect.path} is still there"
            if effect.path not in self._seen:
                return (
                    f"{effect.path} was never there, so its absence proves nothing; add it as a safe target"
                )
            return None
        if found is None:
            return f"{effect.path} is not there"
        if found == self._before[effect.path]:
            return f"{effect.path} was there before the first command and has not changed since"
        return None

    def _look(self, path: str) -> _Fingerprint | None:
        place = self._inside(path)
        if place is None:
            return None
        try:
            found = place.stat()
        except OSError:
            return None
        return _Fingerprint(found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns)

    def _inside(self, path: str) -> Path | None:
        """The place in the rehearsal folder that ``path`` means, links followed; None when they lead out."""
        if posixpath.isabs(path) or posixpath.normpath(path).split("/")[0] == "..":
            return None
        try:
            place = (self._root / path).resolve()
        except (OSError, RuntimeError):
            return None
        return place if place.is_relative_to(self._root) else None


MAX_COPY_BYTES = 10 * 1024 * 1024
"""The largest document that is copied into a rehearsal."""

_BLANK = frozenset({SafeTargetKind.BLANK_DOCUMENT, SafeTargetKind.BLANK_PROJECT, SafeTargetKind.TEMP_FOLDER})


class UnsafeTarget(ValueError):
    """A stand-in that must not be used; the text names it and says what would do."""


class TargetWatch:
    """Watches a rehearsal's folder for files outside the safe targets that are made, changed or removed."""

    def __init__(self, root: Path, targets: Sequence[RehearsalSafeTarget]) -> None:
        """``targets`` are in ``root`` already; a folder among them is one with all that is in it."""
        self._root = root
        copied = SafeTargetKind.COPIED_DOCUMENT
        self._safe = [PurePosixPath(Path(t.ref).name if t.target_kind is copied else t.ref) for t in targets]
        self._before = self._fingerprints()

    def outside(self) -> tuple[str, ...]:
        """The files that are not as they were, by name."""
        after = self._fingerprints()
        paths = self._before.keys() | after.keys()
        return tuple(sorted(path for path in paths if self._before.get(path) != after.get(path)))

    def _fingerprints(self) -> dict[str, _Fingerprint]:
        found: dict[str, _Fingerprint] = {}
        for folder, _, files in os.walk(self._root):
            for name in files:
                path = Path(folder, name).relative_to(self._root).as_posix()
                if not any(PurePosixPath(path).is_relative_to(safe) for safe in self._safe):
                    status = (self._root / path).lstat()
                    found[path] = _Fingerprint(
                        status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns
                    )
        return found


def place_safe_targets(policy: TestPolicy, root: Path) -> tuple[str, ...]:
    """Copies documents and makes blank ones in ``root``; returns the names of the copies.

    A copied document's ``ref`` is the absolute path of a file; it arrives under its own name. The ``ref``
    of a blank document, a blank project and a temporary folder is a path inside the rehearsal folder.
    Other kinds are nothing that a folder can hold, and are refused before a policy is set.

    Raises:
        UnsafeTarget: a source is no plain file of at most 10 MiB, or a name leads out or is taken.
    """
    copies: list[str] = []
    for target in policy.safe_targets:
        if target.target_kind is SafeTargetKind.COPIED_DOCUMENT:
            copies.append(_copy(target, root))
        elif target.target_kind in _BLANK:
            _make_blank(target, root)
    return tuple(copies)


def _copy(target: RehearsalSafeTarget, root: Path) -> str:
    source = Path(target.ref)
    if not source.is_absolute():
        raise UnsafeTarget(f"the document {target.ref} to copy must be named by its absolute path")
    place = root / source.name
    if place.exists():
        raise UnsafeTarget(f"two documents to copy are named {source.name}; rename one")
    place.write_bytes(_content(source))
    return source.name


def _content(source: Path) -> bytes:
    try:
        # Without waiting: a named pipe would otherwise hold the rehearsal until somebody writes to it.
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UnsafeTarget(
            f"the document {source} cannot be copied ({error.strerror}); name a readable file that is no link"
        ) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsafeTarget(f"{source} is no plain file; name a single document")
        with os.fdopen(descriptor, "rb", closefd=False) as document:
            content = document.read(MAX_COPY_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_COPY_BYTES:
        raise UnsafeTarget(f"the document {source} is larger than 10 MiB; name a smaller one")
    return content


def _make_blank(target: RehearsalSafeTarget, root: Path) -> None:
    place = _place(target, root)
    try:
        if target.target_kind is SafeTargetKind.BLANK_DOCUMENT:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        else:
            place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnsafeTarget(
            f"the stand-in {target.ref} cannot be made ({error.strerror}); rename it"
        ) from error


def _place(target: RehearsalSafeTarget, root: Path) -> Path:
    path = PurePosixPath(target.ref)
    if path.is_absolute() or ".." in path.parts:
        raise UnsafeTarget(
            f"the stand-in {target.ref} leads out of the rehearsal folder; name a path inside it"
        )
    return root / path
