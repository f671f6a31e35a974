"""Puts a test policy's stand-ins into the rehearsal folder. Their sources are only read."""

import os
import stat
from pathlib import Path, PurePosixPath

from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind, TestPolicy

MAX_COPY_BYTES = 10 * 1024 * 1024
"""The largest document that is copied into a rehearsal."""

_BLANK = frozenset({SafeTargetKind.BLANK_DOCUMENT, SafeTargetKind.BLANK_PROJECT, SafeTargetKind.TEMP_FOLDER})


class UnsafeTarget(ValueError):
    """A stand-in that must not be used; the text names it and says what would do."""


def place_safe_targets(policy: TestPolicy, root: Path) -> tuple[str, ...]:
    """Copies documents and makes blank ones in ``root``; returns the names of the copies.

    A copied document's ``ref`` is the absolute path of a file; it arrives under its own name. The ``ref``
    of a blank document, a blank project and a temporary folder is a path inside the rehearsal folder.
    Stand-ins of other kinds are nothing that a folder can hold, and are left out.

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
