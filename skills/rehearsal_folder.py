"""The folder of one rehearsal: fresh, removed at the end, and removed later where its worker was killed."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "rehearsal-"


@contextmanager
def fresh_folder(parent: Path) -> Generator[Path]:
    """A new folder under ``parent``, held by a lock of the kernel's for as long as it is used."""
    _remove_abandoned(parent)
    root, lock = _locked_folder(parent)
    try:
        yield root
    finally:
        try:
            _remove(root)
        finally:
            os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        # Gone already where another rehearsal took it for abandoned before it was locked.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if root.exists():
                return root, lock
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    """Removes the folders whose lock went with their worker."""
    for root in _folders(parent):
        # One that cannot be removed, or has gone, is no matter of the rehearsal that begins.
        with contextlib.suppress(OSError):
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(root)
            finally:
                os.close(lock)


def _folders(parent: Path) -> Iterator[Path]:
    yield from sorted(path for path in parent.glob(f"{_PREFIX}*") if path.is_dir() and not path.is_symlink())


def _remove(root: Path) -> None:
    # A command may have taken away its own rights to a folder, which would keep it from being removed.
    root.chmod(stat.S_IRWXU)
    for folder, children, _ in os.walk(root):
        for child in (Path(folder, name) for name in children):
            if not child.is_symlink():
                child.chmod(stat.S_IRWXU)
    shutil.rmtree(root)
