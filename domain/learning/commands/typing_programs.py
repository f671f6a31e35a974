"""Programs that wait for what a person types: editors, interpreters, clients of databases.

One list for the recorder (whose lines are kept, which files are read as written by hand) and for rehearsals (what they
cannot carry out).
"""

import re

from domain.learning.commands.command_line import Part, name_set

PAGERS = name_set("less more man")
LINE_EDITORS = name_set("ed red ex edlin")
"""Editors that take one command a line, also from a pipe."""

WINDOW_PROGRAMS = name_set(
    "xdg-open open firefox chromium google-chrome libreoffice soffice gimp evince eog code"
)
"""What opens a window."""

EDITORS = PAGERS | name_set(
    """vi vim nvim rvim vimdiff nvi nano emacs jmacs pico micro joe jed mcedit kak helix hx mg ne tilde dte editor
    sensible-editor code subl gedit kate kwrite mate mousepad open xdg-open start"""
)
"""Programs that take the whole screen or a window; nothing but a person can steer them."""

_INTERPRETERS = re.compile(
    r"(?:i?python|pypy)[0-9.]*|node|nodejs|deno|irb|bc|dc|R|lua[0-9.]*|ghci|julia|octave|gnuplot|php|perl|gdb"
)
_SQL_CLIENTS = name_set("psql mysql mariadb sqlcmd")
_SQL_FILES = name_set("sqlite3 duckdb")
_RUNS_TEXT = name_set(
    """-c -e -f -m -p --command --execute --eval --file --print -bail -cmd -version --version -V --help"""
)
_TAKES_LINES = re.compile(
    r"r?ed|sqlite3|duckdb|psql|mysql|mariadb|bc|dc|(?P<repl>python[0-9.]*|node|nodejs)",
)
_AS_AT_A_PROMPT = "-i"
"""Makes an interpreter read what it is given line by line, as at its prompt, so that a failed line is passed over."""


def waits_for_lines(part: Part) -> bool:
    """Whether the program reads lines from its terminal: a line editor, an interpreter, a client of a database."""
    if part.reads or part.is_fed or _RUNS_TEXT.intersection(part.arguments):
        return False
    if part.program in _SQL_FILES:
        # The first operand is a database, the second a statement.
        return len(part.operands) <= 1
    if part.program in LINE_EDITORS | _SQL_CLIENTS:
        return True
    if not _INTERPRETERS.fullmatch(part.program):
        return False
    return "-v" not in part.arguments and (not part.operands or part.program == "gdb")


def line_program_options(program: str) -> tuple[str, ...] | None:
    """What a program is given further, so that lines on its standard input do what they do at its prompt.

    ``None`` for programs whose prompt is another thing, or not known.
    """
    found = _TAKES_LINES.fullmatch(program)
    if found is None:
        return None
    return (_AS_AT_A_PROMPT,) if found["repl"] else ()
