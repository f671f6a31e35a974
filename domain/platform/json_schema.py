"""Validates a value against a JSON schema, with bounded work: answers of tools, inputs and outputs of skills.

Both come from a stranger, and a schema is a program, which can be written so that it never ends. So every rule
that is evaluated is counted, patterns are matched in linear time, and a check ends after a number of steps.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import SchemaError
from jsonschema.validators import (
    extend,  # pyright: ignore[reportUnknownVariableType]
    validator_for,
)
from pydantic_core import SchemaError as PatternError
from pydantic_core import SchemaValidator, core_schema
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from domain.platform.json_formats import has_format
from domain.platform.json_schema_words import Misfit, in_words

MAX_PATH_CHARS = 200

MOST_STEPS = 500_000
"""How many rules are looked at: a few seconds, and enough for the largest answer under a usual schema."""

STEPS_OF_A_PATTERN = 20_000
"""What making a pattern ready counts for: it takes up to a tenth of a second."""

MOST_READY = 16
"""How many patterns are kept ready, for each may take some 10 MB."""

_Draft = Any
"""The library's class of one draft, and what it makes: they have no useful types."""

_Rule = Callable[[_Draft, Any, Any, dict[str, Any]], Iterator[ValidationError] | None]


class _TooManySteps(Exception):
    pass


def misfit(value: Any, schema: dict[str, Any], most_steps: int = MOST_STEPS) -> str | None:
    """Where ``value`` does not fit ``schema``: a path and the name of the rule, never the value; none if it fits.

    The schema is read by the draft that its ``$schema`` names, else by 2020-12. References are followed inside it
    only, and formats are no rules. What cannot be matched in linear time is not applied: patterns that look around or
    refer back, and ``unevaluatedProperties`` beside patterns of names. May take seconds: not for an event loop.
    """
    try:
        with _counted_steps(_Check(most_steps)):
            checker = _checker(schema)
            first = next(iter(checker.iter_errors(value)), None)
    except _NotCheckable as problem:
        return str(problem)
    return None if first is None else f"{_path(first)} does not fit the rule {first.validator or 'false'}"


def misfits(
    value: Any,
    schema: dict[str, Any],
    most: int = 20,
    *,
    formats: bool = True,
    known_good: bool = False,
    most_steps: int = MOST_STEPS,
) -> tuple[Misfit, ...]:
    """What of ``value`` does not fit ``schema``: at most ``most`` places with words for people; none if it fits.

    Like ``misfit`` in what is read and applied, except that the formats ``uuid``, ``date-time`` and ``uri`` are rules
    unless ``formats`` is false. No value is told. Names that the schema does not know are told if they look like
    names. ``known_good`` spares the check of a schema that ``schema_problem`` has passed.
    """
    try:
        with _counted_steps(_Check(most_steps, formats=formats)):
            checker = _checker(schema, known_good=known_good)
            found = islice(checker.iter_errors(value), most)
            # One rule may be broken by several names, and tells all of them at once.
            told = dict.fromkeys(one for error in found for one in in_words(error))
    except _NotCheckable as problem:
        return (Misfit("", str(problem)),)
    return tuple(told)[:most]


def schema_problem(schema: Any) -> str | None:
    """Why a schema cannot be used, or none: it is JSON Schema 2020-12 and refers to nothing outside of itself."""
    if not isinstance(schema, dict):
        return "the schema is no object"
    named = cast("dict[str, Any]", schema).get("$schema", _OUR_DRAFT)
    if named not in (_OUR_DRAFT, f"{_OUR_DRAFT}#"):
        return "the schema names another draft than 2020-12"
    try:
        with _counted_steps(_Check(MOST_STEPS)):
            _checker(cast("dict[str, Any]", schema))
            resource = Resource[Any].from_contents(schema, default_specification=DRAFT202012)
            resolver = _EMPTY.with_resource("", resource).resolver()
            for reference in _references(schema):
                if not reference.startswith("#"):
                    return "the schema refers to something outside of it"
                resolver.lookup(reference)
    except _NotCheckable as problem:
        cause = problem.__cause__
        where = f" at {cause.json_path}" if isinstance(cause, SchemaError) else ""
        return f"{problem}{where}"[:MAX_PATH_CHARS]
    return None


def _references(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            for name, part in cast("dict[str, Any]", schema).items():
                if name in ("$ref", "$dynamicRef") and isinstance(part, str):
                    yield part
                elif name not in _DATA:
                    yield from _references(part)
        case list():
            for part in cast("list[Any]", schema):
                yield from _references(part)
        case _:
            return


class _NotCheckable(Exception):
    """The check could not be made; the text is the reason."""


@contextmanager
def _counted_steps(check: "_Check") -> Generator[None]:
    """Counts what is evaluated inside it, and names what a check can end with."""
    reset = _check.set(check)
    try:
        yield
    except SchemaError as error:
        raise _NotCheckable("the schema is no JSON Schema") from error
    except (Unresolvable, ValueError) as error:
        # What cannot be read as an address is a ValueError.
        raise _NotCheckable("the schema refers to something outside of it") from error
    except ArithmeticError as error:
        raise _NotCheckable("there is a number that is too large to check") from error
    except RecursionError as error:
        raise _NotCheckable("the value, or its schema, is nested too deep") from error
    except _TooManySteps as error:
        raise _NotCheckable("the schema takes too long to check") from error
    finally:
        _check.reset(reset)


def _checker(schema: dict[str, Any], *, known_good: bool = False) -> _Draft:
    _check.get().names_patterns = _has_key(schema, "patternProperties")
    named = schema if isinstance(schema.get("$schema"), str) else {}
    draft: _Draft = validator_for(named, default=Draft202012Validator)
    if not known_good:
        draft.check_schema(schema, format_checker=_NO_FORMATS)
    return _counting(draft)(_of_one_draft(schema), registry=_EMPTY)


class _Check:
    """One check: how many steps are left, and the patterns that are ready."""

    def __init__(self, most_steps: int, *, formats: bool = False) -> None:
        self.names_patterns = False
        self.formats = formats
        self._left = most_steps
        self._ready: dict[str, SchemaValidator | None] = {}

    def take(self, steps: int) -> None:
        """Takes steps, while there are."""
        self._left -= steps
        if self._left < 0:
            raise _TooManySteps

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is found in the text; none for one that cannot be matched in linear time."""
        self.take(1)
        if pattern not in self._ready:
            self.take(STEPS_OF_A_PATTERN)
            if len(self._ready) == MOST_READY:
                del self._ready[next(iter(self._ready))]
            self._ready[pattern] = _matcher(pattern)
        matcher = self._ready[pattern]
        return None if matcher is None else matcher.isinstance_python(text)


@cache
def _counting(draft: _Draft) -> _Draft:
    """The draft's checker, whose rules count. There is one for each draft, for making one costs memory for ever."""
    rules = dict(cast("Mapping[str, _Rule]", draft.VALIDATORS))
    rules |= {
        "format": _format,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    if "unevaluatedProperties" in rules:
        rules["unevaluatedProperties"] = _unless_names_have_patterns(rules["unevaluatedProperties"])
    counted = {name: _counted(rule) for name, rule in rules.items()}
    return cast("_Draft", extend(draft, counted))


def _counted(rule: _Rule) -> _Rule:
    def counted(checker: _Draft, said: Any, value: Any, schema: dict[str, Any]) -> Iterator[ValidationError]:
        _check.get().take(1)
        yield from rule(checker, said, value, schema) or ()

    return counted


def _unless_names_have_patterns(rule: _Rule) -> _Rule:
    def applied(
        checker: _Draft, said: Any, value: Any, schema: dict[str, Any]
    ) -> Iterator[ValidationError] | None:
        # The rule of the library would match them by itself.
        return None if _check.get().names_patterns else rule(checker, said, value, schema)

    return applied


def _format(_: _Draft, name: Any, value: Any, __: Any) -> Iterator[ValidationError]:
    if _check.get().formats and isinstance(value, str) and has_format(name, value) is False:
        yield ValidationError("format")


def _pattern(_: _Draft, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and _check.get().matches(pattern, value) is False:
        yield ValidationError("pattern")


def _pattern_properties(
    checker: _Draft, patterns: dict[str, Any], value: Any, _: Any
) -> Iterator[ValidationError]:
    for pattern, rules in patterns.items() if isinstance(value, dict) else ():
        for name, member in cast("dict[str, Any]", value).items():
            if _check.get().matches(pattern, name):
                yield from checker.descend(member, rules, path=name, schema_path=pattern)


def _additional_properties(
    checker: _Draft, rules: Any, value: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    patterns = schema.get("patternProperties", {})
    for name, member in cast("dict[str, Any]", value).items() if isinstance(value, dict) else ():
        if name in schema.get("properties", {}):
            continue
        if any(_check.get().matches(one, name) is not False for one in patterns):
            continue
        if rules is False:
            yield ValidationError("additionalProperties")
            return
        yield from checker.descend(member, rules, path=name)


def _matcher(pattern: str) -> SchemaValidator | None:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except PatternError:
        return None


def _unique_items(_: _Draft, wanted: Any, value: Any, __: Any) -> Iterator[ValidationError]:
    if wanted is True and isinstance(value, list):
        items = cast("list[Any]", value)
        if len(set(map(_hashable, items))) < len(items):
            yield ValidationError("uniqueItems")


def _hashable(value: Any) -> Any:
    """Equal for what JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    match value:
        case dict():
            members = cast("dict[str, Any]", value)
            return frozenset((name, _hashable(member)) for name, member in members.items())
        case list():
            return tuple(map(_hashable, cast("list[Any]", value)))
        case bool():
            return ("bool", value)
        case _:
            return value


def _of_one_draft(schema: Any) -> Any:
    """The schema without the drafts that it and its parts name: they would be read by rules that nobody counts."""
    match schema:
        case dict():
            members = cast("dict[str, Any]", schema)
            return {
                name: part if name in _DATA else _of_one_draft(part)
                for name, part in members.items()
                if name != "$schema" or not isinstance(part, str)
            }
        case list():
            return [_of_one_draft(part) for part in cast("list[Any]", schema)]
        case _:
            return schema


def _has_key(schema: Any, key: str) -> bool:
    match schema:
        case dict():
            members = cast("dict[str, Any]", schema)
            return key in members or any(_has_key(part, key) for part in members.values())
        case list():
            return any(_has_key(part, key) for part in cast("list[Any]", schema))
        case _:
            return False


def _path(error: ValidationError) -> str:
    # A key that the schema does not name is the answer's own, and may be a value in disguise.
    known = set(error.absolute_schema_path)
    steps = (_step(part, part in known) for part in error.absolute_path)
    return ("$" + "".join(steps))[:MAX_PATH_CHARS]


def _step(part: str | int, known: bool) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if known else ".*"


_OUR_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_EMPTY: Registry[Any] = Registry()
_NO_FORMATS = FormatChecker(formats=())
_check: ContextVar[_Check] = ContextVar("_check")
_DATA = frozenset({"const", "enum", "default", "examples"})
"""What holds values, and no schemas."""
