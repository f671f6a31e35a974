"""An empty folder that an archive is unpacked into: written through descriptors, and emptied when that fails.

Whoever swaps a folder of the path for a link while it is written changes nothing: each name is opened below the
descriptor of the folder before it.
"""

import contextlib
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class TargetFolder:
    """The folder, by its descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def make_folder(self, path: str) -> None:
        """Makes a folder and those above it; one that exists is left."""
        os.close(self._opened(path.split("/")))

    def new_file(self, path: str, *, executable: bool) -> int:
        """The descriptor of a new file; folders above it are made.

        Raises:
            FileExistsError: there is something of that name.
        """
        folder, name = self._place(path)
        try:
            return os.open(name, _NEW_FILE, 0o755 if executable else 0o644, dir_fd=folder)
        finally:
            os.close(folder)

    def open_file(self, path: str) -> int:
        """The descriptor of a file for reading."""
        folder, name = self._place(path)
        try:
            return os.open(name, _READ_FILE, dir_fd=folder)
        finally:
            os.close(folder)

    def remove_file(self, path: str) -> None:
        """Removes a file."""
        folder, name = self._place(path)
        try:
            os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)

    def remove_content(self) -> None:
        """Removes everything in the folder, and leaves the folder."""
        with os.scandir(self._descriptor) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in entries:
            if is_folder:
                shutil.rmtree(name, dir_fd=self._descriptor)
            else:
                os.unlink(name, dir_fd=self._descriptor)

    def _place(self, path: str) -> tuple[int, str]:
        *folders, name = path.split("/")
        return self._opened(folders), name

    def _opened(self, folders: list[str]) -> int:
        place = os.dup(self._descriptor)
        try:
            for name in folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=place)
                below = os.open(name, _FOLDER, dir_fd=place)
                os.close(place)
                place = below
        except BaseException:
            os.close(place)
            raise
        return place


@contextmanager
def target_folder(folder: Path) -> Generator[TargetFolder]:
    """Opens a folder to unpack into; made where it does not exist. What is in it is removed when the block fails.

    Raises:
        ValueError: the folder is not empty.
        OSError: it is a link, or cannot be written.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    descriptor = os.open(folder, _FOLDER)
    try:
        with os.scandir(descriptor) as found:
            empty = next(found, None) is None
        if not empty:
            raise ValueError(f"the folder to unpack into is not empty: {folder.name}")
        target = TargetFolder(descriptor)
        try:
            yield target
        except BaseException:
            target.remove_content()
            raise
    finally:
        os.close(descriptor)
