"""Clean, complete and check the input of a skill, and make the schema that models see.

AM-10, AM-12, AM-15, O-9, X-10, X-32 of skill_rows.md.

What is too long is refused, never cut: a message must not lose its end silently.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from contracts.base import clipped
from contracts.skills.errors import SkillError, SkillField
from contracts.skills.invocation import MAX_INPUT_BYTES
from contracts.skills.manifest import SkillManifest
from domain.platform.json_schema import misfits
from domain.platform.json_schema_words import MAX_PATH_CHARS, Misfit
from domain.platform.strict_json import json_depth
from domain.skills.retrying import rule_of

MAX_TEXT_CHARS = 4_000
"""The longest text where the schema names no length (O-9)."""

MAX_ITEMS = 1_000
"""The longest list where the schema names no length (O-9)."""

MAX_DEPTH = 16
"""The deepest nesting of objects and lists, the input itself included (O-9)."""

MOST_FIELDS = 20
"""The most fields that one refusal names."""

CONFIRMED = "confirmed"
"""The control field of an invocation; never an argument of its handler (X-2)."""

_MAX_EXACT_INTEGER = 2**53 - 1
"""The largest integer that canonical JSON (RFC 8785) can spell."""

_INDEX = re.compile(r"\[\d+\]")
_KEPT_IN_LINES = frozenset("\n\t")
_OPEN_BY_WORD = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"}
)
_MOST_SCHEMAS_OF_A_PLACE = 50


class InputRefused(Exception):
    """The input is refused; ``error`` has the code, its status and the fields."""

    def __init__(self, error: SkillError) -> None:
        super().__init__(error.message)
        self.error = error


def clean_input(given: Mapping[str, Any], manifest: SkillManifest) -> dict[str, Any]:
    """The input as its handler may have it: cleaned of control characters, defaults filled in, and fit for its schema.

    Control characters are taken out of every text (line ends and tabs stay in the fields of ``manifest.multiline``),
    ``confirmed`` is taken away, and names that the schema does not have are refused even where it does not say so.
    A schema that names the length of a text or list of its own is followed instead of the general limit. Cleaning
    twice is cleaning once.

    Raises:
        InputRefused: with the code that the manifest has for the field (``input_errors``), else ``INVALID_INPUT``.
    """
    problem = _shape_problem(given)
    if problem is not None:
        raise _refused(manifest, (problem,))
    cleaning = _Cleaning(manifest)
    arguments = {name: value for name, value in given.items() if name != CONFIRMED}
    cleaned = cast("dict[str, Any]", cleaning.clean(arguments, [manifest.input_schema], ""))
    found = cleaning.problems or misfits(cleaned, manifest.input_schema, MOST_FIELDS, known_good=True)
    if not found and (problem := _shape_problem(cleaned)) is not None:
        # Defaults have made it larger than may be.
        found = (problem,)
    if found:
        raise _refused(manifest, found)
    return cleaned


def is_confirmed(given: Mapping[str, Any]) -> bool:
    """Whether the arguments of a model's call say ``confirmed``: the boolean true and nothing like it (AM-13)."""
    return given.get(CONFIRMED) is True


def may_ask(manifest: SkillManifest) -> bool:
    """Whether a call of the skill can need a confirmation by its own manifest."""
    return manifest.acts and (
        manifest.confirmation_required or any(rule.confirmation_required for rule in manifest.actions)
    )


def exported_parameters(manifest: SkillManifest) -> dict[str, Any]:
    """The input schema as models see it: with the optional boolean ``confirmed`` where the skill can ask (AM-15)."""
    schema = deepcopy(manifest.input_schema)
    if may_ask(manifest):
        asked = manifest.confirmation_prompt or "May I do this?"
        schema["properties"] = {
            **cast("dict[str, Any]", schema.get("properties") or {}),
            CONFIRMED: {
                "type": "boolean",
                "description": (
                    f"Ask the person first: {asked} Set this to true only after they have said yes. "
                    "Without it nothing is done, and the call waits for a confirmation."
                ),
            },
        }
    return schema


def openai_tool(manifest: SkillManifest) -> dict[str, Any]:
    """The skill as a tool definition of OpenAI's shape (AM-10)."""
    return {
        "type": "function",
        "function": {
            "name": manifest.function_name,
            "description": manifest.function_description or manifest.description,
            "parameters": exported_parameters(manifest),
        },
    }


def named_by(path: str, fields: Iterable[str]) -> str | None:
    """The longest of ``fields`` that a path lies in; a field names a place and all below it.

    ``content`` and ``content.captions`` hold ``content.captions[2]``; ``goals[]`` holds the items of ``goals`` alone.
    """
    place = _INDEX.sub("[]", path)
    holds = [field for field in fields if place == field or place.startswith((f"{field}.", f"{field}["))]
    return max(holds, key=len, default=None)


def _refused(manifest: SkillManifest, found: Sequence[Misfit]) -> InputRefused:
    fields = [field for misfit in found if (field := named_by(misfit.path, manifest.input_errors))]
    code = manifest.input_errors[fields[0]] if fields else "INVALID_INPUT"
    rule = rule_of(manifest, code)
    first, more = found[0], len(found) - 1
    message = f"{first.path or 'input'}: {first.problem}" + (f" ({more} more)" if more else "")
    return InputRefused(
        SkillError(
            code=code,
            message=clipped(message, 500),
            http_status=rule.http_status,
            retryable=rule.retryable,
            recovery=rule.recovery,
            fields=tuple(
                SkillField(path=misfit.path or "input", problem=misfit.problem)
                for misfit in found[:MOST_FIELDS]
            ),
        )
    )


def _shape_problem(given: Mapping[str, Any]) -> Misfit | None:
    """What keeps a value from being looked at at all: its depth, its size, text that is no Unicode."""
    depth = json_depth(given, MAX_DEPTH)
    if depth > MAX_DEPTH:
        return Misfit("", f"is nested deeper than {MAX_DEPTH} levels")
    try:
        size = len(json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode())
    except UnicodeEncodeError:
        return Misfit("", "has a text that is no valid Unicode")
    except (TypeError, ValueError):
        return Misfit("", "is no JSON")
    return Misfit("", f"is larger than {MAX_INPUT_BYTES} bytes as JSON") if size > MAX_INPUT_BYTES else None


class _Cleaning:
    """One walk through an input beside its schema. ``problems`` are what the general limits refuse."""

    def __init__(self, manifest: SkillManifest) -> None:
        self.problems: tuple[Misfit, ...] = ()
        self._root = manifest.input_schema
        self._multiline = manifest.multiline
        self._level = 0

    def clean(self, value: Any, schemas: Sequence[Any], path: str) -> Any:
        """The value cleaned and completed; ``schemas`` are those that the schema of the whole has for this place."""
        match value:
            case dict():
                return self._object(cast("dict[str, Any]", value), schemas, path)
            case list():
                return self._list(cast("list[Any]", value), schemas, path)
            case str():
                return self._text(value, schemas, path)
            case bool() | None:
                return value
            case int() if abs(value) > _MAX_EXACT_INTEGER:
                self._problem(path, "is too large a number")
            case float() if not math.isfinite(value):
                self._problem(path, "is no finite number")
            case _:
                pass
        return value

    def _object(self, value: dict[str, Any], schemas: Sequence[Any], path: str) -> dict[str, Any]:
        held, possible = self._held(schemas), self._possible(schemas)
        if self._level == MAX_DEPTH:
            # Only defaults that hold themselves come to here.
            self._problem(path, f"is nested deeper than {MAX_DEPTH} levels")
            return value
        if any(unicodedata.category(c) == "Cc" for name in value for c in name):
            self._problem(path, "has a name with control characters")
        filled = {**value, **_defaults(held, value)}
        if not path or any("properties" in schema for schema in possible):
            self._refuse_unknown(filled, possible, path)
        self._level += 1
        cleaned = {
            name: self.clean(inner, _members(possible, name), f"{path}.{name}" if path else name)
            for name, inner in filled.items()
        }
        self._level -= 1
        return cleaned

    def _refuse_unknown(self, value: dict[str, Any], schemas: Sequence[Mapping[str, Any]], path: str) -> None:
        if any(_OPEN_BY_WORD & schema.keys() for schema in schemas):
            return  # The schema says itself what else there may be.
        known = {
            name: True for schema in schemas for name in cast("dict[str, Any]", schema.get("properties", {}))
        }
        if value.keys() <= known.keys():
            return
        closed = {"properties": known, "additionalProperties": False}
        for misfit in misfits(value, closed, MOST_FIELDS, known_good=True):
            place = f"{path}.{misfit.path}" if path and misfit.path else path or misfit.path
            self._problem(place, misfit.problem)

    def _list(self, value: list[Any], schemas: Sequence[Any], path: str) -> list[Any]:
        possible = self._possible(schemas)
        if len(value) > MAX_ITEMS and not any("maxItems" in schema for schema in possible):
            self._problem(path, f"has more than {MAX_ITEMS} items")
            return value
        return [
            self.clean(inner, _items(possible, number), f"{path}[{number}]")
            for number, inner in enumerate(value)
        ]

    def _text(self, value: str, schemas: Sequence[Any], path: str) -> str:
        kept = _KEPT_IN_LINES if named_by(path, self._multiline) is not None else frozenset[str]()
        cleaned = "".join(c for c in value if c in kept or unicodedata.category(c) != "Cc")
        if len(cleaned) > MAX_TEXT_CHARS and not any("maxLength" in one for one in self._possible(schemas)):
            self._problem(path, f"has more than {MAX_TEXT_CHARS} characters")
        return cleaned

    def _problem(self, path: str, problem: str) -> None:
        if len(self.problems) < MOST_FIELDS:
            self.problems += (Misfit(clipped(path, MAX_PATH_CHARS), problem),)

    def _held(self, schemas: Sequence[Any]) -> list[Mapping[str, Any]]:
        """The schemas that hold whatever the value is: they alone give defaults."""
        return self._with_parts(schemas, ("allOf",))

    def _possible(self, schemas: Sequence[Any]) -> list[Mapping[str, Any]]:
        """The schemas that hold or may hold."""
        return self._with_parts(schemas, ("allOf", "anyOf", "oneOf", "if", "then", "else"))

    def _with_parts(self, schemas: Sequence[Any], parts: Sequence[str]) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        waiting = list(schemas)
        while waiting and len(found) < _MOST_SCHEMAS_OF_A_PLACE:
            schema = waiting.pop(0)
            if not isinstance(schema, dict) or any(schema is one for one in found):
                continue
            rules = cast("dict[str, Any]", schema)
            found.append(rules)
            if isinstance(reference := rules.get("$ref"), str):
                waiting.append(_referred(self._root, reference))
            for name in parts:
                inner: Any = rules.get(name, [])
                waiting += inner if isinstance(inner, list) else [inner]
        return found


def _referred(root: Any, reference: str) -> Any:
    """What a reference inside the schema (``#/$defs/persona``) stands for; none for any other."""
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found if reference.startswith("#") else None


def _defaults(schemas: Sequence[Mapping[str, Any]], value: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for schema in schemas:
        for name, rules in cast("dict[str, Any]", schema.get("properties", {})).items():
            if name not in value and name != CONFIRMED and isinstance(rules, dict) and "default" in rules:
                found.setdefault(name, deepcopy(cast("dict[str, Any]", rules)["default"]))
    return found


def _members(schemas: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """The schemas of an object's member."""
    found: list[Any] = []
    for schema in schemas:
        properties = cast("dict[str, Any]", schema.get("properties", {}))
        found.append(properties[name] if name in properties else schema.get("additionalProperties"))
    return found


def _items(schemas: Sequence[Mapping[str, Any]], number: int) -> list[Any]:
    """The schemas of a list's item."""
    found: list[Any] = []
    for schema in schemas:
        first = cast("list[Any]", schema.get("prefixItems", []))
        found.append(first[number] if number < len(first) else schema.get("items"))
    return found
