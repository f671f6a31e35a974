"""Start-up file (hooks) of the recorded bash, and the pipes on which it reports.

The shell reports over two named pipes in a private folder, never over the screen: before a command line runs and
after it has finished it writes one report and waits for the recorder's answer, which carries the mark of its prompt.
The recorder can thus look at the folder while nothing runs. Command lines come from the shell's own history, so a
loop over several lines is one report, as it was typed. A line that starts with a space stays out of the history and
so out of the recording, as people expect of it.
"""

import os
import shlex
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

_FIELDS = 5
_PREFIX = "apprentice-terminal-"

_HOOKS = r"""
unset HISTFILE
HISTCONTROL=ignorespace
HISTIGNORE=
HISTSIZE=10000
shopt -s cmdhist lithist promptvars
__apprentice_turn=0
__apprentice_mark=
__apprentice_say() {
  \builtin local asked="$1$__apprentice_turn" turn mark
  \builtin printf '%s\0%s\0%s\0%s\0%s\0' "$1" "$__apprentice_turn" "$2" "$PWD" "$3" 1<>"$__apprentice_reports"
  while IFS=' ' \builtin read -r -t "$4" turn mark <>"$__apprentice_answers"; do
    if [[ $turn == "$asked" ]]; then __apprentice_mark=$mark; \builtin return 0; fi
  done
  \builtin return 0
} 2>/dev/null
__apprentice_before() { __apprentice_say before 0 "$(HISTTIMEFORMAT='' \builtin history 1)" 5; }
__apprentice_after() {
  \builtin local status=$?
  __apprentice_turn=$((__apprentice_turn + 1))
  __apprentice_say "${1:-done}" "$status" "$(HISTTIMEFORMAT='' \builtin history 1)" "${2:-5}"
  \builtin return "$status"
}
__apprentice_prompt() {
  \builtin local status=$?
  if [[ $PS1 != '${__apprentice_mark}'* ]]; then PS1='${__apprentice_mark} '$PS1; fi
  \builtin return "$status"
}
apprentice-pause() { __apprentice_say pause 0 '' 5; }
apprentice-resume() { __apprentice_say resume 0 '' 5; }
PS0='$(__apprentice_before)'"${PS0-}"
if (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501 )); then
  PROMPT_COMMAND=(__apprentice_after "${PROMPT_COMMAND[@]}" __apprentice_prompt)
else
  PROMPT_COMMAND="__apprentice_after${PROMPT_COMMAND:+; $PROMPT_COMMAND}; __apprentice_prompt"
fi
trap '__apprentice_after exit 1' EXIT
set -o history
"""

_OF_THE_PERSON = r"""
if [[ -r ~/.bashrc ]]; then . ~/.bashrc; fi
if [[ -r ${HISTFILE:-$HOME/.bash_history} ]]; then history -r "${HISTFILE:-$HOME/.bash_history}"; fi
"""

# Scripted lines mean what they say: no history expansion, and the plainest prompt.
_OF_A_SCRIPT = "set +H\nPS1='$ '\nPS2='> '\n"


@dataclass(frozen=True)
class ShellReport:
    """What the shell says: ``before``, ``done``, ``exit``, ``pause`` or ``resume``; ``entry`` is of its history.

    Before a line that the history does not take, it is that of an earlier one.
    """

    kind: str
    turn: str
    status: int
    folder: str
    entry: str


class ShellChannel:
    """The two pipes and the start-up file, in a folder of their own that ``close`` removes."""

    def __init__(self, *, interactive: bool) -> None:
        _remove_abandoned()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        reports, answers = self._folder / "reports", self._folder / "answers"
        os.mkfifo(reports, 0o600)
        os.mkfifo(answers, 0o600)
        self.rcfile = self._folder / "rc"
        self.rcfile.write_text(
            (_OF_THE_PERSON if interactive else _OF_A_SCRIPT)
            + f"__apprentice_reports={shlex.quote(str(reports))}\n"
            + f"__apprentice_answers={shlex.quote(str(answers))}\n"
            + _HOOKS,
            encoding="utf-8",
        )
        # Opened both ways, so that neither side ever waits for the other to open or sees an end.
        self._reports = os.open(reports, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._answers = os.open(answers, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._buffer = b""

    def fileno(self) -> int:
        """What to wait on for reports."""
        return self._reports

    def read(self) -> list[ShellReport]:
        """The reports that have arrived whole."""
        try:
            self._buffer += os.read(self._reports, 65536)
        except BlockingIOError:
            return []
        *fields, rest = self._buffer.split(b"\0")
        whole = len(fields) - len(fields) % _FIELDS
        self._buffer = b"\0".join([*fields[whole:], rest])
        texts = [f.decode("utf-8", errors="replace") for f in fields[:whole]]
        return [_report(texts[i : i + _FIELDS]) for i in range(0, whole, _FIELDS)]

    def answer(self, report: ShellReport, mark: str) -> None:
        """Lets the shell go on, with the mark that its prompt is to show."""
        os.write(self._answers, f"{report.kind}{report.turn} {mark}\n".encode())

    def close(self) -> None:
        """Closes and removes everything."""
        os.close(self._reports)
        os.close(self._answers)
        rmtree(self._folder, ignore_errors=True)


def split_history_entry(entry: str) -> tuple[int | None, str]:
    """The number and the text of what ``history 1`` printed; no number for an empty history."""
    entry = entry.lstrip()
    digits = len(entry) - len(entry.lstrip("0123456789"))
    if digits == 0:
        return None, ""
    # After the number stands "*" for an edited entry or a space, then one more space.
    return int(entry[:digits]), entry[digits + 1 :].removeprefix(" ")


def _remove_abandoned() -> None:
    """Clears up after recorders that were killed; their folders carry the process id."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        process = folder.name.removeprefix(_PREFIX).split("-")[0]
        with suppress(OSError):
            if process.isdigit() and folder.stat().st_uid == os.getuid() and not _is_alive(int(process)):
                rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _report(fields: list[str]) -> ShellReport:
    kind, turn, status, folder, entry = fields
    return ShellReport(kind, turn, int(status) if status.isdigit() else 0, folder, entry)
