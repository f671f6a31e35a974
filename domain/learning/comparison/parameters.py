"""Name and type the parameters of a task, and put their placeholders into texts (DOC3 §0A.14).

``reports/q3.csv`` becomes ``reports/{quarter}.csv``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from contracts.base import clipped
from contracts.learning.interpretation import (
    MAX_PARAMETERS,
    ParameterType,
    SemanticWorkflowInterpretation,
    SkillParameter,
)
from domain.learning.commands.command_line import looks_like_path
from domain.learning.comparison.comparison import Comparison, TextRole, Variable
from domain.learning.comparison.months import as_one_date, as_one_month, month_of
from domain.learning.comparison.spoken_parameters import without_doubled
from domain.learning.interpretation.naming import identifier, listed
from domain.learning.redaction.redaction import redact

EXAMPLES_SHOWN = 4
"""The most examples that a description names."""

EXAMPLE_LIMIT = 60
"""The most characters of an example in a description."""

SHORT = 3
"""A value with fewer characters, or a bare number below a year, is only replaced inside a name."""

YEAR_DIGITS = 4

_LIMITS = {"title": 160, "goal_summary": 600}

_LISTS = ("use_conditions", "non_use_conditions", "success_conditions")

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}")

_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")

_VERSION = re.compile(r"\d+(?:\.\d+){1,3}")

_SHAPES = (
    ("year", re.compile(r"(?:19|20)\d\d")),
    ("quarter", re.compile(r"(?i)(?:\d{4}-?)?q[1-4](?:-?\d{4})?")),
    ("week", re.compile(r"(?i)(?:\d{4}-?)?(?:w|kw)\d{1,2}")),
    ("version", re.compile(r"(?i)v\d+(?:\.\d+)*")),
    (
        "month",
        re.compile(
            r"(?i)jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
            r"sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
        ),
    ),
)

_YES_OR_NO = frozenset({"yes", "no", "true", "false", "on", "off"})

_LONG_OPTION = re.compile(r"--([a-z][a-z0-9-]{1,30})(?:=|\s+)[\"']?$", re.IGNORECASE)

_ASSIGNMENT = re.compile(r"(?:^|[\s;])([A-Za-z][A-Za-z0-9_]{1,30})=[\"']?$")

_SEGMENT = re.compile(r"(?:^|[\s/\"'=])([a-z][a-z0-9_-]{1,30})/$", re.IGNORECASE)

_WRITTEN_OUT = re.compile(r"(?:^|[\s;&|])(?:printf|echo|cat)\b[^|;&]*[\"']$|<<<\s*[\"']?$", re.DOTALL)

_HOST = re.compile(r"\b(?:https?|s?ftp)://(?:[^\s/]*\.)?$")

_NO_FOLDERS = frozenset({"home", "tmp", "var", "usr", "opt", "out", "data", "src", "in"})

_A_VALUE = "\0"
"""Stands for a value where the words before a place are looked at: it names nothing."""


@dataclass(frozen=True)
class _Place:
    role: TextRole
    before: str
    after: str


def parameters_of(comparison: Comparison) -> tuple[SkillParameter, ...]:
    """One parameter for each thing that differs, at most ``MAX_PARAMETERS``; names are distinct."""
    found: list[SkillParameter] = []
    for variable in comparison.variables[:MAX_PARAMETERS]:
        places = tuple(_places(comparison, variable))
        kind = type_of(variable.values)
        name = distinct(_name_of(variable.values, kind, places), [p.name for p in found])
        kind = kind_called(name, kind, variable.values)
        found.append(
            SkillParameter(
                name=name,
                type=kind,
                description=_description(name, variable.values, places),
                examples=variable.values,
                required=all(variable.values),
            )
        )
    return as_one_date(as_one_month(found))


def parameter_schema(parameters: Sequence[SkillParameter]) -> dict[str, JsonValue]:
    """The parameters as a JSON Schema (2020-12) of one object."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {p.name: _property(p) for p in parameters},
        "required": [p.name for p in parameters if p.required],
        "additionalProperties": False,
    }


def fits(kind: ParameterType, values: Sequence[str]) -> bool:
    """Whether all values, empty ones aside, can be of ``kind``."""
    given = [value for value in values if value]
    match kind:
        case ParameterType.NUMBER:
            return all(_NUMBER.fullmatch(value) for value in given)
        case ParameterType.DATE:
            return all(_DAY.fullmatch(value) or _MONTH.fullmatch(value) for value in given)
        case ParameterType.TEXT | ParameterType.PATH | ParameterType.CHOICE:
            return True


def drafted_description(description: str, name: str, new_name: str) -> str:
    """A drafted description under another name; one that a person wrote stays as it is."""
    rest = description.removeprefix(_called(name))
    return description if rest == description else clipped(f"{_called(new_name)}{rest}", 240)


def is_drafted(parameter: SkillParameter) -> bool:
    """Whether its description is the one that the comparison gave it."""
    return parameter.description.startswith(_called(parameter.name))


def _property(parameter: SkillParameter) -> dict[str, JsonValue]:
    texts = [redact(e, personal=True).text for e in dict.fromkeys(parameter.examples) if e]
    examples: list[JsonValue] = [*texts]
    about: dict[str, JsonValue] = {"description": parameter.description}
    match parameter.type:
        case ParameterType.NUMBER:
            plain = filter(_NUMBER.fullmatch, texts)
            numbers: list[JsonValue] = [float(e) if "." in e else int(e) for e in plain]
            return {"type": "number", **about, "examples": numbers}
        case ParameterType.CHOICE:
            options: list[JsonValue] = [*examples, *([] if parameter.required else [""])]
            return {"type": "string", **about, "enum": options}
        case ParameterType.DATE:
            form: dict[str, JsonValue] = {"format": "date"} if all(map(_is_iso_day, texts)) else {}
            return {"type": "string", **about, **form, "examples": examples}
        case ParameterType.PATH | ParameterType.TEXT:
            return {"type": "string", **about, "minLength": int(parameter.required), "examples": examples}


def _is_iso_day(value: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", value))


def _places(comparison: Comparison, variable: Variable) -> Iterator[_Place]:
    for action in comparison.actions:
        for text in action.texts:
            said = ""
            for position, part in enumerate(text.parts):
                if isinstance(part, str):
                    said += part
                    continue
                if part.variable == variable:
                    rest = text.parts[position + 1 :][:1]
                    after = rest[0] if rest and isinstance(rest[0], str) else ""
                    yield _Place(text.role, said + part.before, after)
                said += _A_VALUE


def type_of(values: Sequence[str]) -> ParameterType:
    """What kind of values these are; empty ones aside."""
    given = [value for value in values if value]
    if all(value.startswith("-") and not _NUMBER.fullmatch(value) for value in given):
        return ParameterType.CHOICE
    if all(value.lower() in _YES_OR_NO for value in given):
        return ParameterType.CHOICE
    if all(_DAY.fullmatch(value) or _MONTH.fullmatch(value) for value in given):
        return ParameterType.DATE
    if all(_NUMBER.fullmatch(value) for value in given):
        return ParameterType.NUMBER
    if all(looks_like_path(value) for value in given):
        return ParameterType.PATH
    if len(values) > 2 and len(set(values)) < len(values):
        return ParameterType.CHOICE
    return ParameterType.TEXT


def kind_called(name: str, kind: ParameterType, values: Sequence[str]) -> ParameterType:
    """``kind``, unless the name says that what looks like a number is a version: the next may be 3.0.1."""
    is_version = re.search(r"version|release|(?:^|_)tag(?:$|_)", name, re.IGNORECASE)
    if kind is ParameterType.NUMBER and is_version and any("." in value for value in values):
        return ParameterType.TEXT
    return kind


def _name_of(values: Sequence[str], kind: ParameterType, places: Sequence[_Place]) -> str:
    given = [value for value in values if value]
    before = [place.before for place in places if place.role is TextRole.COMMAND]
    return (
        _name_given(before)
        or _name_by_shape(given, kind)
        or _name_by_place(before, kind, places)
        or _plain_name(given, kind, places)
    )


def _name_given(before: Sequence[str]) -> str | None:
    """The name that an option or an assignment gives the value."""
    matches = (pattern.search(text) for pattern in (_LONG_OPTION, _ASSIGNMENT) for text in before)
    return next((identifier(match.group(1)) for match in matches if match), None)


def _name_by_shape(given: Sequence[str], kind: ParameterType) -> str | None:
    if all(map(month_of, given)):
        return "month"
    if kind is ParameterType.DATE:
        return "date" if any(_DAY.fullmatch(value) for value in given) else "month"
    return next((name for name, shape in _SHAPES if all(shape.fullmatch(v) for v in given)), None)


def _name_by_place(before: Sequence[str], kind: ParameterType, places: Sequence[_Place]) -> str | None:
    if any(_WRITTEN_OUT.search(text) for text in before) and kind is ParameterType.TEXT:
        return "content"
    if any(_HOST.search(text) for text in before):
        return "host"
    folders = (match.group(1) for place in places if (match := _SEGMENT.search(place.before)))
    return next((identifier(_singular(f)) for f in folders if f.lower() not in _NO_FOLDERS), None)


def _plain_name(given: Sequence[str], kind: ParameterType, places: Sequence[_Place]) -> str:
    match kind:
        case ParameterType.NUMBER:
            return "number"
        case ParameterType.CHOICE:
            return "option"
        case ParameterType.PATH:
            written = any(p.role is TextRole.RESULT for p in places)
            return "output_file" if written else "input_file"
        case ParameterType.DATE | ParameterType.TEXT:
            in_path = any(p.after.startswith((".", "/")) or p.before.endswith("/") for p in places)
            return "name" if in_path or all(re.fullmatch(r"[^\W\d_]+", v) for v in given) else "text"


def _singular(word: str) -> str:
    if word.lower().endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    plural = word.lower().endswith("s") and not word.lower().endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > 3 else word


def distinct(name: str, taken: Sequence[str]) -> str:
    """``name``, with a number where it is taken."""
    if name not in taken:
        return name
    return next(f"{name[:37]}_{n}" for n in range(2, MAX_PARAMETERS + 2) if f"{name[:37]}_{n}" not in taken)


def _description(name: str, values: Sequence[str], places: Sequence[_Place]) -> str:
    shown = dict.fromkeys(
        clipped(" ".join(redact(value, personal=True).text.split()), EXAMPLE_LIMIT)
        for value in values
        if value.strip()
    )
    times = f", the same in {len(places)} places" if len(places) > 1 else ""
    missing = "" if all(values) else "; may be left out"
    said = listed([f"“{value}”" for value in list(shown)[:EXAMPLES_SHOWN]])
    return clipped(f"{_called(name)}{said} in the demonstrations{times}{missing}", 240)


def _called(name: str) -> str:
    return f"The {name.replace('_', ' ')}: "


def placeholder(parameter: SkillParameter) -> str:
    """How a file name or a condition speaks of the parameter."""
    return f"{{{parameter.name}}}"


def in_words(parameter: SkillParameter) -> str:
    """How a title or a trigger phrase speaks of it."""
    return parameter.name.replace("_", " ")


class ParameterWording:
    """Replaces the examples of parameters in texts; the longest example goes first."""

    def __init__(self, parameters: Sequence[SkillParameter]) -> None:
        pairs = [
            (value, parameter) for parameter in parameters for value in parameter.examples if value.strip()
        ]
        by_value: dict[str, SkillParameter] = {}
        for value, parameter in pairs:
            by_value.setdefault(value, parameter)
        known = sorted(by_value, key=lambda value: (-len(value), value))
        self._by_value = by_value
        # What speaks of a parameter already is left alone: its name may be its value, too.
        spoken_of = [rf"(?<!\$){re.escape(placeholder(parameter))}" for parameter in parameters]
        pieces = [*spoken_of, *(meant(value, by_value[value].type) for value in known)]
        self._pattern = re.compile("|".join(pieces)) if known else None

    def formal(self, text: str) -> str:
        """With ``{name}``, for conditions, file names and lists."""
        if self._pattern is None:
            return text

        def replaced(match: re.Match[str]) -> str:
            parameter = self._by_value.get(match[0])
            return placeholder(parameter) if parameter else match[0]

        return self._pattern.sub(replaced, text)

    def spoken(self, text: str) -> str:
        """With the name in words, for titles."""
        return self.unbraced(self.formal(text))

    def speaks_in(self, text: str) -> bool:
        """Whether the text holds an example."""
        found = self._pattern.finditer(text) if self._pattern else ()
        return any(match[0] in self._by_value for match in found)

    def unbraced(self, text: str) -> str:
        """With every ``{name}`` in words; once where the text names the noun before it: "the warehouse in Linz"."""
        for parameter in self._by_value.values():
            text = without_doubled(text, parameter).replace(placeholder(parameter), in_words(parameter))
        return text


def parameterised(
    interpretation: SemanticWorkflowInterpretation,
    parameters: Sequence[SkillParameter],
    edits: Mapping[str, object],
    *,
    names_the_task: bool = True,
) -> SemanticWorkflowInterpretation:
    """The interpretation speaking of the parameters; what a person has edited keeps its words.

    Without ``names_the_task`` the title keeps the values of the day. The observed effects stay as they were seen: they
    are what a rehearsal brings about again.
    """
    if not parameters:
        return interpretation
    wording = ParameterWording(parameters)
    # In a person's words "the access logs" are no folder, even where one is called so.
    told = ParameterWording([one for one in parameters if not is_also_a_word(one)])
    changes: dict[str, object] = {"parameters": tuple(parameters)}
    if "title" not in edits and names_the_task:
        changes["title"] = clipped(told.spoken(interpretation.title), _LIMITS["title"])
    if "goal_summary" not in edits:
        changes["goal_summary"] = clipped(told.formal(interpretation.goal_summary), _LIMITS["goal_summary"])
    for name in _LISTS:
        if name not in edits:
            texts: tuple[str, ...] = getattr(interpretation, name)
            speaking = wording if name == "success_conditions" else told
            changes[name] = tuple(clipped(speaking.formal(text), 240) for text in texts)
    if "checkpoints" not in edits:
        changes["checkpoints"] = tuple(
            c.changed(
                goal=clipped(wording.formal(c.goal), 240),
                success_condition=clipped(wording.formal(c.success_condition), 240),
            )
            for c in interpretation.checkpoints
        )
    return interpretation.changed(**changes)


def is_also_a_word(parameter: SkillParameter) -> bool:
    """Whether a path is called by a word that a person's sentence holds in another sense."""
    return parameter.type is ParameterType.PATH and all(map(str.isalpha, parameter.examples))


def meant(value: str, kind: ParameterType) -> str:
    """A regular expression of the value where it means the parameter: ``bounded``, and a path by its own name only.

    The folder ``config`` is not what ``check_config.py``, ``app.config`` and ``--config`` speak of, nor the file
    ``.env`` what ``prod.env`` does. What follows the name may go on, since results are named after what they are made
    of: ``records-2026.tar.gz``.
    """
    if kind is not ParameterType.PATH:
        return bounded(value)
    if not value[:1].isalnum():
        return rf"(?<![\w.])(?:{bounded(value)})"
    # Between slashes a short name is rather a pattern: s/a/b/.
    pattern = rf"(?!(?<=/){re.escape(value)}/)" if len(value) < SHORT else ""
    return rf"(?<![-_])(?<![^\W_]\.){pattern}(?:{bounded(value)})"


def bounded(value: str) -> str:
    """A regular expression of the value as a piece of its own in a text."""
    if not is_telling(value):
        # A sign means something to the shell, in paths and in numbers; as a word in quotes it is a value.
        return rf"(?:(?<=[\s=][\"'])|(?<=-[A-Za-z][\"'])){re.escape(value)}(?=[\"'](?:[\s;|&)]|\Z))"
    # Also right behind an escape of a regular expression: \\bLinden\\b.
    low = r"(?:(?<![^\W_])|(?<=\\[bBwWdDsSntr<>]))" if value[:1].isalnum() else ""
    high = r"(?![^\W_])" if value[-1:].isalnum() else ""
    if _VERSION.fullmatch(value):
        # A tag says v1.4.0 where the file says 1.4.0; 1.4.0 says nothing of 1.4.
        low, high = rf"(?<!\d\.)(?:{low}|(?<=\b[vV]))", rf"{high}(?!\.\d)"
    whole = f"{low}{re.escape(value)}{high}"
    if len(value) >= SHORT and not is_short_number(value):
        return whole
    if any(c.isalpha() for c in value) and any(c.isdigit() for c in value):
        return whole
    # Behind a hyphen that begins a word stands a number (-5) or the letter of an option (-a).
    hyphen = r"-" if value.isdigit() else r"\w-"
    return rf"(?:(?<=[_/=<>])|(?<={hyphen})){whole}|{whole}(?=[-_/]\w|\.[A-Za-z])"


def is_short_number(value: str) -> bool:
    """Whether the value is a number that stands in many places by chance: a bare one below a year."""
    return value.isdigit() and len(value) < YEAR_DIGITS


def is_telling(value: str) -> bool:
    """Whether the value holds a letter or a digit: a dot, a slash or a comma alone is found everywhere."""
    return any(map(str.isalnum, value))
