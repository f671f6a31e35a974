"""The names in ``allowed-tools`` of a skill: a text with spaces between them; with commas, as often met.

At run time they bound the calls of tool servers that are made on behalf of the installed skill.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

MOST_TOOLS = 200
"""The most names that are read."""

TOOL_PERMISSION = "tool:"
"""What a permission of a capability's manifest begins with that stands for a name of ``allowed-tools``."""

AGENT_TOOLS = frozenset((
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "Glob", "Grep", "KillShell", "LS",
    "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Skill", "SlashCommand", "Task", "TodoRead",
    "TodoWrite", "WebFetch", "WebSearch", "Write",
))  # fmt: skip
"""Tools that agents bring themselves; no server has to be connected for them."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


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


def bounds_of(permissions: Iterable[str]) -> frozenset[str] | None:
    """The names that an installed skill is bound to, from its manifest; None where it names none, and is not bound."""
    named = frozenset(
        one.removeprefix(TOOL_PERMISSION) for one in permissions if one.startswith(TOOL_PERMISSION)
    )
    return named or None


def permits(bounds: frozenset[str], servers: Iterable[str], tool: str) -> bool:
    """Whether ``bounds`` let a tool of a server be called; ``servers`` are the names of that one server.

    A call is named ``tool``, ``server/tool``, ``server:tool`` or ``mcp__server__tool``, all tools of a server
    ``server:*``, ``mcp__server`` or ``mcp__server__*``, and everything ``*``. Other names permit nothing here: tools
    that agents bring themselves (``Bash``, ``Read``), what nobody knows, and a name with a restriction in brackets,
    since what a restriction means to a server's tool is not defined.
    """
    names = {"*"}
    if tool not in AGENT_TOOLS:
        names.add(tool)
    for server in servers:
        joined = f"mcp__{_NOT_IN_NAMES.sub('_', server)}"
        names |= {f"{server}/{tool}", f"{server}:{tool}", f"{server}:*"}
        names |= {joined, f"{joined}__*", f"{joined}__{_NOT_IN_NAMES.sub('_', tool)}"}
    return not names.isdisjoint(bounds)


def reaches(name: str, server: str) -> bool:
    """Whether a name of ``allowed-tools`` means a tool of a server, or all of them, in a spelling of ``permits``."""
    joined = f"mcp__{_NOT_IN_NAMES.sub('_', server)}"
    return name == joined or name.startswith((f"{server}/", f"{server}:", f"{joined}__"))


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
