"""Turns the shell's reports into redacted, spooled events, as long as recording is on."""

from collections.abc import Callable
from enum import StrEnum

from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent
from domain.learning.meaningful import CONTROL_COMMANDS, is_meaningful
from domain.learning.redaction import redact_event
from recorders.command_events import CommandScene, FinishedCommand, command_event
from recorders.delivery import Delivery, DeliveryState
from recorders.folder_snapshot import FolderSnapshot, produced_between, take_snapshot
from recorders.heartbeat import SPOOL_FULL
from recorders.launches import MOST_LAUNCHES, LaunchWatch, launch_event
from recorders.spool import Spool, SpoolFull
from recorders.terminal.options import TerminalRecorderOptions
from recorders.terminal.shell_hooks import ShellReport, split_history_entry


class RecordingState(StrEnum):
    """Whether commands are kept: only while ``recording``."""

    RECORDING = "rec"
    PAUSED = "paused"
    HELD = "held"
    ENDED = "not recording"


class CommandRecorder:
    """Keeps the meaningful commands of one shell; ``say`` tells the person what changed.

    A command counts only if recording was on both when it was entered and when it ended, so what straddles a
    pause is not kept.
    """

    def __init__(
        self,
        options: TerminalRecorderOptions,
        spool: Spool,
        delivery: Delivery,
        say: Callable[[str], None],
        launches: LaunchWatch | None = None,
    ) -> None:
        self._options = options
        self._scene = CommandScene(options.learn_session_id, options.folder, options.redaction_mode)
        self._launches = launches
        self._spool = spool
        self._delivery = delivery
        self._say = say
        self._paused = False
        self._delivery_state = DeliveryState.FLOWING
        self._end_reason: str | None = None
        self._error_code: str | None = None
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

    @property
    def error_code(self) -> str | None:
        """What keeps the recorder from recording, for the registry of adapters."""
        return self._error_code

    def stop(self) -> None:
        """Ends the recording for good; the shell goes on."""
        self._end("it was stopped from outside; exit leaves this shell")

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
        launched = self._launches.take_new()[:MOST_LAUNCHES] if self._launches is not None else ()
        if is_new and self._was_recording and self.state is RecordingState.RECORDING:
            after = take_snapshot(self._options.folder)
            produced = produced_between(before, after) if before is not None else ()
            self._keep(FinishedCommand(line, report.status, folder, produced))
            self._before = after
            for program in launched:
                self._append(launch_event(program, self._scene))
        self._was_recording = self.state is RecordingState.RECORDING

    def _keep(self, command: FinishedCommand) -> None:
        if command.line.strip() in CONTROL_COMMANDS | {"exit", "logout"}:
            return
        self.commands += 1
        kind, surface = ObservationAdapterKind.TERMINAL_COMMAND, ControlSurface.NATIVE_OPENCLAW_TOOL
        event = command_event(command, self._scene, kind, surface)
        if not is_meaningful(event):
            self.skipped += 1
        elif self._append(event):
            self.recorded += 1

    def _append(self, event: ObservedActionEvent) -> bool:
        if self._end_reason is not None:
            return False
        try:
            self._spool.append([redact_event(event)])
        except SpoolFull as error:
            self._error_code = SPOOL_FULL
            self._end(str(error))
            return False
        self._delivery.notify()
        return True

    def _end(self, reason: str) -> None:
        if self._end_reason is None:
            self._end_reason = reason
            self._say(f"recording has ended: {reason}")
