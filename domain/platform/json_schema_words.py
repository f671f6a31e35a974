"""Words for what does not fit a JSON schema: which place, which bound, and never the value."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from jsonschema import ValidationError

MAX_PATH_CHARS = 120

MAX_WORDS_CHARS = 240

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}")
"""What may be told of a name that the schema does not know: anything else may be a value in the wrong place."""

_MOST_NAMES = 10


class Misfit(NamedTuple):
    """One place that does not fit: its path (``content.captions[2]``, empty for the whole), and what is wrong."""

    path: str
    problem: str


def in_words(error: ValidationError) -> Iterator[Misfit]:
    """The error of the library as places and problems; one for each name where names are what is wrong."""
    place = _path(error)
    rule, said, value = str(error.validator or "false"), error.validator_value, cast("Any", error.instance)
    if rule == "required" and isinstance(value, dict):
        missing = [name for name in cast("Sequence[str]", said) if name not in value]
        yield from (_misfit(_below(place, name), "is required") for name in missing)
    elif rule in ("additionalProperties", "unevaluatedProperties") and isinstance(value, dict):
        yield from _unknown_names(place, cast("dict[str, Any]", value), cast("Any", error.schema))
    else:
        yield _misfit(place, _problem(rule, said))


def _misfit(place: str, problem: str) -> Misfit:
    return Misfit(_clipped(place, MAX_PATH_CHARS), _clipped(problem, MAX_WORDS_CHARS))


def _unknown_names(place: str, value: dict[str, Any], schema: Any) -> Iterator[Misfit]:
    rules = cast("Mapping[str, Any]", schema if isinstance(schema, dict) else {})
    known = cast("Mapping[str, Any]", rules.get("properties") or {})
    unknown = [name for name in value if name not in known and _NAME.fullmatch(name)]
    if rules.get("patternProperties") or not unknown:
        yield _misfit(place, "has a name that is not known")
        return
    problem = f"is not known; known are {_listed(list(known))}" if known else "is not known"
    yield from (_misfit(_below(place, name), problem) for name in unknown[:_MOST_NAMES])


def _problem(rule: str, said: Any) -> str:
    words = _WORDS.get(rule)
    return words(said) if words is not None else f"does not fit the rule {rule}"


def _type(said: Any) -> str:
    names = [str(name) for name in (cast("list[Any]", said) if isinstance(said, list) else [said])]
    return f"is not of type {' or '.join(names)}"


def _enum(said: Any) -> str:
    return f"is none of {_listed(cast('list[Any]', said) if isinstance(said, list) else [])}"


def _format(said: Any) -> str:
    return {
        "uuid": "is no UUID",
        "date-time": "is no date and time with an offset, such as 2026-02-22T09:00:00Z",
        "date": "is no date, such as 2026-02-22",
        "uri": "is no absolute address (URI)",
    }.get(str(said), f"does not have the format {said}")


def _count(words: str, what: str) -> Callable[[Any], str]:
    return lambda said: f"has {words} than {said} {what}{'' if said == 1 else 's'}"


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda said: f"is not {_listed([said])}",
    "format": _format,
    "pattern": lambda said: f"does not match the pattern {said}",
    "minLength": _count("fewer", "character"),
    "maxLength": _count("more", "character"),
    "minItems": _count("fewer", "item"),
    "maxItems": _count("more", "item"),
    "minProperties": _count("fewer", "name"),
    "maxProperties": _count("more", "name"),
    "minimum": lambda said: f"is less than {said}",
    "maximum": lambda said: f"is more than {said}",
    "exclusiveMinimum": lambda said: f"is not more than {said}",
    "exclusiveMaximum": lambda said: f"is not less than {said}",
    "multipleOf": lambda said: f"is no multiple of {said}",
    "uniqueItems": lambda _: "has the same item twice",
    "anyOf": lambda _: "fits none of the forms that are allowed",
    "oneOf": lambda _: "does not fit exactly one of the forms that are allowed",
    "not": lambda _: "fits what is not allowed",
    "contains": lambda _: "lacks an item that it needs",
    "dependentRequired": lambda _: "lacks a name that another of its names needs",
    "false": lambda _: "is not allowed here",
}


def _listed(values: Sequence[Any]) -> str:
    shown = [str(value) for value in values[:_MOST_NAMES]]
    return ", ".join([*shown, "…"] if len(values) > _MOST_NAMES else shown)


def _path(error: ValidationError) -> str:
    # A key that the schema does not name is the caller's own, and is told only if it looks like a name.
    known = {part for part in error.absolute_schema_path if isinstance(part, str)}
    path = ""
    for part in error.absolute_path:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path = _below(path, part if part in known or _NAME.fullmatch(part) else "*")
    return path


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _clipped(text: str, limit: int) -> str:
    shown = "".join(letter if letter.isprintable() else "�" for letter in text)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
