"""Runs the commands of a demonstration one after the other in one shell of the sandbox, as they were typed.

What a command leaves in the shell (variables, functions, the activated environment) is there for the next one. A
failure inside a pipe counts. The jail holds three folders: the work, a home of its own, and the driver's.
"""

import contextlib
import os
import secrets
import shlex
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contracts.learning.observation import LessonFolder
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands
from host.file_trace import FileTrace, FileUse
from host.sandbox.launch_order import CommandOutcome, HostIsolation
from skills.rehearsal.sandbox import TEMPORARY_FOLDER, Sandbox

WORK_FOLDER, HOME_FOLDER = "work", "home"
"""The folders of a jail: what the commands work on, and their home."""

_DRIVER_FOLDER, _MARKS, _NOTED = ".driver", ".driver/marks", ".driver/noted"
_SEPARATOR = "\x1e"
_LOOK_SECONDS, _REPORT_SECONDS = 0.05, 1.0
_LONGEST_STATUS = 4
_NOTED_SECONDS = 2
"""How long the shell waits at most, after a command, for the trace to have taken in what it did."""
_ANSWERS = frozenset({"grep", "egrep", "fgrep", "rg", "zgrep", "diff", "cmp", "comm", "test", "[", "expr"})
"""Programs whose exit status 1 is an answer ("no", "they differ") and no failure."""

_GIT_IDENTITY = "[user]\n\tname = Rehearsal\n\temail = rehearsal@localhost\n[init]\n\tdefaultBranch = main\n"

# Functions and builtins are quoted, so that no alias or function of a command stands in for them; what a command did
# not carry out to its end keeps the status that is set before it.
_PRELUDE = """\
\\builtin shopt -s expand_aliases
__apprentice_mark() {{
  (\\builtin umask 077; \\builtin printf '%s' "$2" > {marks}/{token}"$1") 2>/dev/null
  \\builtin read -t {seconds} -r __apprentice_noted 2>/dev/null <> {noted} || \\builtin :
}}
__apprentice_begin() {{
  \\builtin printf '\\036%s\\036' "$1"
  __apprentice_stages=(2)
  if [[ $3 == make ]]; then \\builtin command mkdir -p -- "$2" 2>/dev/null; fi
  \\builtin cd -- "$2" 2>/dev/null || {{ __apprentice_mark "$1" folder; \\builtin exit 0; }}
}}
__apprentice_end() {{
  \\builtin local number=$1 tolerated=" $2 " status=$3 stage=0 one
  \\builtin shift 3
  if (( $# > 1 )); then
    for one in "$@"; do
      if (( one != 0 && one != 141 )) && ! {{ (( one == 1 )) && [[ $tolerated == *" $stage "* ]]; }}; then
        status=$one
      fi
      stage=$(( stage + 1 ))
    done
  fi
  if (( status == 141 )); then status=0; fi
  __apprentice_mark "$number" "$status"
  if (( status != 0 )) && [[ $tolerated != *" any "* ]]; then \\builtin exit 0; fi
}}
\\builtin readonly -f __apprentice_mark __apprentice_begin __apprentice_end
\\builtin exec </dev/null
\\builtin command rm -f -- {driver}
{exports}
__apprentice_mark begin 0
"""


@dataclass(frozen=True)
class Surroundings:
    """What a shell session is given beside its files: locale, time zone and further variables."""

    locale: str = "C.UTF-8"
    time_zone: str = "UTC"
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    folders: tuple[LessonFolder, ...] = ()
    """Those of a lesson in several folders: in the shell's home each stands where its commands name it."""


@dataclass(frozen=True)
class CommandResult:
    """How one command of a session ended; ``status`` is ``None`` where it was not reached or did not end."""

    status: int | None
    output: str
    use: FileUse


@dataclass(frozen=True)
class SessionOutcome:
    """How a session of commands ended."""

    results: tuple[CommandResult, ...]
    """One for each command, in order."""
    outcome: CommandOutcome
    """The shell's own end: time, limits, isolation."""
    trace_is_partial: bool

    @property
    def written(self) -> frozenset[str]:
        """The files that the commands were seen to write, relative to the working folder."""
        return frozenset(path for result in self.results for path in result.use.written)

    @property
    def isolation(self) -> HostIsolation:
        """What held the commands."""
        return self.outcome.isolation

    def failed_at(self, commands: Sequence[RehearsalCommand]) -> int | None:
        """The index of the command that ended the session early; ``None`` where all were carried out."""
        for index, (command, result) in enumerate(zip(commands, self.results, strict=True)):
            if result.status is None or (result.status != 0 and not command.may_fail):
                return index
        return None


def prepare_jail(root: Path) -> Path:
    """Makes the folders of a jail; the one to put the files of the work into."""
    work = root / WORK_FOLDER
    for folder in (work, root / HOME_FOLDER, root / TEMPORARY_FOLDER, root / _MARKS):
        folder.mkdir(parents=True, exist_ok=True)
    (root / HOME_FOLDER / ".gitconfig").write_text(_GIT_IDENTITY, encoding="utf-8")
    return work


def run_session(
    sandbox: Sandbox,
    commands: Sequence[RehearsalCommand],
    surroundings: Surroundings | None = None,
    *,
    cancelled: threading.Event | None = None,
    progress: Callable[[int], None] | None = None,
    makes_folders: bool = True,
) -> SessionOutcome:
    """Runs the commands in the work folder of a prepared jail until one fails.

    A command fails by an exit status other than 0, also of a stage within its last pipeline; the status 1 of a
    program that answers with it (``grep``, ``diff``) does not count there, nor does any of a command that failed
    when it was shown. A command that ends the shell or never returns has no status, and nothing after it has one.
    ``progress`` is called about once a second, and whenever a command has ended, with the number of those that have;
    the next one waits for it, and does not begin where the session was ``cancelled`` in it. A command whose folder is
    not there fails, unless the session ``makes_folders``.

    Raises:
        SandboxUnavailable: this host cannot isolate commands, so nothing was run.
    """
    marks = sandbox.root / _MARKS
    _link_folders(sandbox.root, surroundings.folders if surroundings is not None else ())
    # A command that knows no token cannot write a mark by mistake.
    token = f"{secrets.token_hex(8)}-"
    driver = sandbox.root / _DRIVER_FOLDER / "driver.sh"
    text = _driver(sandbox.root, commands, surroundings or Surroundings(), token, makes_folders=makes_folders)
    driver.write_text(text, encoding="utf-8")

    with _release(sandbox.root / _NOTED) as release:
        steps = _Steps(marks, token, len(commands), release, progress, cancelled)
        with FileTrace(sandbox.root / WORK_FOLDER, marks, prefix=token, noted=steps.noted) as trace:
            outcome = sandbox.run(
                f". {shlex.quote(str(driver))}",
                WORK_FOLDER,
                cancelled=cancelled,
                while_running=steps.look,
                every=_LOOK_SECONDS,
            )
    uses = trace.stretches[1:]
    printed = _printed(outcome.output)
    results = tuple(
        CommandResult(
            _status(marks / f"{token}{_number(n)}"),
            printed.get(n, ""),
            uses[n] if n < len(uses) else FileUse(),
        )
        for n in range(len(commands))
    )
    return SessionOutcome(results, outcome, trace.is_partial)


def _link_folders(root: Path, folders: Sequence[LessonFolder]) -> None:
    """Makes ``~/site`` in the jail mean the lesson's folder that was named so."""
    home, work = root / HOME_FOLDER, root / WORK_FOLDER
    # A link to a folder that is still to be made would keep it from being made.
    there = [one for one in folders if not one.made]
    named = sorted((place, one.name) for one in there for place in one.places if place.startswith("~/"))
    for place, name in named:
        parts = place[2:].split("/")
        link = home.joinpath(*parts)
        if {"", ".", ".."}.isdisjoint(parts) and not any(one.is_symlink() for one in (link, *link.parents)):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(work / name)


class _Steps:
    """Lets the shell go on from command to command: once its files are noted, and its end is reported."""

    def __init__(
        self,
        marks: Path,
        token: str,
        total: int,
        release: Callable[[], None],
        progress: Callable[[int], None] | None,
        cancelled: threading.Event | None,
    ) -> None:
        self._marks = [marks / f"{token}{_number(n)}" for n in range(total)]
        self._release = release
        self._progress = progress
        self._cancelled = cancelled
        self._waiting = threading.Semaphore(0)
        self._next_report = 0.0

    def noted(self) -> None:
        """Called by the trace's thread at each mark."""
        if self._progress is None:
            self._release()
        else:
            self._waiting.release()

    def look(self) -> None:
        """Called by the thread that waits for the shell: reports what has ended, then lets the shell go on."""
        if self._progress is None:
            return
        waits, now = self._waiting.acquire(blocking=False), time.monotonic()
        if waits or now >= self._next_report:
            self._next_report = now + _REPORT_SECONDS
            self._progress(sum(1 for mark in self._marks if mark.exists()))
        if waits and not (self._cancelled is not None and self._cancelled.is_set()):
            self._release()


@contextlib.contextmanager
def _release(pipe: Path) -> Generator[Callable[[], None]]:
    """What lets the shell go on: a line through a named pipe."""
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe, 0o600)
    # Open for both, so that a line waits in the pipe where the shell is not reading yet.
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)

    def release() -> None:
        # A full pipe holds enough to be read.
        with contextlib.suppress(BlockingIOError):
            os.write(end, b"\n")

    try:
        yield release
    finally:
        os.close(end)


def _number(index: int) -> str:
    return f"{index:04d}"


def _status(mark: Path) -> int | None:
    try:
        text = mark.read_text(encoding="utf-8")
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_STATUS else None


def _printed(output: str) -> dict[int, str]:
    """What each command printed, as far as it was kept."""
    parts = output.split(_SEPARATOR)
    return {int(n): text for n, text in zip(parts[1::2], parts[2::2], strict=False) if n.isdigit()}


def _driver(
    root: Path,
    commands: Sequence[RehearsalCommand],
    surroundings: Surroundings,
    token: str,
    *,
    makes_folders: bool,
) -> str:
    variables = {
        "HOME": str(root / HOME_FOLDER),
        "LANG": surroundings.locale,
        "LC_ALL": surroundings.locale,
        "TZ": surroundings.time_zone,
        "GIT_PAGER": "cat",
        "PAGER": "cat",
        "GIT_EDITOR": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        **surroundings.variables,
    }
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    prelude = _PRELUDE.format(
        marks=shlex.quote(str(root / _MARKS)),
        noted=shlex.quote(str(root / _NOTED)),
        driver=shlex.quote(str(root / _DRIVER_FOLDER / "driver.sh")),
        seconds=_NOTED_SECONDS,
        token=token,
        exports=exports,
    )
    lines = [prelude]
    making = "make" if makes_folders else "keep"
    for index, command in enumerate(commands):
        folder = root / WORK_FOLDER / (command.working_folder or ".")
        any_status = ["any"] if command.may_fail else []
        tolerated = " ".join([*any_status, *_answering_stages(command.command)])
        lines.append(
            f"\\__apprentice_begin {_number(index)} {shlex.quote(str(folder))} {making}\n"
            f"\\builtin eval {shlex.quote(command.command)}$'\\n''__apprentice_stages=($? \"${{PIPESTATUS[@]}}\")'\n"
            f'\\__apprentice_end {_number(index)} {shlex.quote(tolerated)} "${{__apprentice_stages[@]}}"\n'
        )
    return "".join(lines)


def _answering_stages(command: str) -> list[str]:
    """The stages of the last pipeline whose exit status 1 is an answer."""
    try:
        simple = split_commands(command)
    except UnreadableCommand:
        return []
    begin = max((n for n, one in enumerate(simple) if not one.fed_by_pipe), default=0)
    stages = simple[begin:]
    # The last stage's status is the pipeline's own, as the person saw it.
    return [
        str(n)
        for n, one in enumerate(stages[:-1])
        if one.words and one.words[0].rsplit("/", 1)[-1] in _ANSWERS
    ]
