"""What is on disk below a folder, and a memory tree with its workspace for tests."""

import stat
from dataclasses import dataclass
from pathlib import Path

from stores.platform.database import Database
from stores.platform.projection.projector import Projector


def snapshot(root: Path) -> dict[str, bytes | None]:
    """Every path below ``root`` with its bytes; None for a folder."""
    return {
        path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
    }


def files(root: Path) -> dict[str, bytes]:
    """The files below ``root`` with their bytes."""
    return {path: content for path, content in snapshot(root).items() if content is not None}


def mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


@dataclass(frozen=True)
class Trees:
    """A memory tree and a workspace below one folder."""

    folder: Path

    @property
    def memory(self) -> Path:
        return self.folder / "ELNOR_MEMORY"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def projector(self, database: Database) -> Projector:
        """A projector as a process that just started has it."""
        return Projector(database, self.memory, self.workspace)

    def snapshot(self) -> dict[str, bytes | None]:
        """Both trees."""
        return {
            f"{root.name}/{path}": content
            for root in (self.memory, self.workspace)
            for path, content in snapshot(root).items()
        }
