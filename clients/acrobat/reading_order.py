"""What the worker and a reading process say to each other. Holds no other code, so it imports anywhere."""

from typing import TypedDict

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

    def __init__(self, code: str, message: str, page: int | None = None) -> None:
        super().__init__(message)
        self.failure = ReadingFailure(code=code, message=message, page=page)
