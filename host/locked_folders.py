"""Folders that are held by a lock of the kernel's while they are used, so that those of a killed process are found."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path


def locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder of this user alone, and the descriptor that holds it; closing that lets it go."""
    while True:
        root = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        # Gone already where another process took it for abandoned before it was locked.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if root.exists():
                return root, lock
            os.close(lock)


@contextlib.contextmanager
def temporary_folder(parent: Path, prefix: str, *, shared: bool = False) -> Generator[Path]:
    """A new folder under ``parent``, removed at the end; what killed processes left there is removed before.

    ``shared`` is as of ``remove_abandoned``.
    """
    remove_abandoned(parent, prefix, shared=shared)
    root, lock = locked_folder(parent, prefix)
    try:
        yield root
    finally:
        try:
            remove_folder(root)
        finally:
            os.close(lock)


def remove_abandoned(parent: Path, prefix: str, *, shared: bool = False) -> None:
    """Removes the folders whose lock went with their process; in a ``shared`` parent this user's alone.

    In a parent of one's own they may belong to another user: the one that a sandbox runs as.
    """
    for root in _folders(parent, prefix):
        # One that is held, cannot be removed, or has gone, is left to its own process or to the next.
        with contextlib.suppress(OSError):
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if not shared or os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_folder(root)
            finally:
                os.close(lock)


def remove_folder(root: Path) -> None:
    """Removes a folder whose content may have taken away its own rights.

    Raises:
        OSError: some of it cannot be removed.
    """
    root.chmod(stat.S_IRWXU)
    for folder, children, _ in os.walk(root):
        for child in (Path(folder, name) for name in children):
            if not child.is_symlink():
                child.chmod(stat.S_IRWXU)
    shutil.rmtree(root)


def _folders(parent: Path, prefix: str) -> Iterator[Path]:
    yield from sorted(path for path in parent.glob(f"{prefix}*") if path.is_dir() and not path.is_symlink())
