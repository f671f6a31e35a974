"""Finding a name that stands twice in one object of a JSON text: parsers keep the last one without a word."""

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")


class _Twice(Exception):
    def __init__(self, name: str) -> None:
        self.name = name


def repeated_name(body: bytes) -> str | None:
    """What is wrong where one object of ``body`` has a name twice; None where none has, or it is no JSON.

    A name is told only if it looks like a field's: anything else may be a secret in the wrong place.
    """
    try:
        json.loads(body, object_pairs_hook=_checked)
    except _Twice as found:
        named = f" ({found.name})" if _PLAIN.fullmatch(found.name) else ""
        return f"holds an object with the same name twice{named}; which one is meant cannot be told"
    except (ValueError, RecursionError):
        # What is no JSON, the route says itself.
        return None
    return None


def _checked(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Twice(name)
            seen.add(name)
