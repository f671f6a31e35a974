"""Messages between the worker and a document reading process; which document libraries are installed.

Imports the standard library only, so that both sides can import it.
"""

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypedDict

from host import landlock, seccomp

CONFINED, PAGE, FOUND, FAILED = "C", "P", "F", "E"
"""How a line of a reading process starts: it has confined itself (and by what, as JSON); the page it comes to;
what it found, as JSON; why it gave up, as JSON."""


class ReadingOrder(TypedDict):
    """What is to be done with the document that follows. Sizes in bytes, times in seconds."""

    capability: str
    size: int
    page_range: str | None
    max_pages: int
    ocr_fallback: bool
    table_mode: str
    language_hint: str | None
    pattern_set: list[str]
    cpu_seconds: int
    memory_bytes: int


class ReadingFailure(TypedDict):
    """Why a reading process gave up: a code of ``contracts.errors``, words for people, and where."""

    code: str
    message: str
    page: int | None


class ReadingProblem(Exception):
    """Raised inside a reading process to give up with a code and words for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.failure = ReadingFailure(code=code, message=message, page=None)


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
