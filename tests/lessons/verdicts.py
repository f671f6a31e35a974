"""Judges what became of a lesson: one verdict for each thing that was expected of it, each with its reason.

Pure functions from the lesson and what the product answered; ``harness`` asks the product.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tests.lessons.lesson import Lesson


class Aspect(StrEnum):
    """What is judged of a lesson. It passes when all of them do."""

    INSTALLED = "installed"
    FACTS = "facts"
    ABSENT = "absent"
    PARAMETERS = "parameters"
    FINDS = "finds"
    NEAR_MISSES = "near misses"
    TRIAL = "try"


@dataclass(frozen=True)
class Verdict:
    """Whether one expectation was met; ``reason`` says what is missing where it was not."""

    passed: bool
    reason: str = ""


@dataclass(frozen=True)
class FitAnswer:
    """Whether the lesson's ability is among those that the lookup says fit a request, with all lessons installed."""

    request: str
    fit: str
    place: int | None = None
    """Its place among those that fit or may fit, best first, from 1; none where it does not fit."""

    why: str = ""
    """The product's own reason."""

    @property
    def explained(self) -> str:
        """The request with the reason, for a verdict."""
        return f"“{self.request}” ({self.why})" if self.why else f"“{self.request}”"

    @property
    def found(self) -> bool:
        """Whether it is listed: it fits, or may fit."""
        return self.place is not None


@dataclass(frozen=True)
class Outcome:
    """One lesson after it was taught, and the verdicts on it."""

    lesson: Lesson
    verdicts: Mapping[Aspect, Verdict]
    fits: Sequence[FitAnswer] = ()
    seconds: float = 0.0
    timings: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return all(self.verdicts[aspect].passed for aspect in Aspect)

    @property
    def failed_aspects(self) -> tuple[Aspect, ...]:
        """What was not met, in order."""
        return tuple(aspect for aspect in Aspect if not self.verdicts[aspect].passed)


def failed(reason: str) -> Verdict:
    """A verdict that says what is missing."""
    return Verdict(False, " ".join(reason.split()))


def missing(kind: str, lacking: Sequence[str]) -> Verdict:
    """Passes when nothing is lacking, and names all of it otherwise."""
    return failed(f"{kind}: {'; '.join(lacking)}") if lacking else Verdict(True)


def judge_facts(lesson: Lesson, files: Mapping[str, str], shown: Mapping[str, str]) -> Verdict:
    """Each fact stands in SKILL.md or under scripts/ in one of its wordings, without regard to case and spacing.

    Where a wording holds the demonstrated value of a parameter, the parameter's mark stands for the value. What
    Markdown needs a backslash for is read without it.
    """
    texts = [text for path, text in files.items() if path == "SKILL.md" or path.startswith("scripts/")]
    texts += [re.sub(r"\\([^\w\s])", r"\1", files.get("SKILL.md", ""))]
    flat = _flat("\n".join([*texts, *(with_shown_values(text, shown) for text in texts)]))
    lacking = [
        f"`{wordings[0]}`" for wordings in lesson.facts if not any(_flat(one) in flat for one in wordings)
    ]
    return missing("lost", lacking)


def judge_absent(lesson: Lesson, skill: str) -> Verdict:
    """Nothing of the noise stands in SKILL.md."""
    text = " ".join(skill.split())
    return missing("still there", [f"`{one}`" for one in lesson.absent if " ".join(one.split()) in text])


def judge_parameters(lesson: Lesson, shown: Iterable[str]) -> Verdict:
    """Every value that a person would change next time is offered as a parameter."""
    offered = set(shown)
    return missing("not offered", [f"`{one}`" for one in lesson.parameters if one not in offered])


def judge_finds(answers: Sequence[FitAnswer]) -> Verdict:
    """Each request in other words finds the ability."""
    return missing("not found", [one.explained for one in answers if not one.found])


def judge_near_misses(answers: Sequence[FitAnswer]) -> Verdict:
    """No request for something else finds the ability."""
    return missing("found", [one.explained for one in answers if one.found])


def with_shown_values(text: str, shown: Mapping[str, str]) -> str:
    """The text with the demonstrated value for each parameter's mark."""
    return re.sub(r"\{(\w+)\}", lambda mark: shown.get(mark[1], mark[0]), text)


def _flat(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()
