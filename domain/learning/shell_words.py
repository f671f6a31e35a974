"""The parts of a shell command line, as ``shell_grammar`` reads them."""

from dataclasses import dataclass


class UnreadableCommand(ValueError):
    """The text is no complete shell command: a quote or bracket is left open, or it is nested too deep."""


@dataclass(frozen=True)
class Redirection:
    """An operator such as ``>`` and the word behind it."""

    operator: str
    target: str

    @property
    def writes(self) -> bool:
        """Whether it opens a file for writing."""
        return ">" in self.operator and not (self.operator == ">&" and self.target.lstrip("-").isdigit())


@dataclass(frozen=True)
class SimpleCommand:
    """The words between two operators, quotes removed, variables left as they are written."""

    words: tuple[str, ...]
    redirections: tuple[Redirection, ...] = ()
    fed_by_pipe: bool = False
    here_text: str | None = None
    """What a here-document or here-string gives it to read."""
