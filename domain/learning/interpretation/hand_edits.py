"""Replays what a person wrote in an editor: the text of a new file, and the change of one that was there."""

import posixpath
import shlex

from contracts.learning.observation import TerminalObservation, WrittenText
from domain.learning.commands.command_line import parts_of
from domain.learning.commands.typing_programs import EDITORS, LINE_EDITORS


def replayed_line(observed: TerminalObservation) -> str | None:
    """The command line that repeats the command; ``None`` where what was typed is not known.

    An editor's work is repeated by its outcome: a here-document for a new file, a patch for a changed one. What came
    of an interpreter's prompt is a result, not a method, and is not repeated so.
    """
    if not is_edited_by_hand(observed.command):
        return observed.command
    if not observed.written or any(one.masked or one.text is None for one in observed.written):
        return None
    return "\n".join(_writes(one, observed.working_folder) for one in observed.written)


def is_edited_by_hand(command: str) -> bool:
    """Whether the command opens an editor and gives it no commands of its own."""
    return any(
        part.program in EDITORS | LINE_EDITORS and not part.is_fed and not part.reads
        for part in parts_of(command)
    )


def writing_line(path: str, text: str, folder: str) -> str:
    """The command line that writes the text, typed in ``folder``; both are relative to the demonstration's folder."""
    return f"cat > {_from(folder, path)} {_here_document(text)}"


def _writes(one: WrittenText, folder: str) -> str:
    if one.patch:
        return f"patch -s -- {_from(folder, one.path)} {_here_document(one.patch)}"
    return writing_line(one.path, one.text or "", folder)


def _from(folder: str, path: str) -> str:
    return shlex.quote(posixpath.relpath(path, folder or "."))


def _here_document(text: str) -> str:
    end = "END_OF_TEXT"
    while end in text:
        end += "_"
    return f"<<'{end}'\n{text}{'' if text.endswith(chr(10)) else chr(10)}{end}"
