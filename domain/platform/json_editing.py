"""Changes one value of a JSON text and leaves every other byte as it is."""

import json
from collections.abc import Sequence
from typing import Any

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class NotEditable(ValueError):
    """The text is no JSON object, or says a name on the way twice."""


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """``text`` with ``value`` at a path of names; objects that are missing on the way are made.

    Raises:
        NotEditable: it is no JSON object, something else stands on the way, or a name stands there twice.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        raise NotEditable("it is no JSON") from None
    begin = _skip(text, 0)
    for depth, name in enumerate(path):
        if text[begin] != "{":
            raise NotEditable(f"{'.'.join(path[:depth]) or 'the whole'} is no object")
        members = _members(text, begin)
        found = [place for known, place in members if known == name]
        if len(found) > 1:
            raise NotEditable(f"{name} stands there twice")
        if not found:
            return _with_member(text, begin, bool(members), name, _nested(path[depth + 1 :], value))
        begin = found[0]
    end = _end_of_value(text, begin)
    return text[:begin] + json.dumps(value, ensure_ascii=False) + text[end:]


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _with_member(text: str, begin: int, others: bool, name: str, value: Any) -> str:
    member = f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
    return f"{text[: begin + 1]}{member}{', ' if others else ''}{text[begin + 1 :]}"


def _members(text: str, begin: int) -> list[tuple[str, int]]:
    """The names of an object, each with where its value begins."""
    found = list[tuple[str, int]]()
    at = _skip(text, begin + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = _skip(text, at + 1)
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        found.append((str(name), at))
        at = _skip(text, _end_of_value(text, at))
    return found


def _end_of_value(text: str, begin: int) -> int:
    return _DECODER.raw_decode(text, begin)[1]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
