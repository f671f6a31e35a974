"""One wrapped command (``record wrap``): options, execution, its receipt, delivery and summary."""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.abilities.control_surface import ControlSurface
from contracts.backoff import Backoff
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.redaction.redaction import redact_event
from host.folder_snapshot import FolderSnapshot, produced_between, take_snapshot
from recorders.command_events import CommandScene, FinishedCommand, command_event, line_of
from recorders.delivery import DELIVERY_BACKOFF, Delivery, DeliveryReport, DeliveryState, IngestTarget
from recorders.launches import MOST_LAUNCHES, LaunchedProgram, LaunchWatch, adopting, launch_event
from recorders.running import SPOOL_FULL, Presence, Steering, report_health
from recorders.spool import DEFAULT_MAX_BYTES, Spool, SpoolFull
from recorders.starting_state import InputOptions, LeftFolder
from recorders.state_delivery import RecordedStart, StateReport, starting_text
from recorders.wrapper.child import run_child


@dataclass(frozen=True)
class WrapperOptions:
    """One command of one session.

    ``folder`` is the demonstration's folder: files made in it are named relative to it. ``label`` is what the
    person calls the step. Of a ``session_paused`` nothing is recorded, and the command runs all the same. With a
    ``presence_folder`` the recorder can be found and steered from outside, see ``recorders.running``;
    ``with_launches`` also reports programs that the command leaves running. ``flush_timeout_s`` bounds the wait
    for delivery at the end. Without ``inputs`` nothing is kept of what the folder holds before the command; with a
    ``presence_folder`` it is kept for the first of several commands only, as long as nothing else changes the folder.
    """

    learn_session_id: str
    target: IngestTarget
    spool_folder: Path
    folder: Path = field(default_factory=Path.cwd)
    label: str | None = None
    session_paused: bool = False
    presence_folder: Path | None = None
    with_launches: bool = True
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    flush_timeout_s: float = 5.0
    max_spool_bytes: int = DEFAULT_MAX_BYTES
    backoff: Backoff = DELIVERY_BACKOFF
    inputs: InputOptions | None = field(default_factory=InputOptions)


@dataclass(frozen=True)
class WrapperSummary:
    """How a wrapped command ended: its exit code as a shell gives it, and what became of its receipt.

    ``recorded`` counts events: the receipt, and one for each program left running. ``not_recorded`` says why
    there is no receipt.
    """

    exit_code: int
    recorded: int
    delivery: DeliveryReport
    not_recorded: str | None
    spool_folder: Path
    starting: StateReport = field(default_factory=StateReport)

    def text(self) -> str:
        """One line for the person who ran it."""
        if self.not_recorded is not None:
            return f"no receipt: {self.not_recorded}"
        said = f"{self.recorded} recorded, {self.delivery.text(self.spool_folder)}"
        said += starting_text(self.starting, self.spool_folder)
        return f"{said} ({self.delivery.reason})" if self.delivery.reason else said


_KIND = ObservationAdapterKind.WRAPPER_RECEIPT
SESSION_PAUSED = "the session is paused"
"""Why a command was not recorded."""

_RECORDING, _PAUSED, _STOPPED = "rec", "paused", "not recording"


def wrap_command(
    options: WrapperOptions, arguments: Sequence[str], say: Callable[[str], None]
) -> WrapperSummary:
    """Runs the command with these arguments, its input and output untouched, and reports one receipt of it.

    What straddles a pause is not recorded, as in a recorded terminal. ``say`` tells the person that recording
    is on and what changed. To be called in the main thread: only it can take signals.

    Raises:
        CommandNotStarted: there is no such program; nothing was recorded.
        RecorderError: recording cannot begin; nothing was run.
        SpoolError: the spool cannot be used; nothing was run.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a command is wrapped in the main thread only")
    options = replace(options, folder=options.folder.resolve())
    with ExitStack() as stack:
        spool = Spool(options.spool_folder, options.learn_session_id, max_bytes=options.max_spool_bytes)
        stack.callback(spool.close)
        presence = None
        if options.presence_folder is not None:
            watched = str(options.folder)
            presence = stack.enter_context(
                Presence(options.presence_folder, options.learn_session_id, _KIND, watched, _RECORDING)
            )
        left = _left_folder(options)
        starting = RecordedStart(
            options.folder,
            options.learn_session_id,
            None if left is not None and left.is_as_it_was_left() else _inputs(options),
            spool.folder,
            options.target,
        )
        if not options.session_paused:
            say(_announcement(options))
            if starting.text is not None:
                say(starting.text)
        wrapped = _WrappedCommand(options, presence, say)
        events = wrapped.run(arguments)
        if left is not None and events:
            left.remember()
        return _deliver(options, spool, events, wrapped, starting)


def _inputs(options: WrapperOptions) -> InputOptions | None:
    # What keeps no words keeps no files either, and of a paused session nothing is kept.
    if options.session_paused or options.redaction_mode == RedactionMode.HASH_ONLY:
        return None
    return options.inputs


def _left_folder(options: WrapperOptions) -> LeftFolder | None:
    inputs = _inputs(options)
    if inputs is None or options.presence_folder is None:
        return None
    return LeftFolder(options.presence_folder, options.learn_session_id, options.folder, inputs)


def _announcement(options: WrapperOptions) -> str:
    return (
        f"recording this command for session {options.learn_session_id}: its arguments with secrets masked, "
        f"how it ends and the files it makes in {options.folder}, never what it prints"
    )


class _WrappedCommand:
    """The command while it runs, and whether it may be recorded."""

    def __init__(
        self, options: WrapperOptions, presence: Presence | None, say: Callable[[str], None]
    ) -> None:
        self._options = options
        self._presence = presence
        self._say = say
        self._launched: tuple[LaunchedProgram, ...] = ()
        self.not_recorded: str | None = SESSION_PAUSED if options.session_paused else None
        self.exit_code = 0

    def run(self, arguments: Sequence[str]) -> tuple[ObservedActionEvent, ...]:
        """Runs the command; the events to report, none when it was paused or stopped."""
        options = self._options
        folder = str(Path.cwd())
        before = take_snapshot(options.folder)
        with ExitStack() as stack:
            launches = None
            if options.with_launches:
                stack.enter_context(adopting())
                launches = LaunchWatch(os.getpid())
            self.exit_code = run_child(
                arguments,
                {
                    Steering.PAUSE: self._pause,
                    Steering.RESUME: self._resume,
                    Steering.STOP: self._stop,
                },
                lambda: self._look_after(launches),
            )
        if self.not_recorded is not None:
            return ()
        return self._events(FinishedCommand(line_of(arguments), self.exit_code, folder, ()), before)

    def _look_after(self, launches: LaunchWatch | None) -> None:
        if launches is not None:
            self._launched = launches.take_new()[:MOST_LAUNCHES]

    def _events(self, command: FinishedCommand, before: FolderSnapshot) -> tuple[ObservedActionEvent, ...]:
        options = self._options
        scene = CommandScene(options.learn_session_id, options.folder, options.redaction_mode)
        produced = produced_between(before, take_snapshot(options.folder))
        finished = replace(command, produced=produced)
        receipt = command_event(finished, scene, _KIND, ControlSurface.WRAPPER_SCRIPT, options.label)
        return (receipt, *(launch_event(program, scene) for program in self._launched))

    def _pause(self) -> None:
        if self.not_recorded is None:
            self.not_recorded = "recording was paused while it ran"
            self._say("recording is paused: this command will not be recorded")
        self._tell(_PAUSED)

    def _resume(self) -> None:
        if self.not_recorded is not None:
            self._say("what straddles a pause is not recorded; the next command will be")

    def _stop(self) -> None:
        self.not_recorded = "recording was stopped while it ran"
        self._say("recording is stopped: this command goes on and is not recorded")
        self._tell(_STOPPED)

    def _tell(self, state: str) -> None:
        if self._presence is not None:
            self._presence.tell(state)


def _deliver(
    options: WrapperOptions,
    spool: Spool,
    events: tuple[ObservedActionEvent, ...],
    wrapped: _WrappedCommand,
    starting: RecordedStart,
) -> WrapperSummary:
    not_recorded = wrapped.not_recorded
    report, start = DeliveryReport(), StateReport()
    if events:
        try:
            spool.append([redact_event(event) for event in events])
        except SpoolFull as error:
            not_recorded = str(error)
            report_health(options.target, (_KIND,), SPOOL_FULL)
        else:
            delivery = Delivery(spool, options.target, options.learn_session_id, backoff=options.backoff)
            delivery.start()
            starting.deliver(options.backoff)
            report = delivery.close(options.flush_timeout_s, while_held=False)
            if report.state is DeliveryState.HELD:
                # Paused meanwhile, so not to be watched; and nothing waits here to be told when it goes on.
                not_recorded = SESSION_PAUSED
                spool.forget_own()
                starting.forget()
            start = starting.close(options.flush_timeout_s)
    recorded = len(events) if not_recorded is None else 0
    return WrapperSummary(wrapped.exit_code, recorded, report, not_recorded, options.spool_folder, start)
