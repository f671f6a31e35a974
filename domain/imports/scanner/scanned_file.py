"""One file of a bundle as the scanner sees it."""

from dataclasses import dataclass

HEAD_BYTES = 64
"""How many first bytes of a file tell its kind."""


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file by its path inside the bundle; ``text`` is None when it is no UTF-8 text.

    ``head`` are its first bytes, at most 64: without them a file that is no text is judged by its name alone.
    """

    path: str
    text: str | None
    size: int
    executable: bool = False
    head: bytes = b""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def extension(self) -> str:
        """What stands after the last dot of the name, in lower case; empty without a dot."""
        return self.name.rsplit(".", 1)[-1].lower() if "." in self.name.lstrip(".") else ""
