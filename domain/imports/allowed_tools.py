"""The names in ``allowed-tools`` of a skill: a text with spaces between them; with commas, as often met."""

from collections.abc import Iterator, Sequence

MOST_TOOLS = 200
"""The most names that are read."""


def split_tools(text: str) -> tuple[str, ...]:
    """The names in a text, apart at spaces and commas that are not in brackets: ``Bash(git add:*), Read``.

    Raises:
        ValueError: a bracket is not closed, or closed twice.
    """
    return tuple(name for name in _split(text) if name)


def joined_tools(names: Sequence[str]) -> str:
    """The one spelling of the specification: names with a space between them."""
    return " ".join(names)


def tool_of(name: str) -> str:
    """The tool without what it is restricted to: ``Bash`` of ``Bash(git add:*)``."""
    return name.partition("(")[0]


def _split(text: str) -> Iterator[str]:
    depth, found = 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            raise ValueError("a bracket is closed that was not opened")
        if depth == 0 and (character.isspace() or character == ","):
            yield found
            found = ""
        else:
            found += character
    if depth:
        raise ValueError("a bracket is not closed")
    yield found
