"""A process that reads one document: it confines itself, then takes the order and the bytes, and answers.

It is started as a program of its own by ``clients.acrobat.reader``. The order is one JSON line on standard
input, followed by the document; the answer is lines on standard output, as ``reading_order`` says.
"""

import contextlib
import json
import logging
import os
import sys
import warnings
from typing import Any, NoReturn

from clients.acrobat.confinement import confine
from clients.acrobat.reading_order import (
    CONFINED,
    FAILED,
    FOUND,
    PAGE,
    ReadingFailure,
    ReadingOrder,
    ReadingProblem,
)

EXTRACTION_FAILED = "ACROBAT_EXTRACTION_FAILED"
OCR_UNSUPPORTED = "ACROBAT_OCR_UNSUPPORTED"
UNAVAILABLE = "ACROBAT_UNAVAILABLE"


class _Teller:
    """Writes the lines of the answer, and knows the page that is being read."""

    def __init__(self) -> None:
        # What libraries print must not get between the lines of the answer.
        self._output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self.page: int | None = None

    def tell(self, kind: str, what: object) -> None:
        self._output.write(f"{kind} {json.dumps(what)}\n".encode())
        self._output.flush()

    def came_to(self, page: int) -> None:
        self.page = page
        self.tell(PAGE, page)


def main(package_root: str) -> NoReturn:
    """Reads the one document that standard input holds."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    teller = _Teller()
    try:
        order: ReadingOrder = json.loads(sys.stdin.buffer.readline())
        held = confine(package_root, order["cpu_seconds"], order["memory_bytes"])
        teller.tell(CONFINED, held)
        teller.tell(FOUND, _answer(order, sys.stdin.buffer.read(order["size"]), teller))
    except ReadingProblem as problem:
        teller.tell(FAILED, problem.failure)
    except Exception as error:
        _give_up(teller, error)
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(0)


def _give_up(teller: _Teller, error: Exception) -> None:
    # A library may wrap what it met.
    cause = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    if isinstance(cause, MemoryError):
        message = "the document takes more memory than a reading process may have"
    else:
        # Whatever a library throws at a hostile document: its type tells enough, its text may hold content.
        message = f"the content cannot be read ({type(cause).__name__})"
    where = f" on page {teller.page}" if teller.page is not None else ""
    teller.tell(FAILED, ReadingFailure(code=EXTRACTION_FAILED, message=message + where, page=teller.page))


def _answer(order: ReadingOrder, content: bytes, teller: _Teller) -> dict[str, Any]:
    try:
        from clients.acrobat.page_reading import opened
        from clients.acrobat.recognition import Recogniser, recognise
        from clients.acrobat.redaction_candidates import find_candidates
        from clients.acrobat.text_extraction import extract_tables, extract_text
    except ImportError as error:
        raise ReadingProblem(
            UNAVAILABLE, f"the library {error.name} is not installed on the worker"
        ) from None
    document = opened(order, content, teller.came_to)
    capability = order["capability"]
    recogniser = Recogniser(document, order["language_hint"]) if _can_recognise() else None
    if capability == "extract_text":
        if order["ocr_fallback"] and recogniser is None:
            document.warn("OCR_NOT_INSTALLED")
        found = extract_text(document, recogniser if order["ocr_fallback"] else None)
    elif capability == "extract_tables":
        found = extract_tables(document, order["table_mode"])
    elif capability == "redaction_prep":
        found = find_candidates(document, order["pattern_set"], recogniser)
    else:
        if recogniser is None:
            raise ReadingProblem(
                OCR_UNSUPPORTED,
                "character recognition is not installed on the worker: the extra is called ocr",
            )
        found = recognise(document, recogniser)
    return {
        **found,
        "page_count": document.page_count,
        "pages_read": list(document.wanted),
        "warning_codes": document.warnings,
    }


def _can_recognise() -> bool:
    from clients.acrobat.libraries import document_libraries

    return document_libraries().recognition
