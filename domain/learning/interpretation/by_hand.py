"""Commands in which a person writes text by hand: editors, interpreters without a script, here-documents.

What is written there is not on the command line, or too long for it, so that recorders keep the text of the files.
"""

import re

from domain.learning.commands.command_line import Part, parts_of
from domain.learning.commands.typing_programs import EDITORS, waits_for_lines

_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"\\]?[A-Za-z_].*\n")


def written_by_hand(command: str) -> bool:
    """Whether the files that ``command`` changed may hold what a person typed while it ran."""
    return bool(_HERE_DOCUMENT.search(command)) or any(map(_takes_typing, parts_of(command)))


def _takes_typing(part: Part) -> bool:
    if part.program == "cat":
        return bool(part.writes) and not (part.operands or part.reads)
    return part.program in EDITORS or waits_for_lines(part)
