"""What a tool is given: a JSON object that people, stores and servers can all read whole."""

from collections.abc import Iterable
from typing import Annotated, Any, cast

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

MOST_LEVELS = 64
"""How deep arguments may be nested; JSON writers on the way, ours and others', stop not far beyond 200."""


def _refuse_depths(given: dict[str, Any]) -> dict[str, Any]:
    level: list[object] = [given]
    for _ in range(MOST_LEVELS):
        level = [inner for value in level for inner in _inner(value) if isinstance(inner, dict | list)]
        if not level:
            return given
    raise PydanticCustomError("nesting", "is nested deeper than {levels} levels", {"levels": MOST_LEVELS})


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value)


ToolArguments = Annotated[dict[str, Any], AfterValidator(_refuse_depths)]
"""A tool's arguments by name, at most ``MOST_LEVELS`` levels deep."""
