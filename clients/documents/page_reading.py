"""Opens a document inside a reading process, and goes through the pages that are wanted."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect
from pdfplumber.utils.exceptions import PdfminerException

from clients.documents.reading_order import ReadingOrder, ReadingProblem
from domain.documents.redaction_patterns import PageRangeError, pages_of

FAILED = "ACROBAT_EXTRACTION_FAILED"


class OpenDocument:
    """A document that could be opened; its pages are read one at a time, and let go of again."""

    def __init__(
        self, pdf: Any, content: bytes, wanted: tuple[int, ...], came_to: Callable[[int], None]
    ) -> None:
        self._pdf = pdf
        self._came_to = came_to
        self.content = content
        self.wanted = wanted
        self.page_count = len(pdf.pages)
        self.warnings: list[str] = []

    def warn(self, code: str) -> None:
        """Notes something that the caller should know, once."""
        if code not in self.warnings:
            self.warnings.append(code)

    def pages(self) -> Iterator[tuple[int, Any]]:
        """Each wanted page under its number.

        Raises:
            ReadingProblem: what a page holds cannot be read; it names the page.
        """
        for number in self.wanted:
            self._came_to(number)
            page = self._pdf.pages[number - 1]
            yield number, page
            page.close()


def opened(order: ReadingOrder, content: bytes, came_to: Callable[[int], None]) -> OpenDocument:
    """Opens a document of which the order says what is wanted.

    Raises:
        ReadingProblem: it is no PDF, is locked by a password, has too many pages or not those that are wanted.
    """
    try:
        pdf = pdfplumber.open(io.BytesIO(content))
        count = len(pdf.pages)
    except PdfminerException as error:
        cause = error.args[0] if error.args else error
        if isinstance(cause, (PDFPasswordIncorrect, PDFEncryptionError)):
            raise ReadingProblem(
                FAILED, "the document is encrypted and needs a password; hand in one without"
            ) from None
        raise ReadingProblem(FAILED, f"the document is damaged or no PDF: {_words(cause)}") from None
    if count == 0:
        raise ReadingProblem(FAILED, "the document has no pages")
    if count > order["max_pages"]:
        raise ReadingProblem(
            FAILED, f"the document has {count} pages, more than {order['max_pages']}; hand in a part of it"
        )
    try:
        wanted = pages_of(order["page_range"], count)
    except PageRangeError as error:
        raise ReadingProblem("VALIDATION_FAILED", str(error)) from None
    return OpenDocument(pdf, content, wanted, came_to)


def _words(error: object) -> str:
    return f"{type(error).__name__}: {error}"[:200]
