"""A disk that keeps only what was synced, and a process that ends at any of its system calls."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import stores.platform.projection.atomic_files

CHANGING = ("open", "write", "ftruncate", "fsync", "fchmod", "rename", "unlink", "mkdir", "rmdir")
"""The calls before which the process can end."""

Tail = Literal["lost", "half", "zeroed", "whole"]

TAILS: dict[Tail, Callable[[bytes], bytes]] = {
    "lost": lambda fresh: b"",
    "half": lambda fresh: fresh[: len(fresh) // 2],
    # The new length reached the disk, the bytes did not.
    "zeroed": lambda fresh: bytes(len(fresh)),
    "whole": lambda fresh: fresh,
}


class PowerCut(BaseException):
    """The process is gone; no handler may think it is an error."""


class WatchedDisk:
    """Stands in for ``os`` in ``atomic_files``: ends the process at call ``cut``, remembers syncs.

    What a folder or a file held at its last sync is what a power cut leaves of it.
    """

    def __init__(self, cut: int | None = None) -> None:
        self.calls = 0
        self._cut = cut
        self._names: dict[int, dict[str, int]] = {}
        self._contents: dict[int, bytes] = {}
        self._gone: list[int] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(os, name)
        if name not in CHANGING:
            return function

        def call(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return function(*arguments, **options)
            self.calls += 1
            if self._cut is not None and self.calls >= self._cut:
                raise PowerCut
            if name == "fsync":
                return self._remember(arguments[0])
            if name in {"unlink", "rmdir"}:
                self._hold(arguments[0], options["dir_fd"])
            if name == "rename":
                self._hold(arguments[1], options["dst_dir_fd"])
            return function(*arguments, **options)

        return call

    def release(self) -> None:
        """Lets go of what was removed; call it once no more work is done."""
        while self._gone:
            os.close(self._gone.pop())

    def assume_synced(self, root: Path) -> None:
        """Takes everything below ``root`` as it is now for synced."""
        for folder, _, names in os.walk(root):
            self._remember_folder(Path(folder))
            for name in names:
                path = Path(folder) / name
                self._contents[path.stat().st_ino] = path.read_bytes()

    def after_power_cut(self, root: Path, target: Path, *, names_kept: bool, tail: Tail) -> None:
        """Writes below ``target`` what may be left of ``root``.

        ``names_kept``: whether the names changed since a folder's last sync reached the disk. ``tail``: what
        became of the bytes written since a file's last sync.
        """
        target.mkdir()
        by_number = {path.lstat().st_ino: path for path in root.rglob("*")}
        synced = self._names.get(root.stat().st_ino, {})
        current = {path.name: path.lstat().st_ino for path in root.iterdir()}
        for name, number in (current if names_kept else synced).items():
            path = by_number.get(number)
            if path is not None and stat.S_ISDIR(path.lstat().st_mode):
                self.after_power_cut(path, target / name, names_kept=names_kept, tail=tail)
            elif path is not None or number in self._contents:
                content = self._contents.get(number, b"")
                if path is not None:
                    fresh = path.read_bytes()[len(content) :]
                    content += TAILS[tail](fresh)
                (target / name).write_bytes(content)
                (target / name).chmod(0o600)

    def _hold(self, name: str, folder: int) -> None:
        # Files are told apart by their numbers: while one is held, its number is given to nothing new.
        with suppress(FileNotFoundError):
            self._gone.append(os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=folder))

    def _remember(self, file: int) -> None:
        found = os.fstat(file)
        path = Path(f"/proc/self/fd/{file}").resolve()
        if stat.S_ISDIR(found.st_mode):
            self._remember_folder(path)
        else:
            self._contents[found.st_ino] = path.read_bytes()

    def _remember_folder(self, path: Path) -> None:
        self._names[path.stat().st_ino] = {inner.name: inner.lstat().st_ino for inner in path.iterdir()}


def run_on(disk: WatchedDisk, work: Callable[[], object]) -> bool:
    """Does ``work`` on ``disk``; False when the power was cut before it was done."""
    real = stores.platform.projection.atomic_files.os
    stores.platform.projection.atomic_files.os = disk  # type: ignore[assignment]
    try:
        work()
    except PowerCut:
        return False
    finally:
        stores.platform.projection.atomic_files.os = real
        disk.release()
    return True
