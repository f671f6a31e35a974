"""JSON objects given on the command line: as text, from a file, or from standard input."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from cli.platform.invocation import NothingToDo


def as_object(text: str, option: str, example: str) -> dict[str, Any]:
    """The JSON object that ``text`` is.

    Raises:
        NothingToDo: it is none; it names ``option`` and shows ``example``.
    """
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NothingToDo(f"{option} takes a JSON object, such as '{example}'.")
    return cast("dict[str, Any]", value)


def read_object(given: str, option: str, example: str) -> dict[str, Any]:
    """As ``as_object``; ``-`` reads standard input, ``@FILE`` a file.

    Raises:
        NothingToDo: it is no JSON object, or the file cannot be read.
    """
    if given == "-":
        given = sys.stdin.read()
    elif given.startswith("@"):
        try:
            given = Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
            raise NothingToDo(f"{given[1:]} cannot be read: {why}.") from None
    return as_object(given, option, example)
