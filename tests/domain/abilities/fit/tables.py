"""Tables of abilities with requests that must find them and near misses that must not."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from contracts.abilities.availability import MAX_METHOD, AbilityAvailabilityEntry
from contracts.base import clipped
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import calls_in
from domain.learning.commands.shell_words import UnreadableCommand
from domain.learning.drafting.method import WrittenPrograms, method_facts
from domain.learning.drafting.triggers import trigger_phrases
from domain.learning.interpretation.naming import slug_from_title, title_from_goal
from domain.learning.method.techniques import techniques_of
from tests.fixtures.abilities import ability

_HERE = Path(__file__).parent

TABLES = {
    name: _HERE / f"{name}.txt" for name in ("requests", "tasks", "methods", "shell", "technical", "wider")
}
"""What the trees of ``domain.abilities.fit.weighing`` are fitted to."""

HELD_OUT = {name: _HERE / f"{name}.txt" for name in ("siblings", "general", "searched", "steps")}
"""What they are not fitted to."""


@dataclass(frozen=True)
class Row:
    """An ability, what must find it, and what must not."""

    entry: AbilityAvailabilityEntry
    finds: Sequence[str]
    misses: Sequence[str]


@dataclass(frozen=True)
class Told:
    """An ability as a table tells it: what it is taught as, what finds it, and what must not."""

    goal: str
    results: str
    commands: tuple[str, ...]
    finds: tuple[str, ...]
    misses: tuple[str, ...]


def groups_of(path: Path) -> list[list[Told]]:
    """The table in a file: ``= goal -> results`` is an ability, ``!`` its command, ``+`` finds it, ``-`` must not.

    Abilities of one paragraph are about the same objects: what finds one must not find the others.
    """
    paragraphs = path.read_text(encoding="utf-8").split("\n\n")
    found = [[_told(one.splitlines()) for one in f"\n{said}".split("\n= ")[1:]] for said in paragraphs]
    return [group for group in found if group]


def goals_of(path: Path) -> list[list[str]]:
    """The goals of the table, by groups."""
    return [[one.goal for one in group] for group in groups_of(path)]


def rows_of(path: Path) -> list[Row]:
    """The same as abilities that are installed, one after the other."""
    return [row for group in groups_of(path) for row in _rows(group)]


def _rows(group: Sequence[Told]) -> Iterator[Row]:
    for told in group:
        others = (said for one in group if one is not told for said in one.finds)
        yield Row(taught(told), told.finds, (*told.misses, *others))


def _told(lines: Sequence[str]) -> Told:
    marked = {
        mark: tuple(line[2:].strip() for line in lines[1:] if line[:2] == mark) for mark in ("! ", "+ ", "- ")
    }
    goal, _, results = lines[0].strip().partition(" -> ")
    return Told(goal.strip(), results, _commands(marked["! "]), marked["+ "], marked["- "])


def _commands(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The commands, one a line; lines that cannot be read by themselves are one command."""
    try:
        for line in lines:
            calls_in(line)
    except UnreadableCommand:
        return ("\n".join(lines),)
    return lines


def taught(told: Told) -> AbilityAvailabilityEntry:
    """The entry as an install writes it: a short title, the phrases that are drafted, and the method if it is shown."""
    goal, commands = told.goal, told.commands
    title = title_from_goal(goal)
    wish = SemanticWorkflowInterpretation.model_construct(title=title, goal_summary=goal, parameters=())
    files = [posixpath.basename(path) for path in told.results.split()]
    shown = [RehearsalCommand(event_id=_ANY, command=one, working_folder=".") for one in commands]
    facts = method_facts(shown, (), WrittenPrograms())
    programs = dict.fromkeys(call.program for one in commands for call in calls_in(one))
    return ability(
        slug_from_title(title),
        title=title,
        trigger_phrases=trigger_phrases(wish, (), files),
        aliases=tuple(f"with {name}" for name in (*files, *programs)) if shown else (),
        method=tuple(clipped(one, 400) for one in (goal, *(f"{f.words} ( {f.typed} )" for f in facts)))[
            :MAX_METHOD
        ],
        techniques=techniques_of(commands),
    )


_ANY = str(UUID(int=1))
