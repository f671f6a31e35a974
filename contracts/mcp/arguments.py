"""What a tool is given: a JSON object that people, stores and servers can all read whole."""

from collections.abc import Iterable
from typing import Annotated, Any, cast

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

MOST_LEVELS = 64
"""How deep arguments may be nested; JSON writers on the way, ours and others', stop not far beyond 200."""


LARGEST_INTEGER = 2**53 - 1
"""The largest number of each sign that every reader of JSON has exactly (RFC 7493, section 2.2)."""


def _refuse_unreadable(given: dict[str, Any]) -> dict[str, Any]:
    level: list[object] = [given]
    for _ in range(MOST_LEVELS):
        within = [inner for value in level for inner in _inner(value)]
        if any(isinstance(inner, int) and abs(inner) > LARGEST_INTEGER for inner in within):
            raise PydanticCustomError(
                "integer_size",
                "holds an integer beyond {largest}, which some readers round: give it as text",
                {"largest": LARGEST_INTEGER},
            )
        level = [inner for inner in within if isinstance(inner, dict | list)]
        if not level:
            return given
    raise PydanticCustomError("nesting", "is nested deeper than {levels} levels", {"levels": MOST_LEVELS})


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value)


ToolArguments = Annotated[dict[str, Any], AfterValidator(_refuse_unreadable)]
"""A tool's arguments by name, at most ``MOST_LEVELS`` levels deep, its integers within ``LARGEST_INTEGER``."""
