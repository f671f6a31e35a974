"""Plain words for what pydantic says of a value that does not fit: where it stands, what is wrong, what to do.

Never the value itself, which may be a secret in the wrong field.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args

from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

from contracts.base import clipped

MAX_PLACE_CHARS = 160
MAX_PROBLEM_CHARS = 400

_KEY = "[key]"
"""How pydantic marks the name of an entry, in place of its value."""

_CHOICE = re.compile(r"\^\(([\w|-]+)\)\$")
"""A pattern that is a list of words."""

_QUOTED = re.compile(r"(?<![\w'])'([^']*)'(?!\w)")
_MEMBER = re.compile(r"<[^:<>]+: '([^']*)'>")
"""A member of an enumeration, as Python shows it."""


_LINE = re.compile(r"line (\d+) column (\d+)")


class FieldProblem(NamedTuple):
    """One place that does not fit (``body.scopes.0``), and what is wrong there."""

    path: str
    problem: str


def field_problems(
    error: ValidationError | Sequence[Mapping[str, Any]],
    *,
    whole: str,
    under: Sequence[str] = (),
    given: Any = None,
) -> list[FieldProblem]:
    """Everything that is wrong, in the order in which it was found.

    ``whole`` names the value where it is wrong as a whole, ``under`` is where it stands. With ``given``, the value
    without ``under``, a path leaves out what is no name in it.
    """
    return [
        FieldProblem(
            clipped(".".join((*under, *map(str, _steps(one, given)))) or whole, MAX_PLACE_CHARS),
            clipped(_problem(one), MAX_PROBLEM_CHARS),
        )
        for one in _errors(error)
    ]


def in_a_sentence(problems: Sequence[FieldProblem]) -> str:
    """The first of the problems with its place, and how many more there are."""
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0].path}: {problems[0].problem}{more}"


def problem_sentence(error: ValidationError, *, whole: str) -> str:
    """The first thing that is wrong with its place, and how many more there are."""
    return in_a_sentence(field_problems(error, whole=whole))


def plain_problem(kind: str, message: str, context: Mapping[str, Any]) -> str:
    """A problem by the ``type``, ``msg`` and ``ctx`` that pydantic gives it; a check of our own has its own words."""
    if words := _WORDS.get(kind):
        return words if isinstance(words, str) else words(context)
    if kind in _OWN_WORDS or kind not in _PYDANTICS:
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    alike = (words for beginning, words in _GROUPS.items() if kind.startswith(beginning))
    return next(alike, "does not fit what is asked for here")


def _errors(error: ValidationError | Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    if isinstance(error, ValidationError):
        return cast("Iterable[Mapping[str, Any]]", error.errors(include_url=False, include_input=False))
    return error


def _problem(one: Mapping[str, Any]) -> str:
    place = one.get("loc", ())
    kind, context = str(one.get("type", "")), cast("Mapping[str, Any]", one.get("ctx") or {})
    if kind == "json_invalid" and place and isinstance(place[-1], int):
        context = {**context, "position": place[-1]}
    said = plain_problem(kind, str(one.get("msg", "")), context)
    return f"has a name that {said}" if _KEY in place else said


def _steps(one: Mapping[str, Any], given: Any) -> list[object]:
    """The names and numbers that lead to the place, without marks of pydantic's own."""
    place = [step for step in one.get("loc", ()) if step != _KEY]
    if one.get("type") == "json_invalid":
        return [step for step in place if isinstance(step, str)]
    if given is None or not place or _inside(given, place[0]) is _NOWHERE:
        return place
    steps: list[object] = []
    for step in place:
        inside = _inside(given, step)
        # The last step may be of what is missing; any other that is not there names a choice of a union.
        if inside is not _NOWHERE or step is place[-1]:
            steps.append(step)
            given = inside
    return steps


_NOWHERE = object()


def _inside(given: Any, step: object) -> Any:
    if isinstance(given, dict):
        return cast("dict[object, Any]", given).get(step, _NOWHERE)
    if isinstance(given, list) and isinstance(step, int) and step < len(cast("list[Any]", given)):
        return cast("list[Any]", given)[step]
    return _NOWHERE


def _bounded(one: str, several: str, name: str) -> Callable[[Mapping[str, Any]], str]:
    def words(context: Mapping[str, Any]) -> str:
        number = context.get(name)
        return one if number == 1 else several.format(number)

    return words


def _pattern(context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern"))
    if choice := _CHOICE.fullmatch(pattern):
        return f"has to be one of: {', '.join(choice[1].split('|'))}"
    if pattern in FORMS:
        return f"has to be {FORMS[pattern]}"
    return f"is not of the form that is asked for ({pattern})"


def _expected(context: Mapping[str, Any], name: str = "expected") -> str:
    """The values there are, without the quotation marks of Python."""
    said = _MEMBER.sub(r"'\1'", str(context.get(name, "")))
    return _QUOTED.sub(r"\1", said)


def _one_of(context: Mapping[str, Any]) -> str:
    expected = _expected(context)
    return (
        f"has to be one of: {expected}" if ", " in expected or " or " in expected else f"has to be {expected}"
    )


def _json(context: Mapping[str, Any]) -> str:
    place = _LINE.search(str(context.get("error", "")))
    where = f" (line {place[1]}, column {place[2]})" if place else ""
    where = f" (character {context['position']})" if "position" in context else where
    return f"cannot be read as JSON{where}; look for a comma, a quotation mark or a bracket that is missing or too many"


_PYDANTICS = frozenset[str](get_args(ErrorType))
_SIGNS = "letters, digits and the signs"
FORMS: Mapping[str, str] = {
    r"\S": "a text that is not blank",
    r"^#[0-9a-fA-F]{6}$": "a colour such as #aa3366",
    r"^0x[a-fA-F0-9]{40}$": "an address: 0x and 40 hexadecimal digits",
    r"^[ -~]+$": "plain characters of ASCII on one line",
    r"^[0-9a-f]{64}$": "a SHA-256 digest: 64 hexadecimal digits in small letters",
    r"^[A-Z][A-Z0-9_]*$": "a code of capital letters, digits and _, such as NOT_READY",
    r"^[A-Za-z0-9._-]+$": f"{_SIGNS} . _ -",
    r"^[A-Za-z0-9_.-]+$": f"{_SIGNS} . _ -",
    r"^[A-Za-z0-9._@-]+$": f"{_SIGNS} . _ @ -",
    r"^[A-Za-z0-9_-]+$": f"{_SIGNS} _ -",
    r"^[A-Za-z0-9_./-]{1,120}$": f"1 to 120 {_SIGNS} . _ / -",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$": "a mail address, such as ann@example.org",
    r"^[^\x00-\x1f\x7f]*$": "one line without control characters",
    r"^[^\x00-\x1f\x7f]+$": "one line without control characters",
    r"^[a-z0-9-]{2,64}$": "2 to 64 small letters, digits and hyphens",
    r"^[a-z0-9][a-z0-9-]{1,63}$": "2 to 64 small letters, digits and hyphens, a letter or digit first",
    r"^[a-z0-9][a-z0-9_.-]{1,119}$": "2 to 120 small letters, digits and the signs _ . -, a letter or digit first",
    r"^\s*\d{1,6}(-\d{0,6})?(\s*,\s*\d{1,6}(-\d{0,6})?)*\s*$": "numbers of pages, such as 1-3, 7",
    r"^\w[\w.-]*$": "the name of a file, such as list.csv",
    r"^\w[\w.-]*(?:/\w[\w.-]*)*$": "a path below the folder, such as out/list.csv",
    r"^cp-\d{2,3}$": "the id of a checkpoint, such as cp-01",
    r"^trial-folder/[0-9a-f]{64}$": "the reference that the answer to a folder gave",
}
"""What texts of a pattern are, in words; every pattern that a request can break is here."""

_OWN_WORDS = frozenset({"value_error", "assertion_error"})
"""Kinds of pydantic with a message of ours; so has every kind that is none of pydantic's."""

_OBJECT = "has to be an object of names and values: {…}"
_LIST = "has to be a list: […]"
_WHOLE = "has to be a whole number"
_TRUTH = "has to be true or false"
_TIME = "has to be a date and time with an offset, such as 2026-01-02T03:04:05Z"
_DATE = "has to be a date, such as 2026-01-31"
_CLOCK = "has to be a time of day, such as 09:30:00"
_LENGTH_OF_TIME = "has to be a length of time, such as PT15M for 15 minutes"
_ADDRESS = "has to be a whole address, such as https://example.org/path"
_UUID = "has to be a UUID, such as 0199aa10-7c00-7000-8000-00000000002a"
_DECIMAL = "has to be a number, such as 12.50"

_WORDS: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {
    "missing": "is missing; add it",
    "extra_forbidden": "is not known here; leave it out",
    "invalid_key": "has a name that is no text",
    "json_invalid": _json,
    "json_type": "has to be JSON text",
    "recursion_loop": "holds itself",
    "recursion_depth_exceeded": "is nested too deep",
    "none_required": "has to be null, or left out",
    "greater_than": lambda context: f"has to be more than {context.get('gt')}",
    "greater_than_equal": lambda context: f"has to be {context.get('ge')} or more",
    "less_than": lambda context: f"has to be less than {context.get('lt')}",
    "less_than_equal": lambda context: f"has to be {context.get('le')} or less",
    "multiple_of": lambda context: f"has to be a multiple of {context.get('multiple_of')}",
    "finite_number": "has to be a finite number",
    "too_short": _bounded("name at least one", "name at least {}", "min_length"),
    "too_long": _bounded("name at most one", "name at most {}", "max_length"),
    "string_too_short": _bounded("is empty; say something", "needs at least {} characters", "min_length"),
    "string_too_long": _bounded(
        "has more than 1 character; shorten it", "has more than {} characters; shorten it", "max_length"
    ),
    "string_pattern_mismatch": _pattern,
    "string_type": "has to be text",
    "string_unicode": "has a character that is none of Unicode; leave it out",
    "string_not_ascii": "has a character other than letters, digits and signs of ASCII; leave it out",
    "enum": _one_of,
    "literal_error": _one_of,
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "is too large a number",
    "float_type": "has to be a number",
    "float_parsing": "has to be a number",
    "bytes_too_short": _bounded("is empty", "needs at least {} bytes", "min_length"),
    "bytes_too_long": _bounded("has more than 1 byte", "has more than {} bytes", "max_length"),
    "date_past": "has to be a date in the past",
    "date_future": "has to be a date to come",
    "datetime_past": "has to be in the past",
    "datetime_future": "has to be a time to come",
    "timezone_naive": "has to be without an offset",
    "timezone_aware": _TIME,
    "timezone_offset": _TIME,
    "union_tag_invalid": lambda context: (
        f"needs a known {_expected(context, 'discriminator')}, one of: {_expected(context, 'expected_tags')}"
    ),
    "union_tag_not_found": lambda context: (
        f"needs {_expected(context, 'discriminator')}, which says what kind it is; add it"
    ),
    "url_too_long": _bounded("is too long", "has more than {} characters; shorten it", "max_length"),
    "url_scheme": lambda context: f"has to begin with {_expected(context, 'expected_schemes')}, then ://",
    "decimal_max_digits": lambda context: f"has more than {context.get('max_digits')} digits",
    "decimal_max_places": lambda context: (
        f"has more than {context.get('decimal_places')} digits behind the decimal point"
    ),
    "decimal_whole_digits": lambda context: (
        f"has more than {context.get('whole_digits')} digits before the decimal point"
    ),
}
"""The words of each kind of problem; kinds of a group that begins alike are in ``_GROUPS``."""

_GROUPS: Mapping[str, str] = {
    "model_": _OBJECT,
    "dataclass_": _OBJECT,
    "named_tuple_": _OBJECT,
    "dict_": _OBJECT,
    "frozen_dict_": _OBJECT,
    "ordered_dict_": _OBJECT,
    "mapping_": _OBJECT,
    "counter_": _OBJECT,
    "list_": _LIST,
    "tuple_": _LIST,
    "set_": _LIST,
    "frozen_set_": _LIST,
    "deque_": _LIST,
    "iterable_": _LIST,
    "bytes_": "has to be text",
    "date_": _DATE,
    "datetime_": _TIME,
    "time_delta_": _LENGTH_OF_TIME,
    "time_": _CLOCK,
    "url_": _ADDRESS,
    "uuid_": _UUID,
    "decimal_": _DECIMAL,
    "fraction_": _DECIMAL,
    "complex_": _DECIMAL,
}
"""Words by how the name of a kind begins."""
