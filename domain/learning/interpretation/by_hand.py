"""Commands in which a person writes text by hand: editors, interpreters without a script, here-documents.

What is written there is not on the command line, or too long for it, so that recorders keep the text of the files.
"""

import re

from domain.learning.commands.command_line import Part, name_set, parts_of
from domain.learning.interpretation.noise import EDITORS

_EDITORS = EDITORS | name_set(
    """ed ex rvim vimdiff nvi joe jed jmacs mcedit kak helix hx mg ne tilde dte editor sensible-editor kwrite mousepad
    edlin red"""
)
_INTERPRETER = re.compile(
    r"(?:i?python|pypy)[0-9.]*|node|nodejs|deno|irb|bc|dc|R|lua[0-9.]*|ghci|julia|octave|gnuplot|php|perl"
)
_SQL_CLIENTS = name_set("psql mysql mariadb sqlcmd")
_SQL_FILES = name_set("sqlite3 duckdb")
_RUNS_TEXT = name_set("-c -e -f -m -p --command --execute --eval --file --print -bail -cmd")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"\\]?[A-Za-z_].*\n")


def written_by_hand(command: str) -> bool:
    """Whether the files that ``command`` changed may hold what a person typed while it ran."""
    return bool(_HERE_DOCUMENT.search(command)) or any(map(_takes_typing, parts_of(command)))


def _takes_typing(part: Part) -> bool:
    if part.program in _EDITORS:
        return True
    if part.program == "cat":
        return bool(part.writes) and not (part.operands or part.reads)
    if part.reads or _RUNS_TEXT.intersection(part.arguments):
        return False
    if part.program in _SQL_FILES:
        # The first operand is a database, the second a statement.
        return len(part.operands) <= 1
    if part.program in _SQL_CLIENTS:
        return True
    return bool(_INTERPRETER.fullmatch(part.program)) and not part.operands
