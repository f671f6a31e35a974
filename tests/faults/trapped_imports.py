"""The reading of an imported archive, with a trap where its files lie in a temporary folder."""

from pathlib import Path
from typing import Any

import activities.imports.bundle_reading as reading
from tests.faults.traps import Traps

UNPACKED = "archive.unpacked"
"""The archive is unpacked, and nothing of it has been kept."""


def folder_of_unpacking(traps: Path) -> Path:
    """Where archives are unpacked in these tests, so that what is left there is theirs."""
    return traps.parent / "unpacking"


def unpack_apart(traps: Path) -> None:
    """From now on this process reads archives below ``folder_of_unpacking``, and passes by the trap."""
    folder, unpack = folder_of_unpacking(traps), reading.unpack
    folder.mkdir(exist_ok=True)

    def unpack_and_pass(*arguments: Any) -> Any:
        unpacked = unpack(*arguments)
        Traps(traps).come_by(UNPACKED)
        return unpacked

    reading.gettempdir = lambda: str(folder)
    reading.unpack = unpack_and_pass
