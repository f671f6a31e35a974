"""The parts of a comparison: texts that several demonstrations share, with slots where they differ."""

from dataclasses import dataclass
from enum import StrEnum


class TextRole(StrEnum):
    """Where in an action a text stands."""

    COMMAND = "command"
    FOLDER = "folder"
    RESULT = "result"
    LABEL = "label"
    TARGET = "target"


@dataclass(frozen=True)
class Variable:
    """Something that differs: its value in each demonstration, in their order."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Slot:
    """A place that a variable fills; ``before`` and ``after`` stand only where it has a value."""

    variable: Variable
    before: str = ""
    after: str = ""

    def filled(self, value: str) -> str:
        """The text of this place with ``value``."""
        return f"{self.before}{value}{self.after}" if value else ""


@dataclass(frozen=True)
class ComparedText:
    """A text of one action: literal pieces and slots."""

    role: TextRole
    parts: tuple[str | Slot, ...]

    def said_in(self, demonstration: int) -> str:
        """The text as one demonstration has it."""
        return "".join(
            part if isinstance(part, str) else part.filled(part.variable.values[demonstration])
            for part in self.parts
        )

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The places where it varies."""
        return tuple(part for part in self.parts if isinstance(part, Slot))


@dataclass(frozen=True)
class ComparedAction:
    """One action that every demonstration has, with its number in each of them."""

    positions: tuple[int, ...]
    texts: tuple[ComparedText, ...]
