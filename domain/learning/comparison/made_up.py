"""Inputs that were made up for a lesson: files of literal data that a command writes and later commands work on.

Shown so, the data belongs to the method. A person is asked whether such a file is there already next time.
"""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contracts.learning.evidence import CommandUse, LessonEvidence
from contracts.learning.observation import ObservedActionEvent, TerminalObservation
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.questions import QuestionField
from domain.learning.commands.command_line import parts_of, scripts_run
from domain.learning.commands.shell_grammar import (
    ControlWords,
    SimpleCommand,
    UnreadableCommand,
    control_words,
    split_commands,
)
from domain.learning.comparison.single_demonstration import CODE_FILES
from domain.learning.interpretation.hand_edits import replayed_line
from domain.learning.interpretation.slicing import parent_folders

MOST_ASKED = 2
"""The most such files that are asked about."""

_WRITERS = frozenset({"printf", "echo", "cat"})


@dataclass(frozen=True)
class MadeUpInput:
    """A file that was there for the work, by the commands that made it."""

    about: str
    """Its path."""
    event_ids: tuple[str, ...]
    field = QuestionField.INPUT

    @property
    def prompt(self) -> str:
        """What a person is asked."""
        return f"Is {self.about} there already next time, or is it made by the work, as it was shown?"

    @property
    def suggestion(self) -> str:
        """What holds where nobody answers: what was shown."""
        return "It is made by the work"


def made_up_inputs(
    events: Sequence[ObservedActionEvent], evidence: LessonEvidence
) -> tuple[MadeUpInput, ...]:
    """The files that ``events``, which are kept, make of literal data alone before other commands read them.

    None that is run as a program, and none in a folder that the work makes.
    """
    uses = {use.event_id: use for use in evidence.uses}
    shown = [(event, event.terminal, uses[event.event_id]) for event in events if event.event_id in uses]
    terminals = [terminal for _, terminal, _ in shown if terminal is not None]
    made: dict[str, list[str]] = {}
    read: set[str] = set()
    for event, terminal, use in shown:
        read |= made.keys() & set(use.read)
        path = _literal_file(terminal, use) if terminal is not None else None
        for other in set(use.written) - {path} - read:
            made.pop(other, None)
        if path is not None and path not in read and (path in made or _creates(terminal, path)):
            made.setdefault(path, []).append(event.event_id)
    excluded = _programs(terminals) | {script.path for script in evidence.scripts}
    folders = made_folders(terminals)
    found = (
        MadeUpInput(path, tuple(ids))
        for path, ids in made.items()
        if path in read - excluded
        and not CODE_FILES.search(path)
        and folders.isdisjoint(parent_folders(path))
    )
    return tuple(found)[:MOST_ASKED]


def writes_literal_data(line: str) -> bool:
    """Whether all that a command line does is to write text into a file that stands in the line itself."""
    try:
        simple = split_commands(line)
        if control_words(line) != ControlWords():
            return False
    except UnreadableCommand:
        return False
    return any(r.writes for one in simple for r in one.redirections) and all(map(_is_literal, simple))


def _literal_file(terminal: TerminalObservation, use: CommandUse) -> str | None:
    """The one file that the command writes, where that is of literal data alone."""
    line = replayed_line(terminal)
    is_literal = line is not None and len(use.written) == 1 and writes_literal_data(line)
    return use.written[0] if is_literal else None


def _creates(terminal: TerminalObservation | None, path: str) -> bool:
    files = terminal.produced_files if terminal is not None else ()
    return any(file.path == path and file.change == "created" for file in files)


def _is_literal(simple: SimpleCommand) -> bool:
    """Whether the command prints words of its own, without anything that the shell or a clock puts in."""
    program, *words = simple.words or ("",)
    if program not in _WRITERS or simple.is_expanded:
        return False
    if program == "printf" and any("%(" in word for word in words[:1]):
        return False
    if any(r.operator.endswith("<") and not r.operator.startswith("<<") for r in simple.redirections):
        return False
    is_given = simple.here_text is not None or simple.fed_by_pipe
    return program != "cat" or (is_given and all(word == "-" for word in words))


def _programs(terminals: Iterable[TerminalObservation]) -> set[str]:
    return {path for one in terminals for path in scripts_run(one.command, one.working_folder)}


def made_folders(terminals: Iterable[TerminalObservation | RehearsalCommand]) -> set[str]:
    """The folders that the commands make by their names, with those that they lie in."""
    named = {
        posixpath.normpath(posixpath.join(one.working_folder, operand))
        for one in terminals
        for part in parts_of(one.command)
        if part.program == "mkdir" or (part.program == "install" and "-d" in part.arguments)
        for operand in part.operands
    }
    return named | {folder for one in named for folder in parent_folders(one)}
