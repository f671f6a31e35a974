"""Character recognition: a page is drawn, and what stands in the picture is read (PP-OCR by RapidOCR)."""

from dataclasses import dataclass
from typing import Any

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]

from clients.acrobat.page_reading import OpenDocument

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
