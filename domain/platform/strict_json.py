"""Reads JSON of strangers: bounded in bytes and depth, no name twice in an object, no NaN."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn, cast


class NotStrictJson(Exception):
    """The text is no JSON as it may be here; the message says why."""


def read_json(text: str, most_bytes: int, most_depth: int) -> Any:
    """The value of a JSON text.

    Raises:
        NotStrictJson: it is too large or nested too deep, says a name twice, has a number that JSON has not, a text
            that is no Unicode, or is no JSON at all.
    """
    try:
        if len(text.encode()) > most_bytes:
            raise NotStrictJson(f"is larger than {most_bytes} bytes")
        value = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise NotStrictJson(f"is no JSON (line {error.lineno}, column {error.colno}: {error.msg})") from error
    except UnicodeEncodeError as error:
        raise NotStrictJson("has a text that is no valid Unicode") from error
    except ValueError as error:
        raise NotStrictJson("has a number that is too large") from error
    except RecursionError as error:
        raise NotStrictJson(f"is nested deeper than {most_depth} levels") from error
    if json_depth(value, most_depth) > most_depth:
        raise NotStrictJson(f"is nested deeper than {most_depth} levels")
    return value


def json_problem(value: Any) -> str | None:
    """Why a value that was read leniently is no JSON: NaN, an infinity, text that is no Unicode; None if it is."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "has a text that is no valid Unicode"
    except RecursionError:
        return "is nested too deep"
    except (TypeError, ValueError):
        return "has a value that JSON has not"
    return None


def as_object(value: object) -> dict[str, Any] | None:
    """A JSON value as the object it is, or None where it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def json_depth(value: Any, most: int) -> int:
    """How deep objects and lists are nested, the outermost counted; looks no deeper than ``most`` + 1."""
    depth, level = 0, [value]
    while depth <= most:
        level = [one for one in level if isinstance(one, Mapping | list)]
        if not level:
            break
        depth += 1
        level = [
            inner
            for one in cast("list[Mapping[str, Any] | list[Any]]", level)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
    return depth


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotStrictJson(f"has the name {twice[:60]!r} twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictJson(f"has {name}, which is no number of JSON")
