"""Which of the libraries for documents are installed here, without importing them."""

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from skills import landlock, seccomp

READING = ("pdfplumber", "pypdfium2")
RECOGNITION = ("rapidocr", "onnxruntime")


@dataclass(frozen=True)
class DocumentLibraries:
    """What can be done here."""

    reading: bool
    recognition: bool
    confinement: bool
    """Whether a reading process can close off files and network."""


def document_libraries() -> DocumentLibraries:
    """Looks anew each time: an extra may be installed while the service runs."""
    reading = _installed(READING)
    return DocumentLibraries(
        reading=reading, recognition=reading and _installed(RECOGNITION), confinement=_can_confine()
    )


def _installed(names: tuple[str, ...]) -> bool:
    return all(find_spec(name) is not None for name in names)


def _can_confine() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    program = seccomp.filter_program(os.uname().machine, shares_host=True, forbid_signals=False)
    return program is not None and landlock.abi_version() > 0
