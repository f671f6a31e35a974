"""Where a document holds what should be blacked out. Nothing is changed, and no value leaves in clear."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from clients.acrobat.page_reading import OpenDocument
from clients.acrobat.recognition import Recogniser
from domain.acrobat.redaction_patterns import RedactionPattern, hint_of, patterns_of

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
