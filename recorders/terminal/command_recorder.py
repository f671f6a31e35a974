"""Turns the shell's reports into redacted, spooled events, as long as recording is on."""

from collections.abc import Callable

from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.observation import ObservationAdapterKind
from domain.learning.meaningful import CONTROL_COMMANDS, is_meaningful
from recorders.command_events import CommandScene, FinishedCommand, command_event
from recorders.delivery import Delivery
from recorders.folder_snapshot import FolderSnapshot, produced_between, take_snapshot
from recorders.launches import MOST_LAUNCHES, LaunchWatch, launch_event
from recorders.spool import Spool
from recorders.spooling_recorder import RecordingState, SpoolingRecorder
from recorders.terminal.options import TerminalRecorderOptions
from recorders.terminal.shell_hooks import ShellReport, split_history_entry


class CommandRecorder(SpoolingRecorder):
    """Keeps the meaningful commands of one shell.

    A command counts only if recording was on both when it was entered and when it ended, so what straddles a
    pause is not kept.
    """

    _PAUSED_MESSAGE = "recording is paused; apprentice-resume goes on"

    def __init__(
        self,
        options: TerminalRecorderOptions,
        spool: Spool,
        delivery: Delivery,
        say: Callable[[str], None],
        launches: LaunchWatch | None = None,
    ) -> None:
        super().__init__(spool, delivery, say, spool_place=str(options.spool_folder))
        self._options = options
        self._scene = CommandScene(options.learn_session_id, options.folder, options.redaction_mode)
        self._launches = launches
        self._folder = str(options.folder)
        self._last_number: int | None = None
        self._is_first_prompt = True
        self._was_recording = True
        self._before: FolderSnapshot | None = None
        self.commands = 0
        self.skipped = 0

    def stop(self) -> None:
        """Ends the recording for good; the shell goes on."""
        self._end("it was stopped from outside; exit leaves this shell")

    def resume(self) -> None:
        """Keeps commands again, unless recording has ended."""
        super().resume()
        if self._end_reason is not None:
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
