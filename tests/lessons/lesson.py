"""What one lesson is: a prepared folder, what is typed, and what has to come of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Lesson:
    """One task as a person shows it in a recorded terminal, and the expectations that were written down for it."""

    name: str
    """Lower-case words joined by underscores; unique."""

    goal: str
    """What the person says the task is, in their words."""

    prepare: Callable[[Path], None]
    """Fills the working folder as it is before the first command."""

    typed: tuple[str, ...]
    """The command lines, one entry each, typed in bash in the working folder.

    An entry with several lines is typed line by line: a loop, a here-document, or what is typed into the editor or
    interpreter that its first line starts.
    """

    facts: tuple[tuple[str, ...], ...]
    """What must survive in SKILL.md or a file under scripts/: each fact as its possible wordings (any one suffices,
    compared without regard to case and spacing). A fact is something without which the result would be another."""

    absent: tuple[str, ...]
    """What must not stand in SKILL.md: corrected typing errors, looking around, generated files, paths of the day."""

    parameters: tuple[str, ...]
    """Demonstrated values that have to be offered as parameters, as they were typed; a date or the name of an input
    file is one as well."""

    finds: tuple[str, str, str]
    """Requests in other words than the goal's that must find the ability."""

    near_misses: tuple[str, str, str]
    """Requests that share words with it but ask for something else: another verb, object or direction."""

    other: Callable[[Path], None]
    """Fills another folder of the same kind, with other contents and where it is natural other names."""

    other_values: Mapping[str, str]
    """The value to give each parameter on that folder, by its demonstrated value."""

    check: Callable[[Path], None]
    """Asserts that the folder ``other`` prepared holds the right result after the ability was tried on it."""

    unproved: tuple[str, ...] = field(default=())
    """Commands that no sandbox can carry out (network, window, privileges), by their first word."""
