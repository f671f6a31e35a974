"""Tables of abilities with requests that must find them and near misses that must not."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from contracts.abilities.availability import MAX_METHOD, AbilityAvailabilityEntry
from contracts.base import clipped
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import calls_in
from domain.learning.comparison.parameters import ParameterWording
from domain.learning.drafting.method import method_facts
from domain.learning.drafting.triggers import trigger_phrases
from domain.learning.interpretation.naming import slug_from_title, title_from_goal
from tests.fixtures.abilities import ability

TABLES = {name: Path(__file__).with_name(f"{name}.txt") for name in ("requests", "tasks", "methods", "shell")}


@dataclass(frozen=True)
class Row:
    """An ability, what must find it, and what must not."""

    entry: AbilityAvailabilityEntry
    finds: Sequence[str]
    misses: Sequence[str]


def rows_of(path: Path) -> list[Row]:
    """The table in a file: ``= goal -> results`` is an ability, ``!`` its command, ``+`` finds it, ``-`` must not."""
    found: list[Row] = []
    finds: list[str] = []
    misses: list[str] = []
    goal, commands = "", list[str]()

    def closed() -> None:
        if goal:
            found.append(Row(_taught(goal, commands), finds, misses))

    for line in path.read_text(encoding="utf-8").splitlines():
        mark, said = line[:2], line[2:].strip()
        if mark == "= ":
            closed()
            goal, commands, finds, misses = said, [], [], []
        elif mark == "! ":
            commands.append(said)
        elif mark in ("+ ", "- "):
            (finds if mark == "+ " else misses).append(said)
    closed()
    return found


def _taught(goal: str, commands: Sequence[str]) -> AbilityAvailabilityEntry:
    """The entry as an install writes it: a short title, the phrases that are drafted, and the method if it is shown."""
    goal, _, results = goal.partition(" -> ")
    title = title_from_goal(goal)
    wish = SemanticWorkflowInterpretation.model_construct(title=title, goal_summary=goal, parameters=())
    files = [posixpath.basename(path) for path in results.split()]
    taught = [RehearsalCommand(event_id=_ANY, command=one, working_folder=".") for one in commands]
    evidence = LessonEvidence(state_id=_ANY, reproduced=True, made_at=_THEN)
    facts = method_facts(taught, ParameterWording(()), evidence)
    programs = dict.fromkeys(call.program for one in commands for call in calls_in(one))
    return ability(
        slug_from_title(title),
        title=title,
        trigger_phrases=trigger_phrases(wish, (), files),
        aliases=tuple(f"with {name}" for name in (*files, *programs)) if taught else (),
        method=tuple(clipped(one, 400) for one in (goal, *(f"{f.words} ( {f.typed} )" for f in facts)))[
            :MAX_METHOD
        ],
    )


_ANY, _THEN = str(UUID(int=1)), datetime(2026, 11, 1, tzinfo=UTC)
