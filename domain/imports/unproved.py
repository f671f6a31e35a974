"""What of an imported skill nothing here can show to work: it was never demonstrated, so nothing can be repeated.

The list goes the way of every other unproved step: it is shown before an install, accepted by a person or not, and
kept with the version. A bundle is checked by its scan, its lint and its trigger cases; those prove no result.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from contracts.abilities.availability import MAX_UNPROVED, UnprovedStep
from contracts.base import clipped
from contracts.learning.evidence import UnrehearsedCommand

INSTRUCTIONS = "Following the instructions of SKILL.md leads to what its description promises"
_NOT_SHOWN = (
    "The skill was imported and never demonstrated: there is nothing that could be repeated and compared."
)
_NOT_RUN = "The script came with the archive; it was scanned, and never run here."
_SCRIPTS = frozenset(
    {
        ".bash", ".bat", ".cjs", ".cmd", ".js", ".lua", ".mjs", ".php", ".pl", ".ps1", ".py", ".r", ".rb", ".sh",
        ".ts", ".zsh",
    }
)  # fmt: skip
_FOLDERS = frozenset({"bin", "scripts"})


def unrehearsed_of(import_id: str, paths: Iterable[str]) -> tuple[UnrehearsedCommand, ...]:
    """The instructions, then each script of the bundle, as its validation names them; the last sums up what is over."""
    scripts = [path for path in sorted(paths) if is_script(path)]
    named, over = scripts[: MAX_UNPROVED - 2], scripts[MAX_UNPROVED - 2 :]
    said = [(INSTRUCTIONS, _NOT_SHOWN), *((f"The script {path} works", _NOT_RUN) for path in named)]
    if over:
        said.append((f"{len(over)} more scripts work", _NOT_RUN))
    return tuple(
        UnrehearsedCommand(event_id=import_id, command=clipped(what, 120), reason=why) for what, why in said
    )


def unproved_of(unrehearsed: Sequence[UnrehearsedCommand]) -> tuple[UnprovedStep, ...]:
    """The list that a person accepts."""
    return tuple(
        UnprovedStep(case=f"rehearsal/unrehearsed-{number:02d}", step=one.command, reason=one.reason)
        for number, one in enumerate(unrehearsed, start=1)
    )


def is_script(path: str) -> bool:
    """Whether a file of a bundle is there to be run, by its name and folder."""
    parts = PurePosixPath(path)
    in_folder = bool(_FOLDERS.intersection(parts.parts[:-1]))
    return parts.suffix.lower() in _SCRIPTS or (in_folder and not parts.suffix)
