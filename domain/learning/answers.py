"""Reading a person's answers to the clarification questions (DOC3 §0C.10A, rows G0-13)."""

import re
from collections.abc import Iterable

from contracts.base import clipped
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.interpretation import ProjectScope
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.naming import plain

_CONSENT = re.compile(
    r"(?:yes|y|yep|ok(?:ay)?|correct|right|exactly|agreed|sure|that(?:'s| is) (?:right|correct|fine)|"
    r"(?:sounds|looks) good|keep (?:it|that)|as suggested)(?:[, ]+please)?[.!]*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LOCAL = re.compile(r"(?i)\b(?:project|this (?:one|repo\w*|folder|matter|client)|only here|specific)\b")
_GLOBAL = re.compile(
    r"(?i)\b(?:global|general\w*|every(?:where| project)?|any(?:where| project)?|all(?: projects)?|reusable|"
    r"not (?:project.?specific|specific))\b"
)
_NONE = re.compile(r"(?i)(?:no(?:ne|thing|pe)?|never|n/?a|not? exceptions?)[.!]*")


def answers_by_field(
    answers: Iterable[tuple[LearningQuestion, LearningAnswer]],
) -> dict[QuestionField, str]:
    """The last answer to each field. Consent ("yes, that's right") stands for the question's suggestion."""
    found: dict[QuestionField, str] = {}
    for question, answer in answers:
        text = answer.answer.strip()
        if _CONSENT.fullmatch(text):
            text = question.suggestion or ""
        if text:
            found[question.field] = text
    return found


def conditions_in(answer: str) -> tuple[str, ...]:
    """The conditions of an answer: its lines, or what semicolons part; at most 20, 240 characters each.

    "none" is an answer: there are no conditions.
    """
    if _NONE.fullmatch(answer.strip()):
        return ()
    parts = (plain(_BULLET.sub("", part)).rstrip(" .") for part in re.split(r"[\n;]+", answer))
    return tuple(dict.fromkeys(clipped(p, 240) for p in parts if p))[:20]


def scope_in(answer: str) -> ProjectScope:
    """Whether an answer means this project only, or all; what says neither stays unclear."""
    text = answer.strip().lower()
    if text in list(ProjectScope):
        return ProjectScope(text)
    if _GLOBAL.search(text):
        return ProjectScope.GLOBAL
    return ProjectScope.PROJECT_SCOPED if _LOCAL.search(text) else ProjectScope.UNCLEAR


def surfaces_in(answer: str) -> tuple[str, ...]:
    """The control surfaces an answer names, in its order."""
    text = re.sub(r"[\s-]+", "_", answer.lower())
    found = sorted((text.find(s.value), s.value) for s in ControlSurface if s.value in text)
    return tuple(name for _, name in found)
