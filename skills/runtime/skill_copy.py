"""A private copy of a skill's folder, made from the content that was approved and from nothing else (X-3).

What runs is the copy: a folder that is changed between approval and run, or during it, changes nothing.
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skills.runtime.folder_digest import MalformedFolder, read_folder
from skills.runtime.skill_run import failed


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
    place = Path(tempfile.mkdtemp(prefix="apprentice-skill-"))
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
        shutil.rmtree(place, ignore_errors=True)
