"""Inputs made from a JSON schema: one that fits in everything, and each that is just past one of its bounds."""

import json
import math
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import hypothesis
from hypothesis import strategies as st

from domain.platform.json_formats import has_format

_FORMATS = {
    "uuid": "0199aa10-7c00-7000-8000-000000000001",
    "date-time": "2030-03-02T09:30:00Z",
    "date": "2030-03-02",
    "uri": "https://example.com/",
    "email": "somebody@example.com",
}
_WRONG_TEXTS = ("", "!", "é", "x", " ", "\\", "surely-not-in-it")
_OPEN_BY_WORD = {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"}
_OF_ANOTHER_TYPE: tuple[tuple[str, Any], ...] = (
    ("string", "text"),
    ("integer", 7),
    ("number", 7.5),
    ("boolean", True),
    ("array", []),
    ("object", {}),
    ("null", None),
)

Schema = dict[str, Any]


@dataclass(frozen=True)
class Edge:
    """A whole input that breaks one rule, or that lies on its edge; ``place`` is the path of what breaks it."""

    how: str
    place: str
    value: Any


class Edges:
    """The edges of one schema. References inside it are followed."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self.fitting: Any = self.sample(schema)

    def sample(self, schema: Schema, *, whole: bool = True) -> Any:
        """A value that fits: with each of its fields, or with those alone that are required."""
        rules = self._rules(schema)
        for word in ("const", "default"):
            if word in rules:
                return deepcopy(rules[word])
        if "enum" in rules:
            return rules["enum"][0]
        match _type_of(rules):
            case "object":
                wanted = rules.get("properties", {})
                names = list(wanted) if whole else rules.get("required", [])
                return {name: self.sample(wanted.get(name, {}), whole=whole) for name in names}
            case "array":
                items = rules.get("items", {})
                return [self.sample(items, whole=whole) for _ in range(max(rules.get("minItems", 0), 1))]
            case "string":
                return _text(rules)
            case "integer" | "number":
                return _number(rules)
            case "boolean":
                return True
            case _:
                return None

    def past(self) -> Iterator[Edge]:
        """Each input that is one past a bound, and else like the fitting one."""
        yield from self._walk(self._root, self.fitting, "", lambda wrong: wrong, self._past)

    def on(self) -> Iterator[Edge]:
        """Each input that lies on an upper or lower bound."""
        yield from self._walk(self._root, self.fitting, "", lambda right: right, self._on)

    def _walk(self, schema: Schema, value: Any, place: str, put: Any, bounds: Any) -> Iterator[Edge]:
        rules = self._rules(schema)
        for how, other in bounds(rules, value):
            yield Edge(how, place, put(other))
        if isinstance(value, dict):
            for name, inner in rules.get("properties", {}).items():
                if name not in value:
                    continue

                def put_member(other: Any, name: str = name, value: dict[str, Any] = value) -> Any:  # pyright: ignore[reportUnknownParameterType]
                    return put({**value, name: other})

                path = f"{place}.{name}" if place else name
                yield from self._walk(inner, value[name], path, put_member, bounds)
        if isinstance(value, list) and value and isinstance(rules.get("items"), dict):
            items = cast("list[Any]", value)

            def put_item(other: Any) -> Any:
                return put([other, *items[1:]])

            yield from self._walk(rules["items"], items[0], f"{place}[0]", put_item, bounds)

    def _past(self, rules: Schema, value: Any) -> Iterator[tuple[str, Any]]:
        yield from _wrong_types(rules)
        if "enum" in rules or "const" in rules:
            allowed = rules.get("enum", [rules.get("const")])
            yield "not one of the values", next(text for text in _WRONG_TEXTS[::-1] if text not in allowed)
        match value:
            case dict():
                yield from _past_object(rules, cast("dict[str, Any]", value))
            case list():
                yield from self._past_list(rules)
            case bool() | None:
                pass
            case str():
                yield from _past_text(rules, value)
            case _:
                yield from _past_number(rules)

    def _past_list(self, rules: Schema) -> Iterator[tuple[str, Any]]:
        one = self.sample(rules.get("items", {}), whole=False)
        if (least := rules.get("minItems", 0)) > 0:
            yield "minItems - 1", [one] * (least - 1)
        if "maxItems" in rules:
            yield "maxItems + 1", [one] * (rules["maxItems"] + 1)
        if rules.get("uniqueItems"):
            yield "the same twice", [one, one]

    def _on(self, rules: Schema, value: Any) -> Iterator[tuple[str, Any]]:
        if "enum" in rules:
            yield from ((f"value {one!r}", one) for one in rules["enum"])
        if isinstance(value, str) and not {"pattern", "format", "enum", "const"} & rules.keys():
            yield from ((word, "x" * rules[word]) for word in ("minLength", "maxLength") if word in rules)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from ((word, rules[word]) for word in ("minimum", "maximum") if word in rules)
        if isinstance(value, list) and not rules.get("uniqueItems"):
            one = self.sample(rules.get("items", {}), whole=False)
            yield from ((word, [one] * rules[word]) for word in ("minItems", "maxItems") if word in rules)

    def _rules(self, schema: Schema) -> Schema:
        """The rules of a place: references followed, parts of ``allOf`` joined, the first of other choices."""
        rules = dict(schema)
        if isinstance(reference := rules.pop("$ref", None), str):
            found: Any = self._root
            for step in reference.removeprefix("#").split("/")[1:]:
                found = found[step]
            rules = {**self._rules(found), **rules}
        for part in rules.pop("allOf", ()):
            inner = self._rules(part)
            rules = {
                **inner,
                **rules,
                "properties": {**inner.get("properties", {}), **rules.get("properties", {})},
            }
        return rules


def _type_of(rules: Schema) -> str | None:
    said = rules.get("type")
    if isinstance(said, list):
        return next((str(one) for one in cast("list[Any]", said) if one != "null"), "null")
    if said is None and ("properties" in rules or "required" in rules):
        return "object"
    return said


def _wrong_types(rules: Schema) -> Iterator[tuple[str, Any]]:
    said = rules.get("type")
    if said is None:
        return
    allowed = set(cast("list[str]", said)) if isinstance(said, list) else {str(said)}
    if "number" in allowed:
        allowed.add("integer")
    yield from ((f"of type {name}", value) for name, value in _OF_ANOTHER_TYPE if name not in allowed)


def _past_object(rules: Schema, value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in rules.get("required", []):
        yield f"without {name}", {key: inner for key, inner in value.items() if key != name}
    closed = rules.get("additionalProperties") is False
    if closed or ("properties" in rules and not _OPEN_BY_WORD & rules.keys()):
        yield "with an unknown name", {**value, "surprise": 1}
    if "minProperties" in rules:
        yield "minProperties - 1", dict(list(value.items())[: rules["minProperties"] - 1])


def _past_text(rules: Schema, value: str) -> Iterator[tuple[str, Any]]:
    if rules.get("minLength", 0) > 0:
        yield "minLength - 1", "x" * (rules["minLength"] - 1)
    if "maxLength" in rules:
        yield "maxLength + 1", (value + "x" * rules["maxLength"])[: rules["maxLength"] + 1]
    if "pattern" in rules:
        candidates = (*_WRONG_TEXTS, f"{value}!", f"!{value}", f"{value}{value}", value[:-1], f"{value}0")
        broken = [text for text in candidates if re.search(rules["pattern"], text) is None]
        assert broken, f"no text is known that breaks {rules['pattern']}"
        yield from ((f"{text!r} against the pattern", text) for text in broken)
    if "format" in rules and (wrong := [t for t in _WRONG_TEXTS if has_format(rules["format"], t) is False]):
        yield f"no {rules['format']}", wrong[-1]


def _past_number(rules: Schema) -> Iterator[tuple[str, Any]]:
    whole = rules.get("type") == "integer"
    if "minimum" in rules:
        least = rules["minimum"]
        yield "under the minimum", least - 1 if whole else math.nextafter(least, -math.inf)
    if "maximum" in rules:
        most = rules["maximum"]
        yield "over the maximum", most + 1 if whole else math.nextafter(most, math.inf)
    for word in ("exclusiveMinimum", "exclusiveMaximum"):
        if word in rules:
            yield word, rules[word]


def _text(rules: Schema) -> str:
    if "format" in rules and rules["format"] in _FORMATS:
        return _FORMATS[rules["format"]]
    if "pattern" in rules:
        return _matching(rules["pattern"], rules.get("minLength", 0), rules.get("maxLength", 4_000))
    return "x" * max(rules.get("minLength", 0), 1)


@cache
def _matching(pattern: str, least: int, most: int) -> str:
    def fits(text: str) -> bool:
        return text.isprintable() and least <= len(text) <= most

    settings = hypothesis.settings(database=None, derandomize=True)
    return hypothesis.find(
        st.from_regex(pattern).map(str.strip),
        lambda t: fits(t) and bool(re.search(pattern, t)),
        settings=settings,
    )


def _number(rules: Schema) -> int | float:
    least = rules.get("minimum", rules.get("exclusiveMinimum", 0))
    if "exclusiveMinimum" in rules:
        least += 1
    most = rules.get("maximum", rules.get("exclusiveMaximum", math.inf))
    return least if least <= most else most


def shown(value: Any) -> str:
    """A value as a failing test shows it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) < 300 else f"{text[:300]}…"
