"""What is wrong with a value, in the words of a person and not of the library that checks it."""

from collections.abc import Mapping
from typing import Any


def plain_problem(kind: str, message: str, limits: Mapping[str, Any]) -> str:
    """A problem by its ``type``, ``msg`` and ``ctx``; the message itself where no plainer one is known."""
    least, most = limits.get("min_length"), limits.get("max_length")
    match kind:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not known here"
        case "too_short":
            return "name at least one" if least == 1 else f"name at least {least}"
        case "too_long":
            return f"name at most {most}"
        case "string_too_short":
            return "is empty" if least == 1 else f"needs at least {least} characters"
        case "string_too_long":
            return f"has more than {most} characters"
        case "string_pattern_mismatch":
            return f"is not of the form that is asked for ({limits.get('pattern')})"
        case "value_error":
            return message.removeprefix("Value error, ")
        case _:
            return message
