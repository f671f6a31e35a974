"""Tools that a skill's frontmatter asks for, where they are more than any skill needs."""

import re
from collections.abc import Iterator

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, WARNS, Found

_BLOCK = re.compile(r"^\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n---|\Z)", re.DOTALL)
_KEY = re.compile(r"^(?:allowed[-_]tools|allowedTools|tools)\s*:[ \t]*(.*)$", re.IGNORECASE)
_SPLITS = re.compile(r",\s*(?![^(]*\))|\s+(?![^(]*\))")
_EVERYTHING = re.compile(r"^(?:\*|\*\(\*\)|all|any|everything|\.\*)$", re.IGNORECASE)
_SHELL = re.compile(
    r"^(?:bash|shell|exec|terminal|run_?command|run_?terminal_?cmd|execute|powershell|computer)(?:\(\s*(?:\*|\*:\*|:\*)?\s*\))?$",
    re.IGNORECASE,
)
_ANY_COMMAND = re.compile(
    r"^\w+\(\s*(?:(?:ba|z|da)?sh|sudo|doas|su|env|xargs|eval|exec|rm|dd|mkfs|chmod|chown|kill|nc|ncat|socat|ssh|curl|wget|osascript|powershell|pwsh|cmd|"
    r"(?:python[\d.]*|node|perl|ruby|php)(?:\s+-(?:c|e|r))?)\s*(?::?\*|:\*|\s\*)?\s*\)$",
    re.IGNORECASE,
)
_ALL_OF_SERVERS = re.compile(r"^mcp__\*|^mcp:\*|^mcp__\w+__\*$", re.IGNORECASE)


def broad_tools(text: str) -> Iterator[Found]:
    """What the frontmatter of a SKILL.md asks for too broadly."""
    block = _BLOCK.match(text)
    if block is None:
        return
    lines = block[1].split("\n")
    for place, line in enumerate(lines):
        key = _KEY.match(line)
        if key is None:
            continue
        for number, tool in _tools(lines, place, key[1]):
            yield from _judged(tool, number + 2, lines[number])


def _tools(lines: list[str], place: int, value: str) -> Iterator[tuple[int, str]]:
    value = re.sub(r"\s#.*$", "", value).strip().strip("[]").strip()
    if value:
        whole = value.strip("\"'")
        yield from ((place, one.strip("\"' ")) for one in _SPLITS.split(whole) if one.strip("\"' "))
        return
    for number in range(place + 1, len(lines)):
        item = re.match(r"^\s*-\s+(.*)$", lines[number])
        if item is None:
            if lines[number].strip():
                return
            continue
        yield number, item[1].strip().strip("\"'")


def _judged(tool: str, line: int, quote: str) -> Iterator[Found]:
    if _EVERYTHING.match(tool):
        yield Found(
            ScanCode.BROAD_TOOLS, BLOCKS, line, quote, "Asks for every tool. Name those that the skill uses."
        )
    elif _SHELL.match(tool):
        yield Found(
            ScanCode.BROAD_TOOLS,
            WARNS,
            line,
            quote,
            "Asks for any command. Name the programs, as Bash(git status:*).",
        )
    elif _ANY_COMMAND.match(tool):
        yield Found(
            ScanCode.BROAD_TOOLS,
            WARNS,
            line,
            quote,
            "Asks for a program that can run any other or remove anything. Name what is done with it.",
        )
    elif _ALL_OF_SERVERS.match(tool):
        yield Found(
            ScanCode.BROAD_TOOLS,
            WARNS,
            line,
            quote,
            "Asks for all tools of a server. Name those that the skill uses.",
        )
