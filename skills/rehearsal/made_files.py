"""Files that commands of a lesson make on its starting state, as they are to be kept."""

import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from contracts.learning.starting_state import MAX_FILE_BYTES
from domain.learning.starting_state import is_safe_path
from skills.rehearsal.rehearsal import fresh_folder
from skills.rehearsal.replay import Lesson
from skills.rehearsal.sandbox import Sandbox
from skills.rehearsal.shell_session import prepare_jail, run_session


@dataclass(frozen=True)
class MadeFile:
    """A file as a command left it."""

    content: bytes
    mode: int


def made_files(
    lesson: Lesson, parent: Path, paths: Collection[str], cancelled: threading.Event
) -> dict[str, MadeFile] | None:
    """Runs the lesson's commands in a folder below ``parent``; ``None`` where not each of ``paths`` came of it.

    The folders of ``paths`` are there, whatever made them in the lesson.

    Raises:
        SandboxUnavailable: this host cannot isolate commands, so nothing was run.
    """
    parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    with fresh_folder(parent) as root:
        work = prepare_jail(root)
        lesson.place(work)
        for path in filter(is_safe_path, paths):
            # Where a file stands in the way, the command fails as well.
            with suppress(FileExistsError, NotADirectoryError):
                (work / path).parent.mkdir(parents=True, exist_ok=True)
        session = run_session(Sandbox(root), lesson.commands, lesson.surroundings, cancelled=cancelled)
        if session.failed_at(lesson.commands) is not None or not all(_is_kept(work, path) for path in paths):
            return None
        return {
            path: MadeFile((work / path).read_bytes(), (work / path).stat().st_mode & 0o777) for path in paths
        }


def _is_kept(work: Path, path: str) -> bool:
    """Whether a regular file of moderate size is there, and no link that leads elsewhere."""
    place = work / path
    inside = place.is_file() and place.resolve().is_relative_to(work.resolve())
    return inside and place.stat().st_size <= MAX_FILE_BYTES
