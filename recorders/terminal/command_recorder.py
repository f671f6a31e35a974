"""Keeps the meaningful commands of one recorded shell, and what each did in the lesson's folders."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.abilities.control_surface import ControlSurface
from contracts.backoff import Backoff
from contracts.learning.observation import (
    OUTSIDE_FOLDER,
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    RedactionMode,
)
from domain.learning.commands.typed_lines import without_typed_lines
from domain.learning.interpretation.meaningful import CONTROL_COMMANDS, is_meaningful, only_shows
from domain.learning.interpretation.naming import listed
from host.folder_snapshot import FileMark, FolderSnapshot, produced_between
from recorders.command_events import CommandScene, FinishedCommand, command_event, exit_class, repeatable
from recorders.delivery import DELIVERY_BACKOFF, Delivery, IngestTarget
from recorders.launches import MOST_LAUNCHES, LaunchWatch, launch_event
from recorders.lesson_folders import Candidate, LessonFolders, merged_snapshot
from recorders.spool import DEFAULT_MAX_BYTES, Spool
from recorders.spooling_recorder import RecordingState, SpoolingRecorder
from recorders.starting_state import InputOptions, lesson_folder
from recorders.state_delivery import RecordedStart
from recorders.terminal.inner_changes import States, states_around, with_inner_changes
from recorders.terminal.shell_hooks import ShellReport, split_history_entry
from recorders.terminal.typed_keys import TypedKeys
from recorders.terminal.written_texts import WrittenTexts


@dataclass(frozen=True)
class TerminalRecorderOptions:
    """One recording of one session.

    ``folder`` is where the shell starts, and the demonstration's folder: files made in it are named relative to it.
    Who goes to another folder before the first command that is kept makes that one the demonstration's. With a
    ``presence_folder`` the recorder can be found and steered from outside, see ``recorders.running``;
    ``with_launches`` also reports programs that a command leaves running. ``flush_timeout_s`` bounds the wait for
    delivery at the end, ``command_timeout_s`` one scripted command. Without ``inputs`` nothing is kept of what the
    folder holds before the first command; without ``typed_lines`` nothing of what is typed at the prompts of programs.
    """

    learn_session_id: str
    target: IngestTarget
    spool_folder: Path
    folder: Path = field(default_factory=Path.cwd)
    presence_folder: Path | None = None
    with_launches: bool = True
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    flush_timeout_s: float = 10.0
    command_timeout_s: float = 120.0
    max_spool_bytes: int = DEFAULT_MAX_BYTES
    backoff: Backoff = DELIVERY_BACKOFF
    inputs: InputOptions | None = field(default_factory=InputOptions)
    typed_lines: bool = True


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
        starting: RecordedStart,
        launches: LaunchWatch | None = None,
    ) -> None:
        super().__init__(spool, delivery, say, spool_place=str(options.spool_folder))
        self._options = options
        self._scene = CommandScene(options.learn_session_id, options.folder, options.redaction_mode)
        self._launches = launches
        self._starting = starting
        self._folders = self._begun_in(options.folder)
        self._met: tuple[Candidate, ...] = ()
        self._texts = WrittenTexts(options.folder, starting.taken)
        self.keys = TypedKeys()
        self._folder = str(options.folder)
        self._last_number: int | None = None
        self._is_first_prompt = True
        self._was_recording = True
        self._before: dict[Path, FolderSnapshot] | None = None
        self._states: States = {}
        self._warned = False
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
                self.keys.begin()
                self._look_before(report)
            case "done" | "exit":
                self._finish(report)
            case "pause":
                self.pause()
            case "resume":
                self.resume()
            case _:
                pass
        return f"[{self.state.value}]"

    def _look_before(self, report: ShellReport) -> None:
        self._was_recording = self.state is RecordingState.RECORDING
        known, self._before, self._met = self._met, None, ()
        self._states = {}
        if not self._was_recording:
            return
        if self.recorded == 0:
            self._begin_in(lesson_folder(self._options.folder, Path(self._folder).resolve()))
        number, line = split_history_entry(report.entry)
        if number is not None and number != self._last_number and not only_shows(line):
            self._met = self._folders.candidates(Path(self._folder), line, known)
        else:
            self._met = known
        looked_at = (*self._folders.paths, *(one.folder for one in self._met))
        self._before = {folder: self._folders.looked_at(folder) for folder in looked_at}
        self._states = self._states_around(line)

    def _states_around(self, line: str) -> States:
        """What holds inside of the lesson's files, where its starting state is kept: not of a home folder."""
        return states_around(line, self._folders.paths) if self._folders.taken is not None else {}

    def _begin_in(self, folder: Path) -> None:
        """Makes ``folder`` the demonstration's, as it is before the command that may be the first to be kept."""
        if folder != self._scene.folder:
            self._scene = replace(self._scene, folder=folder)
            self._starting.take(folder)
            self._texts = WrittenTexts(folder, self._starting.taken)
            self._folders = self._begun_in(folder)

    def _begun_in(self, folder: Path) -> LessonFolders:
        starting = self._starting
        return LessonFolders(folder, starting.taken, self._options.learn_session_id, starting.options)

    def _finish(self, report: ShellReport) -> None:
        self.watch_delivery()
        number, line = split_history_entry(report.entry)
        folder, self._folder = self._folder, report.folder
        is_new = number is not None and number != self._last_number and not self._is_first_prompt
        self._last_number = number
        self._is_first_prompt = False
        typed = self.keys.take(line)
        launched = self._launches.take_new()[:MOST_LAUNCHES] if self._launches is not None else ()
        if is_new and self._was_recording and self.state is RecordingState.RECORDING:
            self._take_in(line, typed, report.status, folder)
            for program in launched:
                self._append(launch_event(program, self._scene))
        self._was_recording = self.state is RecordingState.RECORDING

    def _take_in(self, line: str, typed: Sequence[str] | None, status: int, folder: str) -> None:
        """Keeps a command that has ended, with what it did in the lesson's folders and in those that it adds."""
        before, folders = self._before, self._folders.with_candidates(self._met)
        now = {path: folders.looked_at(path) for path in folders.paths}
        produced, earlier, after = _changes(folders, before, now)
        command = FinishedCommand(line, status, folder, produced)
        if folders is not self._folders:
            if is_meaningful(self._event(command, self._scene_of(folders))):
                self._extend(folders)
            else:
                produced, earlier, after = _changes(self._folders, before, now)
        written = self._texts.take(line, produced, earlier, after)
        if self._options.typed_lines and typed and exit_class(status) is not ExitClass.INTERRUPTED:
            line = repeatable(line, typed)
        if produced and self._states:
            produced = with_inner_changes(produced, folders.root, self._states, self._states_around(line))
        self._keep(FinishedCommand(line, status, folder, produced, written))
        self._before = {path: now[path] for path in self._folders.paths}

    def _extend(self, folders: LessonFolders) -> None:
        """Makes further folders the lesson's, and says so."""
        assert folders.taken is not None
        new = folders.paths[len(self._folders.paths) :]
        prefix = os.path.relpath(self._folders.root, folders.root)
        self._texts = self._texts.moved(folders.root, prefix, folders.taken)
        self._folders, self._scene = folders, self._scene_of(folders)
        self._starting.extend(folders.taken)
        for one in self._met:
            if one.folder in new:
                kept = one.taken.text() if one.taken is not None else "it was made in the lesson"
                self._say(f"{one.folder} is a folder of the lesson too: {kept}")

    def _scene_of(self, folders: LessonFolders) -> CommandScene:
        return replace(self._scene, folder=folders.root, folders=folders.described, kept=folders.paths)

    @staticmethod
    def _event(command: FinishedCommand, scene: CommandScene) -> ObservedActionEvent:
        kind, surface = ObservationAdapterKind.TERMINAL_COMMAND, ControlSurface.NATIVE_OPENCLAW_TOOL
        shown = without_typed_lines(command.line)
        return command_event(command, scene, kind, surface, shown if shown != command.line else None)

    def _keep(self, command: FinishedCommand) -> None:
        if command.line.strip() in CONTROL_COMMANDS | {"exit", "logout"}:
            return
        self.commands += 1
        event = self._event(command, self._scene)
        if not is_meaningful(event) or self._only_looked_elsewhere(event):
            self.skipped += 1
        elif self._append(event):
            self.recorded += 1
            moved = self._folders.first != self._options.folder and not self._folders.described
            if self.recorded == 1 and moved:
                self._starting.keep()
                kept = f": {self._starting.text}" if self._starting.text else ""
                self._say(f"the lesson's folder is {self._folders.first}{kept}")
            self._warn_of_elsewhere(event)

    def _only_looked_elsewhere(self, event: ObservedActionEvent) -> bool:
        """Whether the command only showed something of a folder that could be the lesson's, and is none."""
        seen = event.terminal
        outside = seen is not None and seen.working_folder == OUTSIDE_FOLDER and not seen.produced_files
        return outside and self._starting.taken is not None and only_shows(seen.command if seen else "")

    def _warn_of_elsewhere(self, event: ObservedActionEvent) -> None:
        outside = event.terminal is not None and event.terminal.working_folder == OUTSIDE_FOLDER
        if outside and not self._warned:
            self._warned = True
            paths = [str(path) for path in self._folders.paths]
            several = "s" if len(paths) > 1 else ""
            self._say(
                f"this is outside the lesson's folder{several} {listed(paths)}: what is done here is kept, but"
                " cannot be tried out; for a lesson of this folder, begin another recording in it"
            )


def _changes(
    folders: LessonFolders, before: Mapping[Path, FolderSnapshot] | None, now: Mapping[Path, FolderSnapshot]
) -> tuple[tuple[ProducedFile, ...], Mapping[str, FileMark], Mapping[str, FileMark]]:
    """What changed in the folders, and their files before and after, by their path below the root of all."""
    after = merged_snapshot(folders.root, {path: now[path] for path in folders.paths})
    if before is None or not all(path in before for path in folders.paths):
        return (), {}, after.files
    then = merged_snapshot(folders.root, {path: before[path] for path in folders.paths})
    return produced_between(then, after), then.files, after.files
