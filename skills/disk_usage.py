"""How much a folder that is being written to holds."""

import os
from pathlib import Path

_BLOCK_BYTES = 512


def exceeds(folder: Path, most_bytes: int, most_files: int) -> bool:
    """Whether ``folder`` takes more disk space or holds more files than given. Links are not followed.

    Stops counting as soon as the answer is known. What vanishes or cannot be read meanwhile is left out.
    """
    size = count = 0
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += _allocated(entry)
                    if size > most_bytes or count > most_files:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return False


def _allocated(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
    except OSError:
        return 0
