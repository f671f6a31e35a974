"""Removes what rehearsals left behind whose worker was killed."""

import shutil
import time
from pathlib import Path

ABANDONED_AFTER_SECONDS = 3600
"""Longer than a rehearsal may run, so that no folder in use is ever touched."""


def remove_leftovers(root: Path, now: float | None = None) -> int:
    """Removes rehearsal folders that nothing has written to for an hour; returns how many.

    ``now`` is in seconds since the epoch. A folder that cannot be removed is left for the next time.
    """
    if not root.is_dir():
        return 0
    oldest = (time.time() if now is None else now) - ABANDONED_AFTER_SECONDS
    removed = 0
    for folder in root.glob("rehearsal-*"):
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
            removed += not folder.exists()
    return removed
