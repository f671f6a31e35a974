"""Turns the shell's reports into redacted, spooled events, as long as recording is on."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import uuid_utils

from contracts.base import clipped
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from domain.learning.meaningful import CONTROL_COMMANDS, is_meaningful
from domain.learning.redaction import redact, redact_event
from recorders.delivery import Delivery, DeliveryState
from recorders.spool import Spool, SpoolFull
from recorders.terminal.folder_snapshot import FolderSnapshot, produced_between, take_snapshot
from recorders.terminal.options import TerminalRecorderOptions
from recorders.terminal.shell_hooks import ShellReport, split_history_entry

OUTSIDE = "(outside)"
"""The working folder of a command that ran outside the demonstration's folder."""

_LONGEST_RAW = 8_000
_INTERRUPTED = frozenset({128 + signal for signal in (1, 2, 3, 9, 15, 20)})


class RecordingState(StrEnum):
    """Whether commands are kept: only while ``recording``."""

    RECORDING = "rec"
    PAUSED = "paused"
    HELD = "held"
    ENDED = "not recording"


@dataclass(frozen=True)
class FinishedCommand:
    """A command line as the shell reports it, nothing redacted yet: never kept, never logged."""

    line: str
    status: int
    folder: str
    produced: tuple[ProducedFile, ...]


def exit_class(status: int) -> ExitClass:
    """How a command with this exit status ended; 128 + n is the shell's word for "stopped by signal n"."""
    if status == 0:
        return ExitClass.OK
    return ExitClass.INTERRUPTED if status in _INTERRUPTED else ExitClass.FAILED


def event_of(command: FinishedCommand, options: TerminalRecorderOptions) -> ObservedActionEvent:
    """The event of a command, by the rules for text redacted; the mode is applied on top by ``redact_event``."""
    line = command.line
    if len(line) > _LONGEST_RAW:
        # Cut between words: half a secret no longer looks like one.
        line = line[:_LONGEST_RAW].rsplit(None, 1)[0]
    masked = redact(line).text
    return ObservedActionEvent(
        event_id=str(uuid_utils.uuid7()),
        learn_session_id=options.learn_session_id,
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        app_family="terminal",
        action_label=clipped(masked.replace("\n", " "), 240),
        control_surface=ControlSurface.NATIVE_OPENCLAW_TOOL,
        caused_state_change=bool(command.produced),
        redaction_mode=options.redaction_mode,
        terminal=TerminalObservation(
            command=clipped(masked, 2000),
            exit_class=exit_class(command.status),
            working_folder=_working_folder(command.folder, options.folder),
            produced_files=command.produced,
        ),
        created_at=datetime.now(UTC),
    )


class CommandRecorder:
    """Keeps the meaningful commands of one shell; ``say`` tells the person what changed.

    A command counts only if recording was on both when it was entered and when it ended, so what straddles a
    pause is not kept.
    """

    def __init__(
        self, options: TerminalRecorderOptions, spool: Spool, delivery: Delivery, say: Callable[[str], None]
    ) -> None:
        self._options = options
        self._spool = spool
        self._delivery = delivery
        self._say = say
        self._paused = False
        self._delivery_state = DeliveryState.FLOWING
        self._end_reason: str | None = None
        self._folder = str(options.folder)
        self._last_number: int | None = None
        self._is_first_prompt = True
        self._was_recording = True
        self._before: FolderSnapshot | None = None
        self.commands = 0
        self.recorded = 0
        self.skipped = 0

    @property
    def state(self) -> RecordingState:
        """What happens to the next command."""
        if self._end_reason is not None:
            return RecordingState.ENDED
        if self._paused:
            return RecordingState.PAUSED
        is_held = self._delivery_state is DeliveryState.HELD
        return RecordingState.HELD if is_held else RecordingState.RECORDING

    @property
    def end_reason(self) -> str | None:
        """Why recording ended before the shell did, if it did."""
        return self._end_reason

    def pause(self) -> None:
        """Stops keeping commands until ``resume``."""
        if self.state is RecordingState.RECORDING:
            self._say("recording is paused; apprentice-resume goes on")
        self._paused = True

    def resume(self) -> None:
        """Keeps commands again, unless recording has ended."""
        self._paused = False
        if self.state is RecordingState.RECORDING:
            self._say("recording goes on")
        elif self._end_reason is not None:
            self._say(f"recording has ended: {self._end_reason}")

    def handle(self, report: ShellReport) -> str:
        """Takes in one report of the shell; the answer is the mark for its prompt."""
        match report.kind:
            case "before":
                self._look_before()
            case "done" | "exit":
                self._finish(report)
            case "pause":
                self.pause()
            case "resume":
                self.resume()
            case _:
                pass
        return f"[{self.state.value}]"

    def watch_delivery(self) -> None:
        """Follows delivery: says when it falls behind or is held, and ends recording when it is refused."""
        report = self._delivery.report()
        if report.state is self._delivery_state:
            return
        self._delivery_state = report.state
        match report.state:
            case DeliveryState.STOPPED:
                self._end(f"{report.reason}; what is undelivered stays in {self._options.spool_folder}")
            case DeliveryState.HELD:
                self._say("the session is paused: nothing is recorded until it goes on")
            case DeliveryState.BEHIND:
                self._say(f"delivery is behind: {report.pending} events wait ({report.reason or 'slow'})")
            case DeliveryState.FLOWING:
                self._say("delivery goes on")

    def _look_before(self) -> None:
        self._was_recording = self.state is RecordingState.RECORDING
        self._before = take_snapshot(self._options.folder) if self._was_recording else None

    def _finish(self, report: ShellReport) -> None:
        self.watch_delivery()
        number, line = split_history_entry(report.entry)
        folder, self._folder = self._folder, report.folder
        is_new = number is not None and number != self._last_number and not self._is_first_prompt
        self._last_number = number
        self._is_first_prompt = False
        before = self._before
        if is_new and self._was_recording and self.state is RecordingState.RECORDING:
            after = take_snapshot(self._options.folder)
            produced = produced_between(before, after) if before is not None else ()
            self._keep(FinishedCommand(line, report.status, folder, produced))
            self._before = after
        self._was_recording = self.state is RecordingState.RECORDING

    def _keep(self, command: FinishedCommand) -> None:
        if command.line.strip() in CONTROL_COMMANDS | {"exit", "logout"}:
            return
        self.commands += 1
        event = event_of(command, self._options)
        if not is_meaningful(event):
            self.skipped += 1
            return
        try:
            self._spool.append([redact_event(event)])
        except SpoolFull as error:
            self._end(str(error))
            return
        self.recorded += 1
        self._delivery.notify()

    def _end(self, reason: str) -> None:
        if self._end_reason is None:
            self._end_reason = reason
            self._say(f"recording has ended: {reason}")


def _working_folder(folder: str, demonstration: Path) -> str:
    """``folder`` relative to the demonstration's folder, links resolved; '.' is the folder itself."""
    relative = os.path.relpath(os.path.realpath(folder), os.path.realpath(demonstration))
    if relative == os.pardir or relative.startswith(os.pardir + os.sep):
        return OUTSIDE
    return clipped(os.fsencode(relative).decode("utf-8", errors="replace"), 400)
