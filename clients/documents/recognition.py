"""Text, tables and redaction candidates of document pages; character recognition of pictures (PP-OCR by RapidOCR).

Documents are not changed, and no redaction candidate leaves in clear.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]

from clients.documents.page_reading import OpenDocument
from domain.documents.redaction_patterns import RedactionPattern, hint_of, patterns_of

DOTS_PER_INCH = 200
POINTS_PER_INCH = 72
MAX_PIXELS = 16_000_000
"""A page larger than this at the usual resolution is drawn coarser: about 4,000 by 4,000 points."""

KNOWN_LANGUAGES = frozenset({"en", "eng", "english", "latin", "ch", "zh", "chinese"})
"""What the bundled models were made for; other languages in Latin script are read as well, with mistakes."""


@dataclass(frozen=True)
class RecognisedLine:
    """A line of text in a picture, and its box in points from the upper left corner of the page."""

    text: str
    box: tuple[float, float, float, float]


class Recogniser:
    """Reads pictures of a document's pages. The models are loaded at the first page."""

    def __init__(self, document: OpenDocument, language_hint: str | None = None) -> None:
        self._document = document
        self._drawn: Any = None
        self._engine: Any = None
        if language_hint is not None and language_hint.split("-")[0].lower() not in KNOWN_LANGUAGES:
            document.warn("OCR_LANGUAGE_NOT_SPECIFIC")

    def text_of(self, number: int) -> str:
        """The text of a page, line by line."""
        return "\n".join(line.text for line in self.lines_of(number))

    def lines_of(self, number: int) -> tuple[RecognisedLine, ...]:
        """The lines of a page from top to bottom."""
        if self._engine is None:
            # Imported here: it takes a second, and is an extra.
            from rapidocr import RapidOCR

            self._drawn = pypdfium2.PdfDocument(self._document.content)
            self._engine = RapidOCR(params={"Global.log_level": "error"})
        page = self._drawn[number - 1]
        width, height = page.get_size()
        scale = min(DOTS_PER_INCH / POINTS_PER_INCH, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
        picture = page.render(scale=scale, grayscale=True).to_pil().convert("RGB")
        page.close()
        answer: Any = self._engine(picture)
        if answer.txts is None or answer.boxes is None:
            return ()
        lines = [
            RecognisedLine(text, _box(corners, scale))
            for text, corners in zip(answer.txts, answer.boxes, strict=True)
        ]
        return tuple(sorted(lines, key=lambda line: (round(line.box[1] / 5), line.box[0])))


def recognise(document: OpenDocument, recogniser: Recogniser) -> dict[str, Any]:
    """The text in the picture of each wanted page, whether or not the page holds text as well."""
    found: list[dict[str, Any]] = []
    for number, _page in document.pages():
        text = recogniser.text_of(number)
        if not text.strip():
            document.warn("PAGE_WITHOUT_TEXT")
        found.append({"page": number, "text": text, "recognised": True})
    return {"text": found}


def _box(corners: Any, scale: float) -> tuple[float, float, float, float]:
    across = [float(corner[0]) / scale for corner in corners]
    down = [float(corner[1]) / scale for corner in corners]
    return round(min(across), 2), round(min(down), 2), round(max(across), 2), round(max(down), 2)


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


MAX_CANDIDATES = 20_000
"""A document with more is not reviewed by hand; the bundle ends there and says so."""


def find_candidates(
    document: OpenDocument, pattern_set: list[str], recogniser: Recogniser | None
) -> dict[str, Any]:
    """The places on each page, from top to bottom.

    Pages without text are recognised where there is a ``recogniser``; their places are whole lines.
    """
    patterns = patterns_of(tuple(pattern_set))
    found: list[dict[str, Any]] = []
    for number, page in document.pages():
        if page.chars:
            on_page = list(_in_text(number, page, patterns))
        elif recogniser is not None:
            on_page = list(_in_picture(number, recogniser, patterns))
            document.warn("CANDIDATES_FROM_PICTURES")
        else:
            on_page = []
            document.warn("PAGE_WITHOUT_TEXT")
        found += sorted(on_page, key=lambda one: (one["boxes"][0][1], one["boxes"][0][0]))
        if len(found) > MAX_CANDIDATES:
            document.warn("TOO_MANY_CANDIDATES")
            break
    named = [{"candidate_id": f"c-{place:05d}", **one} for place, one in enumerate(found[:MAX_CANDIDATES], 1)]
    return {"candidates": named}


def _in_text(number: int, page: Any, patterns: tuple[RedactionPattern, ...]) -> Iterator[dict[str, Any]]:
    taken: set[int] = set()
    for pattern in patterns:
        for match in page.search(pattern.expression, return_groups=False):
            chars = match["chars"]
            places = {id(char) for char in chars}
            if taken & places or not pattern.is_right(match["text"]):
                continue
            taken |= places
            yield _candidate(number, pattern, match["text"], _boxes(chars))


def _in_picture(
    number: int, recogniser: Recogniser, patterns: tuple[RedactionPattern, ...]
) -> Iterator[dict[str, Any]]:
    for line in recogniser.lines_of(number):
        taken: list[tuple[int, int]] = []
        for pattern in patterns:
            for match in pattern.expression.finditer(line.text):
                start, end = match.span()
                overlaps = any(start < other_end and other_start < end for other_start, other_end in taken)
                if overlaps or not pattern.is_right(match[0]):
                    continue
                taken.append((start, end))
                yield {**_candidate(number, pattern, match[0], [list(line.box)]), "recognised": True}


def _candidate(
    number: int, pattern: RedactionPattern, value: str, boxes: list[list[float]]
) -> dict[str, Any]:
    return {
        "page": number,
        "boxes": boxes,
        "kind": pattern.kind,
        "literal_index": pattern.literal_index,
        "hint": hint_of(pattern.kind, value),
        "checked": pattern.has_check,
    }


def _boxes(chars: list[dict[str, Any]]) -> list[list[float]]:
    boxes: list[list[float]] = []
    for _top, line in groupby(chars, key=lambda char: round(float(char["top"]))):
        on_line = list(line)
        boxes.append(
            [
                round(min(char["x0"] for char in on_line), 2),
                round(min(char["top"] for char in on_line), 2),
                round(max(char["x1"] for char in on_line), 2),
                round(max(char["bottom"] for char in on_line), 2),
            ]
        )
    return boxes
