"""The text of a document's pages, and its tables."""

from typing import Any

from clients.acrobat.page_reading import OpenDocument
from clients.acrobat.recognition import Recogniser

_TABLE_SETTINGS = {
    "auto": {"vertical_strategy": "lines", "horizontal_strategy": "lines"},
    "strict": {"vertical_strategy": "lines_strict", "horizontal_strategy": "lines_strict"},
    "layout_preserving": {"vertical_strategy": "text", "horizontal_strategy": "text"},
}


def extract_text(document: OpenDocument, recogniser: Recogniser | None) -> dict[str, Any]:
    """The text of each page; a page that holds none is recognised where there is a ``recogniser``."""
    found: list[dict[str, Any]] = []
    for number, page in document.pages():
        text, recognised = page.extract_text() or "", False
        if not text.strip():
            if recogniser is None:
                document.warn("PAGE_WITHOUT_TEXT")
            else:
                text, recognised = recogniser.text_of(number), True
                if not text.strip():
                    document.warn("PAGE_WITHOUT_TEXT")
        found.append({"page": number, "text": text, "recognised": recognised})
    return {"text": found}


def extract_tables(document: OpenDocument, mode: str) -> dict[str, Any]:
    """The tables of each page, in reading order."""
    found: list[dict[str, Any]] = []
    for number, page in document.pages():
        if not page.chars:
            document.warn("PAGE_WITHOUT_TEXT")
        for table in page.find_tables(_TABLE_SETTINGS[mode]):
            rows = [list(row) for row in table.extract()]
            if any(cell for row in rows for cell in row):
                found.append({"page": number, "box": [round(edge, 2) for edge in table.bbox], "rows": rows})
    if not found:
        document.warn("NO_TABLE_FOUND")
    return {"tables": found}
