"""Atomic replacement of a file under a lock: a reader, and what a killed writer leaves, has the old or the new text."""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def only_writer(path: Path) -> Generator[None]:
    """Keeps other writers of a file away meanwhile; what is locked is a file beside it, which stays."""
    lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def replace_file(path: Path, content: bytes) -> None:
    """Puts ``content`` in the place of a file, or of what a link points to; on disk when this returns.

    A new file is readable by its owner alone; one that is there keeps its mode.
    """
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Has the names in a folder be on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
