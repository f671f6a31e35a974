"""What a tool is given, as people type it."""

import json
from typing import Any, cast

from cli.invocation import NothingToDo


def as_object(text: str, example: str) -> dict[str, Any]:
    """The JSON object that ``text`` is.

    Raises:
        NothingToDo: it is none; ``example`` shows one.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise NothingToDo(f"--arguments takes a JSON object, such as '{example}'.")
    return cast("dict[str, Any]", value)
