"""A private copy of a skill's folder, made from the content that was approved and from nothing else (X-3).

What runs is the copy: a folder that is changed between approval and run, or during it, changes nothing.
"""

import contextlib
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from host.locked_folders import locked_folder, remove_abandoned, remove_folder
from skills.runtime.folder_digest import MalformedFolder, read_folder
from skills.runtime.skill_run import failed

_PREFIX = "apprentice-skill-"


@dataclass(frozen=True)
class RunFolders:
    """The folders of one run: the skill's content, and an empty one that may be written."""

    skill: Path
    work: Path


@contextmanager
def run_folders(folder: Path, digest: str) -> Generator[RunFolders]:
    """Makes the folders of one run, and removes them.

    Raises:
        RunFailed: ``SKILL_CHANGED``, the folder's content is not what was approved.
    """
    try:
        content = read_folder(folder)
    except MalformedFolder as error:
        raise failed("SKILL_CHANGED", f"the folder is not what was approved: {error}") from error
    if content.digest != digest:
        raise failed("SKILL_CHANGED", "the folder has changed since it was approved")
    place, lock = locked_folder(Path(tempfile.gettempdir()), _PREFIX)
    try:
        # Passed through by the user who runs the skill; what the folders hold is guarded by the sandbox.
        place.chmod(0o711)
        folders = RunFolders(place / "skill", place / "work")
        folders.skill.mkdir(mode=0o755)
        folders.work.mkdir(mode=0o700)
        for file in content.files:
            target = folders.skill / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content)
            target.chmod(0o755 if file.executable else 0o644)
        yield folders
    finally:
        # What cannot be removed now is removed when a worker starts.
        with contextlib.suppress(OSError):
            remove_folder(place)
        os.close(lock)


def remove_abandoned_runs() -> None:
    """Removes the folders of runs whose worker was killed."""
    remove_abandoned(Path(tempfile.gettempdir()), _PREFIX, shared=True)
