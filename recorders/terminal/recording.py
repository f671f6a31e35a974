"""One terminal recording, interactive or scripted: the run until delivery, and its summary."""

import os
import selectors
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.learning.observation import (
    ObservationAdapterKind,
    RedactionMode,
)
from recorders.delivery import Delivery, DeliveryReport
from recorders.launches import LaunchWatch
from recorders.running import Heartbeat, Presence, Steering
from recorders.signals import SignalInbox, watched_signals
from recorders.spool import RecorderError, Spool
from recorders.starting_state import HOME_FOLDER, InputOptions
from recorders.state_delivery import RecordedStart, StateReport, starting_text
from recorders.terminal.command_recorder import CommandRecorder, TerminalRecorderOptions
from recorders.terminal.pty_shell import PtyShell, is_recorded
from recorders.terminal.shell_hooks import ShellChannel, ShellReport


@dataclass(frozen=True)
class RecordingSummary:
    """How a recording ended. ``commands`` were entered while recording; ``skipped`` of them only looked around."""

    learn_session_id: str
    commands: int
    recorded: int
    skipped: int
    delivery: DeliveryReport
    stopped_reason: str | None
    spool_folder: Path
    starting: StateReport = field(default_factory=StateReport)

    @property
    def complete(self) -> bool:
        """Whether everything recorded has reached the API."""
        return self.delivery.complete and self.stopped_reason is None and not self.starting.pending

    def text(self) -> str:
        """One or two lines for the person who recorded."""
        delivered = self.delivery.text(self.spool_folder)
        counts = f"{self.recorded} commands recorded, {self.skipped} left out, {delivered}"
        counts += starting_text(self.starting, self.spool_folder)
        reason = self.stopped_reason or self.delivery.reason
        return f"{counts} ({reason})" if reason else counts


_TICK_S = 0.2
_GO_FIRST = "cd to the folder of the task before anything else, and its files are"
_LONGEST_LINE = 4_000


def record_terminal(options: TerminalRecorderOptions) -> RecordingSummary:
    """Opens a recorded bash in this terminal until it exits, and prints how it ended.

    The terminal's settings are put back however it ends.

    Raises:
        RecorderError: this is no terminal, or one that is recorded already.
        SpoolError: the spool cannot be used.
    """
    terminal = sys.stdin.fileno()
    if not os.isatty(terminal):
        raise RecorderError("the terminal recorder needs a terminal: run it in one")
    if is_recorded():
        raise RecorderError("this terminal is recorded already: exit that recording first")
    return _record_interactively(options, terminal)


def run_scripted(options: TerminalRecorderOptions, commands: Sequence[str]) -> RecordingSummary:
    """Types ``commands`` into a recorded bash one after the other, waits for each, and then exits.

    The same shell, pseudo-terminal, recorder and delivery as a person's; only ``~/.bashrc``, line editing and
    history expansion are left out, so that the lines mean what they say.

    Raises:
        RecorderError: a command cannot be typed, or took longer than ``command_timeout_s``.
        SpoolError: the spool cannot be used.
    """
    for command in commands:
        _check_typeable(command)
    with _Recording(options, interactive=False, say=_nothing) as recording:
        recording.run_script(commands)
        return recording.finish()


def _record_interactively(options: TerminalRecorderOptions, terminal: int) -> RecordingSummary:
    def say(text: str) -> None:
        _write(sys.stdout.fileno(), f"\r\n[apprentice] {text}\r\n".encode())

    with _Recording(options, interactive=True, say=say) as recording:
        prompts = ""
        if options.typed_lines:
            prompts = ", lines typed at the prompts of sqlite3, python3, ed and the like (not with --no-typed-lines)"
        say(
            f"recording this terminal for session {options.learn_session_id} in {options.folder}: command lines"
            f"{prompts}, exit status, files made and rows counted in databases, never output or what is typed "
            "invisibly; secrets are masked. apprentice-pause and apprentice-resume steer it, exit ends it."
        )
        if recording.starting_text is not None:
            say(recording.starting_text)
        with _raw_mode(terminal):
            recording.run_with(terminal, sys.stdout.fileno())
        say("recording has ended; delivering what is left")
        summary = recording.finish()
        say(summary.text())
        return summary


class _Recording:
    """Everything one recording holds open, closed in the right order whatever happens."""

    def __init__(
        self, options: TerminalRecorderOptions, *, interactive: bool, say: Callable[[str], None]
    ) -> None:
        self._options = replace(options, folder=options.folder.resolve())
        self._interactive = interactive
        self._say = say
        self._stack = ExitStack()
        self._script: Iterator[str] | None = None
        self._deadline: float | None = None
        self._exited = False

    def __enter__(self) -> "_Recording":
        options = self._options
        with ExitStack() as stack:
            session = options.learn_session_id
            spool = Spool(options.spool_folder, session, max_bytes=options.max_spool_bytes)
            stack.callback(spool.close)
            self._channel = ShellChannel(interactive=self._interactive)
            stack.callback(self._channel.close)
            starting = RecordedStart(options.folder, session, self._inputs(), spool.folder, options.target)
            self._starting = starting
            self._shell = PtyShell(
                self._channel.rcfile, options.folder, interactive=self._interactive, session=session
            )
            self._close_shell = stack.enter_context(ExitStack())
            self._close_shell.callback(self._shell.close)
            self._delivery = Delivery(spool, options.target, session, backoff=options.backoff)
            self._delivery.start()
            stack.callback(self._delivery.close, 0)
            starting.deliver(options.backoff)
            stack.callback(starting.close, 0)
            launches = LaunchWatch(self._shell.pid) if options.with_launches else None
            self._recorder = CommandRecorder(options, spool, self._delivery, self._say, starting, launches)
            kinds = (ObservationAdapterKind.TERMINAL_COMMAND, ObservationAdapterKind.PROCESS_LAUNCH)
            self._heartbeat = Heartbeat(options.target, kinds if options.with_launches else kinds[:1])
            self._heartbeat.start()
            stack.callback(self._heartbeat.close)
            self._presence = self._make_known(stack)
            self._signals = stack.enter_context(watched_signals())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    def run_script(self, commands: Sequence[str]) -> None:
        """Types the commands and then ``exit``."""
        self._script = iter([*commands])
        self._deadline = time.monotonic() + self._options.command_timeout_s
        self._loop(None, None)

    def run_with(self, keyboard: int, screen: int) -> None:
        """Passes everything between a person's terminal and the shell."""
        self._shell.resize_like(keyboard)
        self._loop(keyboard, screen)

    def finish(self) -> RecordingSummary:
        """Ends the shell and delivers what can be delivered in time."""
        self._close_shell.close()
        report = self._delivery.close(self._options.flush_timeout_s)
        starting = self._starting.close(self._options.flush_timeout_s)
        self._recorder.watch_delivery()
        recorder = self._recorder
        self._heartbeat.close(recorder.error_code)
        return RecordingSummary(
            learn_session_id=self._options.learn_session_id,
            commands=recorder.commands,
            recorded=recorder.recorded,
            skipped=recorder.skipped,
            delivery=report,
            stopped_reason=recorder.end_reason,
            spool_folder=self._options.spool_folder,
            starting=starting,
        )

    @property
    def starting_text(self) -> str | None:
        """What is kept of the folder, for the person."""
        text = self._starting.text
        return f"{text}; {_GO_FIRST}" if text == HOME_FOLDER else text

    def _inputs(self) -> InputOptions | None:
        # A recording that keeps no words keeps no files either.
        hashes = self._options.redaction_mode == RedactionMode.HASH_ONLY
        return None if hashes else self._options.inputs

    def _make_known(self, stack: ExitStack) -> Presence | None:
        options = self._options
        if options.presence_folder is None:
            return None
        kind, state = ObservationAdapterKind.TERMINAL_COMMAND, self._recorder.state.value
        return stack.enter_context(
            Presence(options.presence_folder, options.learn_session_id, kind, str(options.folder), state)
        )

    def _loop(self, keyboard: int | None, screen: int | None) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._shell, selectors.EVENT_READ)
            selector.register(self._channel, selectors.EVENT_READ)
            selector.register(self._signals, selectors.EVENT_READ)
            if keyboard is not None:
                selector.register(keyboard, selectors.EVENT_READ)
            while self._step(selector, keyboard, screen):
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._shell.has_untyped else 0)
                selector.modify(self._shell, wanted)

    def _step(self, selector: selectors.BaseSelector, keyboard: int | None, screen: int | None) -> bool:
        """Handles what has happened; false when the shell is gone."""
        ready = {key.fileobj: events for key, events in selector.select(_TICK_S)}
        if self._signals in ready and not self._obey(self._signals, keyboard):
            return False
        if keyboard in ready:
            typed = os.read(keyboard or 0, 65536)
            if not typed:
                return False
            self._type(typed)
        if ready.get(self._shell, 0) & selectors.EVENT_WRITE:
            self._shell.type(b"")
        is_open = True
        if ready.get(self._shell, 0) & selectors.EVENT_READ:
            printed = self._shell.read()
            is_open = bool(printed)
            if screen is not None:
                _write(screen, printed)
        for report in self._channel.read() if self._channel in ready else ():
            self._answer(report)
        self._recorder.watch_delivery()
        if self._presence is not None:
            self._presence.tell(self._recorder.state.value)
        self._check_deadline()
        return is_open and (self._shell.is_running or bool(ready))

    def _type(self, keys: bytes) -> None:
        shell = self._shell
        self._recorder.keys.note(keys, hidden=shell.hides_typing, completes=shell.takes_single_keys)
        shell.type(keys)

    def _answer(self, report: ShellReport) -> None:
        mark = self._recorder.handle(report)
        self._channel.answer(report, mark)
        if report.kind == "done" and self._script is not None:
            self._type(next(self._script, "exit").encode() + b"\n")
            self._deadline = time.monotonic() + self._options.command_timeout_s

    def _obey(self, inbox: SignalInbox, keyboard: int | None) -> bool:
        for number in inbox.take():
            if number == Steering.PAUSE.signal:
                self._recorder.pause()
            elif number == Steering.RESUME.signal:
                self._recorder.resume()
            elif number == Steering.STOP.signal:
                self._recorder.stop()
            elif number == signal.SIGWINCH:
                if keyboard is not None:
                    self._shell.resize_like(keyboard)
            else:
                return False
        return True

    def _check_deadline(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise RecorderError(
                f"a scripted command did not finish within {self._options.command_timeout_s:g} s: is it complete, "
                "and does it wait for no one?"
            )


@contextmanager
def _raw_mode(terminal: int) -> Generator[None]:
    """Passes every key on as it is typed; the terminal's settings come back in any case."""
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _check_typeable(command: str) -> None:
    if any(ord(c) < 32 and c not in "\n\t" for c in command):
        raise RecorderError(f"the command {command!r} holds control characters: they would act as keys")
    if any(len(line.encode()) > _LONGEST_LINE for line in command.split("\n")):
        raise RecorderError(f"a line of more than {_LONGEST_LINE} bytes cannot be typed: split it")


def _write(descriptor: int, data: bytes) -> None:
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]


def _nothing(_text: str) -> None:
    """A script has nobody to talk to; what matters is in its summary."""
