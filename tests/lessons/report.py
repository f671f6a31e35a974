"""The table of the lessons: a verdict in each cell, totals, how well requests are told apart, seconds a lesson."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from tests.lessons.lesson import Lesson
from tests.lessons.verdicts import Aspect, Outcome


def totals(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Figures over all lessons. ``found`` and ``refused`` are shares of the requests that were made."""
    finds = [answer for one in outcomes for answer in one.fits if answer.request in one.lesson.finds]
    near = [answer for one in outcomes for answer in one.fits if answer.request in one.lesson.near_misses]
    found, wrong = sum(answer.found for answer in finds), sum(answer.found for answer in near)
    return {
        "lessons": len(outcomes),
        "passed": sum(one.passed for one in outcomes),
        "by_aspect": {
            aspect.value: sum(one.verdicts[aspect].passed for one in outcomes) for aspect in Aspect
        },
        "fit": {
            "requests": len(finds),
            "found": _share(found, len(finds)),
            "near_misses": len(near),
            "refused": _share(len(near) - wrong, len(near)),
            "precision": _share(found, found + wrong),
            "recall": _share(found, len(finds)),
            "found_first": _share(sum(answer.place == 1 for answer in finds), len(finds)),
        },
        "seconds_a_lesson": round(sum(one.seconds for one in outcomes) / max(1, len(outcomes)), 1),
    }


def table_of(outcomes: Sequence[Outcome]) -> Table:
    """One row a lesson, for people."""
    table = Table("lesson", *(aspect.value for aspect in Aspect), "seconds", title="Lessons")
    for one in outcomes:
        cells = ["yes" if one.verdicts[aspect].passed else "NO" for aspect in Aspect]
        table.add_row(one.lesson.name, *cells, f"{one.seconds:.1f}")
    counts = totals(outcomes)["by_aspect"]
    table.add_section()
    table.add_row("passed", *(str(counts[aspect.value]) for aspect in Aspect), "")
    return table


def reasons_of(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each expectation that was not met."""
    return [
        f"{one.lesson.name}: {aspect.value}: {one.verdicts[aspect].reason}"
        for one in outcomes
        for aspect in one.failed_aspects
    ]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def written(lessons: Sequence[Lesson], known: Mapping[str, Mapping[Aspect, str]]) -> str:
    """The end of ``docs/lessons.md``: which expectations each lesson meets, and every failure explained."""
    lines = [f"| lesson | {' | '.join(Aspect)} |", f"|---|{'---|' * len(Aspect)}"]
    for lesson in lessons:
        failing = known.get(lesson.name, {})
        cells = ("no" if aspect in failing else "yes" for aspect in Aspect)
        lines.append(f"| {lesson.name} | {' | '.join(cells)} |")
    counts = (str(sum(aspect not in known.get(one.name, {}) for one in lessons)) for aspect in Aspect)
    lines.append(f"| {len(lessons) - len(known)} of {len(lessons)} meet all | {' | '.join(counts)} |")
    lines += ["", "## Every failure explained", ""]
    for lesson in lessons:
        if failing := known.get(lesson.name, {}):
            lines.append(f"- **{lesson.name}**")
            lines += [f"  - {aspect.value}: {reason}" for aspect, reason in failing.items()]
    return "\n".join(lines) + "\n"
