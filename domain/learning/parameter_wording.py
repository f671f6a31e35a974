"""Speaking of a parameter where a demonstration had a value: ``reports/q3.csv`` → ``reports/{quarter}.csv``."""

import re
from collections.abc import Callable, Mapping, Sequence

from contracts.base import clipped
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.parameters import SkillParameter

SHORT = 3
"""A value with fewer characters, or a bare number below a year, is only replaced inside a name."""

_LIMITS = {"title": 160, "goal_summary": 600}
_LISTS = ("use_conditions", "non_use_conditions", "success_conditions")


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
        self._pattern = re.compile("|".join(_bounded(value) for value in known)) if known else None

    def formal(self, text: str) -> str:
        """With ``{name}``, for conditions, file names and lists."""
        return self._replaced(text, placeholder)

    def spoken(self, text: str) -> str:
        """With the name in words, for titles and phrases."""
        return self._replaced(text, in_words)

    def speaks_in(self, text: str) -> bool:
        """Whether the text holds an example."""
        return self._pattern is not None and self._pattern.search(text) is not None

    def unbraced(self, text: str) -> str:
        """With every ``{name}`` in words."""
        for parameter in self._by_value.values():
            text = text.replace(placeholder(parameter), in_words(parameter))
        return text

    def _replaced(self, text: str, form: Callable[[SkillParameter], str]) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: form(self._by_value[match.group(0)]), text)


def parameterised(
    interpretation: SemanticWorkflowInterpretation,
    parameters: Sequence[SkillParameter],
    edits: Mapping[str, object],
) -> SemanticWorkflowInterpretation:
    """The interpretation speaking of the parameters; what a person has edited keeps its words.

    The observed effects stay as they were seen: they are what a rehearsal brings about again.
    """
    if not parameters:
        return interpretation
    wording = ParameterWording(parameters)
    changes: dict[str, object] = {"parameters": tuple(parameters)}
    if "title" not in edits:
        changes["title"] = clipped(wording.spoken(interpretation.title), _LIMITS["title"])
    if "goal_summary" not in edits:
        changes["goal_summary"] = clipped(
            wording.formal(interpretation.goal_summary), _LIMITS["goal_summary"]
        )
    for name in _LISTS:
        if name not in edits:
            texts: tuple[str, ...] = getattr(interpretation, name)
            changes[name] = tuple(clipped(wording.formal(text), 240) for text in texts)
    if "checkpoints" not in edits:
        changes["checkpoints"] = tuple(
            c.model_copy(
                update={
                    "goal": clipped(wording.formal(c.goal), 240),
                    "success_condition": clipped(wording.formal(c.success_condition), 240),
                }
            )
            for c in interpretation.checkpoints
        )
    return interpretation.model_copy(update=changes)


def _bounded(value: str) -> str:
    """A pattern of the value as a piece of its own."""
    low = r"(?<![^\W_])" if value[:1].isalnum() else ""
    high = r"(?![^\W_])" if value[-1:].isalnum() else ""
    whole = f"{low}{re.escape(value)}{high}"
    if len(value) >= SHORT and not (value.isdigit() and len(value) < 4):
        return whole
    if any(c.isalpha() for c in value) and any(c.isdigit() for c in value):
        return whole
    return rf"(?<=[-_/=]){whole}|{whole}(?=[-_/]\w|\.[A-Za-z])"
