"""Builds the observation event of a finished command, for the terminal recorder and the wrapper."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import uuid_utils

from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.observation import (
    OUTSIDE_FOLDER,
    ExitClass,
    LessonFolder,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    RedactionMode,
    TerminalObservation,
    WrittenText,
)
from domain.learning.adapters import ADAPTERS
from domain.learning.commands.typed_lines import with_typed_lines
from domain.learning.redaction.redaction import masked_arguments, redact

_LONGEST_RAW = 8_000
LONGEST_COMMAND = 2_000
"""Characters of a command that an event has room for."""

_INTERRUPTED = frozenset({128 + signal for signal in (1, 2, 3, 9, 15, 20)})


@dataclass(frozen=True)
class FinishedCommand:
    """A command line as it was run, nothing redacted yet: never kept, never logged."""

    line: str
    status: int
    folder: str
    produced: tuple[ProducedFile, ...]
    written: tuple[WrittenText, ...] = ()


@dataclass(frozen=True)
class CommandScene:
    """What is the same for all commands of a recording; ``folder`` is the demonstration's.

    Of a lesson with several ``folders`` it is the root that holds them, and ``kept`` are the folders themselves.
    """

    learn_session_id: str
    folder: Path
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    folders: tuple[LessonFolder, ...] = ()
    kept: tuple[Path, ...] = ()


def exit_class(status: int) -> ExitClass:
    """How a command with this exit status ended; 128 + n is the shell's word for "stopped by signal n"."""
    if status == 0:
        return ExitClass.OK
    return ExitClass.INTERRUPTED if status in _INTERRUPTED else ExitClass.FAILED


def repeatable(line: str, typed: Sequence[str]) -> str:
    """The command line with what was typed at the prompt it opens, where the event has room for all of it."""
    fed = with_typed_lines(line, typed)
    return fed if fed is not None and len(fed) <= LONGEST_COMMAND else line


def line_of(arguments: Sequence[str]) -> str:
    """The command line that runs a program with these arguments, their secrets masked already."""
    words: list[str] = []
    length = 0
    # What is no UTF-8 cannot cross the wire as it is.
    readable = [os.fsencode(word).decode("utf-8", errors="replace") for word in arguments]
    for argument in masked_arguments(readable):
        words.append(argument.text if argument.is_masked else shlex.quote(argument.text))
        length += len(words[-1])
        if length > _LONGEST_RAW:
            break
    return " ".join(words)


def command_event(
    command: FinishedCommand,
    scene: CommandScene,
    kind: ObservationAdapterKind,
    surface: ControlSurface,
    label: str | None = None,
) -> ObservedActionEvent:
    """The event of a command, by the rules for text redacted; the mode is applied on top by ``redact_event``.

    ``label`` is what the person calls it; without one it is the command line.
    """
    line = command.line
    if len(line) > _LONGEST_RAW:
        # Cut between words: half a secret no longer looks like one.
        line = line[:_LONGEST_RAW].rsplit(None, 1)[0]
    masked = redact(line).text
    readable = os.fsencode(label).decode("utf-8", errors="replace") if label else ""
    named = redact(readable).text or masked
    return ObservedActionEvent(
        event_id=str(uuid_utils.uuid7()),
        learn_session_id=scene.learn_session_id,
        adapter_kind=kind,
        app_family=ADAPTERS[kind].application,
        action_label=clipped(" ".join(named.split("\n")), 240),
        control_surface=surface,
        caused_state_change=bool(command.produced),
        redaction_mode=scene.redaction_mode,
        terminal=TerminalObservation(
            command=clipped(masked, LONGEST_COMMAND),
            exit_class=exit_class(command.status),
            working_folder=_working_folder(command.folder, scene),
            produced_files=command.produced,
            written=command.written,
            folders=scene.folders,
        ),
        created_at=datetime.now(UTC),
    )


def _working_folder(folder: str, scene: CommandScene) -> str:
    """``folder`` relative to the demonstration's folder, links resolved; '.' is the folder itself."""
    here = os.path.realpath(folder)
    if not any(Path(here).is_relative_to(os.path.realpath(one)) for one in scene.kept or (scene.folder,)):
        return OUTSIDE_FOLDER
    relative = os.path.relpath(here, os.path.realpath(scene.folder))
    return clipped(os.fsencode(relative).decode("utf-8", errors="replace"), 400)
