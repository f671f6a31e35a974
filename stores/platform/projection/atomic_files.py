"""Files below one folder, replaced or appended to so that a crash or a power cut leaves the old or the new.

Every folder on the way is opened by itself and never through a symbolic link: what someone else planted in
a shared folder cannot lead a write out of it.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stores.platform.projection.documents import TEMPORARY_SUFFIX

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FRESH_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_CHUNK = 1 << 20


class FileTree:
    """The files below ``root``, each named by its relative path with ``/``. For one writer at a time."""

    def __init__(self, root: Path, *, file_mode: int, folder_mode: int) -> None:
        """The modes are those of every file and folder made here, whatever the process's umask."""
        self.root = root
        self.file_mode = file_mode
        self.folder_mode = folder_mode
        self._unsynced: set[tuple[str, ...]] = set()

    def replace(self, path: str, content: Iterable[bytes]) -> int:
        """Makes the file hold exactly ``content`` and returns its size in bytes; durable after ``settle``.

        The bytes go to a file beside it and are synced before they take the name.
        """
        *folders, name = path.split("/")
        with self._folder(tuple(folders), create=True) as folder:
            temporary = name + TEMPORARY_SUFFIX
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            try:
                size = self._write_fresh(folder, temporary, content)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
        self._unsynced.add(tuple(folders))
        return size

    def append(self, path: str, size: int, content: bytes) -> None:
        """Cuts the file to ``size`` bytes, writes ``content`` behind them and syncs it.

        What is beyond ``size`` is the torn tail of an append that was never recorded. The file must exist and
        have at least ``size`` bytes.
        """
        *folders, name = path.split("/")
        with self._folder(tuple(folders)) as folder:
            file = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                os.ftruncate(file, size)
                os.lseek(file, size, os.SEEK_SET)
                _write_all(file, content)
                os.fsync(file)
            finally:
                os.close(file)

    def remove(self, path: str) -> bool:
        """Removes the file, and what a crash left of writing it; False when there was none."""
        *folders, name = path.split("/")
        try:
            with self._folder(tuple(folders)) as folder:
                with suppress(FileNotFoundError):
                    os.unlink(name + TEMPORARY_SUFFIX, dir_fd=folder)
                os.unlink(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return False
        self._unsynced.add(tuple(folders))
        return True

    def remove_temporary(self, path: str) -> None:
        """Removes what a crash left of writing the file, if anything."""
        *folders, name = path.split("/")
        with suppress(FileNotFoundError, NotADirectoryError), self._folder(tuple(folders)) as folder:
            os.unlink(name + TEMPORARY_SUFFIX, dir_fd=folder)

    def remove_folder(self, path: str) -> bool:
        """Removes the folder if it is empty; False when it is not, or is none."""
        *folders, name = path.split("/")
        try:
            with self._folder(tuple(folders)) as folder:
                os.rmdir(name, dir_fd=folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                return False
            raise
        self._unsynced.discard(tuple(path.split("/")))
        self._unsynced.add(tuple(folders))
        return True

    def status(self, path: str) -> os.stat_result | None:
        """What is at ``path``, a link not followed; None when nothing is, or a folder above is none."""
        *folders, name = path.split("/")
        try:
            with self._folder(tuple(folders)) as folder:
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def size(self, path: str) -> int | None:
        """The size of the regular file in bytes; None when there is none."""
        found = self.status(path)
        return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None

    def chunks(self, path: str) -> Iterator[bytes]:
        """The file's bytes in pieces.

        Raises:
            FileNotFoundError: there is no such file.
            OSError: it is not a regular file, or behind a symbolic link.
        """
        *folders, name = path.split("/")
        with self._folder(tuple(folders)) as folder:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
        try:
            while chunk := os.read(file, _READ_CHUNK):
                yield chunk
        finally:
            os.close(file)

    def paths(self) -> Iterator[tuple[str, bool]]:
        """Everything below the root with whether it is a folder, the inner before the outer."""
        if not self.root.is_dir():
            return
        for place, folders, files in os.walk(self.root, topdown=False):
            above = Path(place).relative_to(self.root)
            for name in files:
                yield (above / name).as_posix(), False
            for name in folders:
                yield (above / name).as_posix(), not (Path(place) / name).is_symlink()

    def settle(self) -> None:
        """Syncs the folders in which names changed since the last call."""
        for folders in sorted(self._unsynced):
            with suppress(FileNotFoundError, NotADirectoryError), self._folder(folders) as folder:
                os.fsync(folder)
        self._unsynced.clear()

    def _write_fresh(self, folder: int, name: str, content: Iterable[bytes]) -> int:
        file = os.open(name, _FRESH_FILE, 0o600, dir_fd=folder)
        size = 0
        try:
            for chunk in content:
                _write_all(file, chunk)
                size += len(chunk)
            os.fchmod(file, self.file_mode)
            os.fsync(file)
        finally:
            os.close(file)
        return size

    @contextmanager
    def _folder(self, names: tuple[str, ...], *, create: bool = False) -> Generator[int]:
        if create and not self.root.is_dir():
            self._make_root()
        # The root itself may be a link: where it lies is the operator's choice.
        folder = os.open(self.root, _DIRECTORY & ~os.O_NOFOLLOW)
        try:
            for depth, name in enumerate(names):
                inner = self._enter(folder, names[:depth], name, create=create)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    def _enter(self, folder: int, above: tuple[str, ...], name: str, *, create: bool) -> int:
        try:
            return os.open(name, _DIRECTORY, dir_fd=folder)
        except FileNotFoundError:
            if not create:
                raise
        os.mkdir(name, self.folder_mode, dir_fd=folder)
        self._unsynced.add(above)
        inner = os.open(name, _DIRECTORY, dir_fd=folder)
        os.fchmod(inner, self.folder_mode)
        return inner

    def _make_root(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(self.folder_mode)
        parent = os.open(self.root.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]
