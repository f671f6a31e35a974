"""Reduced forms of a command line: a stage of a pipeline, an option or a part of a list left out.

Leaving out a whole command mostly shows only that its file is missing. A reduced command still makes the file, so that
"is sorted" is broken by the missing ``sort`` alone. Texts that cannot be taken apart safely have no reduced forms.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from domain.learning.commands.command_line import SHELLS, name_set
from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands

MOST_FOR_ONE_COMMAND = 12
"""Reduced forms of one command line."""

_SHAPING = name_set(
    "awk cut egrep fgrep grep gawk head mawk nl paste perl rev sed shuf sort tac tail tr uniq column jq"
)
"""Programs that hand on a text: replaced by ``cat``, the pipeline still works."""
_ONE_TEXT = name_set("sort uniq head tail tac shuf nl rev")
"""Of them those that take files as operands and nothing else."""
_AFTER_SCRIPT = name_set("awk egrep fgrep gawk grep mawk sed")
"""Of them those whose first operand is a script or a pattern, and the others files."""
_WITH_VALUES = {
    "sort": "kotST",
    "head": "nc",
    "tail": "nc",
    "uniq": "fsw",
    "cut": "dfbc",
    "sed": "ef",
    "awk": "Fv",
    "mawk": "Fv",
    "gawk": "Fv",
    "nl": "bsvw",
}
"""The letters of options that take a value."""
_OPTIONAL = name_set(
    "chmod column comm cp cut diff grep egrep head join ls mkdir nl paste sed sort tail tr uniq wc"
)
"""Programs whose options are left out in turn."""
_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "time", "{"})
_TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\\\n)|(?P<comment>(?<![^\s;&|()])\#[^\n]*)|(?P<end>&&|\|\||;;|[;\n&()])|(?P<pipe>\|&?)
    |(?P<redirection>\d*(?:>>|>\||>&|<&|<<<|<<|&>>|&>|[<>](?!\())[ \t]*)
    |(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>'"\\`]|\\\n)+)""",
    re.VERBOSE | re.DOTALL,
)
_UNSAFE = re.compile(r"`|\$\(|<<|<\(|>\(|\$'|\bcase\b|\bfunction\b")
_OPTION = re.compile(r"-[A-Za-z]\S*|--[a-z][\w-]*(?:=\S*)?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_IN_PLACE = re.compile(r"-[a-zA-Z]*[iefr].*|--\S*")
"""Options of programs with a script that change what their operands are."""
_BUNDLE = re.compile(r"-[A-Za-z]{2,6}")
_RUNS_SCRIPT = re.compile(r"-[a-z]*c")
_QUOTED_AS_IT_IS = re.compile(r"'[^']*'|\"[^\"\\$`]*\"")
"""A word in quotes that the shell hands on as it stands between them."""


@dataclass(frozen=True)
class Reduction:
    """A command line with a part left out, and that part."""

    command: str
    words: str
    """What was left out, for people."""


@dataclass(frozen=True)
class _Piece:
    kind: str
    text: str
    begin: int
    end: int


@dataclass(frozen=True)
class _Stage:
    """One command of a pipeline: its words and redirections, by their places in the text."""

    pieces: tuple[_Piece, ...]
    is_fed: bool

    @property
    def words(self) -> list[_Piece]:
        """Its words without those of redirections."""
        found: list[_Piece] = []
        skips = False
        for piece in self.pieces:
            if piece.kind == "redirection":
                skips = True
            elif skips:
                skips = False
            else:
                found.append(piece)
        while found and _ASSIGNMENT.match(found[0].text):
            found.pop(0)
        return found


def reductions(command: str) -> tuple[Reduction, ...]:
    """The reduced forms of a command line: stages, options, parts of a list, then those of its scripts."""
    stages = _stages(command)
    found = [
        *_without_stages(command, stages),
        *_without_options(command, stages),
        *_without_parts(command),
        *_within_scripts(command, stages),
    ]
    readable = (one for one in dict.fromkeys(found) if one.command != command and _is_readable(one.command))
    return tuple(readable)[:MOST_FOR_ONE_COMMAND]


def _is_readable(command: str) -> bool:
    try:
        return bool(split_commands(command))
    except UnreadableCommand:
        return False


def _pieces(command: str) -> list[_Piece] | None:
    """The pieces of the line; ``None`` where it holds what this does not take apart."""
    found: list[_Piece] = []
    at = 0
    while at < len(command):
        piece = _TOKEN.match(command, at)
        if piece is None:
            return None
        at = piece.end()
        kind = piece.lastgroup or ""
        if kind not in ("space", "comment"):
            found.append(_Piece(kind, piece.group(), piece.start(), piece.end()))
    return found


def _stages(command: str) -> list[_Stage]:
    # Quoted text may hold anything; what is outside of quotes may not.
    if _UNSAFE.search(re.sub(r"'[^']*'", "''", command)):
        return []
    found: list[_Stage] = []
    pieces: list[_Piece] = []
    is_fed = False
    for piece in (*(_pieces(command) or ()), _Piece("end", "", len(command), len(command))):
        if piece.kind in ("end", "pipe"):
            if pieces:
                found.append(_Stage(tuple(pieces), is_fed))
            pieces, is_fed = [], piece.kind == "pipe"
        elif piece.kind == "word" and not pieces and piece.text in _KEYWORDS:
            continue
        else:
            pieces.append(piece)
    return found


def _within_scripts(command: str, stages: list[_Stage]) -> Iterator[Reduction]:
    """The line with its scripts (``sh -c '…'``, behind whatever runs the shell) reduced."""
    for stage in stages:
        for shell, option, script in zip(stage.words, stage.words[1:], stage.words[2:], strict=False):
            is_script = shell.text.rpartition("/")[2] in SHELLS and _RUNS_SCRIPT.fullmatch(option.text)
            if not is_script or not _QUOTED_AS_IT_IS.fullmatch(script.text):
                continue
            mark = script.text[0]
            for inner in reductions(script.text[1:-1]):
                text = f"{command[: script.begin]}{mark}{inner.command}{mark}{command[script.end :]}"
                yield Reduction(text, inner.words)


def _program(stage: _Stage) -> str:
    words = stage.words
    return words[0].text.rpartition("/")[2] if words else ""


def _without_stages(command: str, stages: list[_Stage]) -> Iterator[Reduction]:
    for stage in stages:
        program = _program(stage)
        words = stage.words
        if program not in _SHAPING or not (stage.is_fed or program in _ONE_TEXT | _AFTER_SCRIPT):
            continue
        if program in _AFTER_SCRIPT and any(_IN_PLACE.fullmatch(word.text) for word in words[1:]):
            continue
        operands = [] if stage.is_fed else _operands(program, words)
        kept = {id(word) for word in operands}
        begin, end = words[0].begin, words[-1].end
        # Redirections stay where they are.
        rest = [p for p in stage.pieces if begin <= p.begin < end and (p not in words or id(p) in kept)]
        text = " ".join(["cat", *(piece.text.rstrip() for piece in rest)])
        if (target := _target(program, words)) is not None:
            # Sorted into its own file it would be emptied.
            text = ":" if target in {one.text for one in operands} else f"{text} > {target}"
        yield Reduction(command[:begin] + text + command[end:], f"“{_shown(stage)}”")


def _operands(program: str, words: list[_Piece]) -> list[_Piece]:
    found: list[_Piece] = []
    takes_value = False
    for word in words[1:]:
        if takes_value:
            takes_value = False
        elif word.text.startswith("-"):
            takes_value = len(word.text) == 2 and word.text[1] in _WITH_VALUES.get(program, "")
        else:
            found.append(word)
    return found[1:] if program in _AFTER_SCRIPT else found


def _target(program: str, words: list[_Piece]) -> str | None:
    """The file that ``sort -o`` writes."""
    texts = [word.text for word in words]
    if program != "sort" or "-o" not in texts[:-1]:
        return None
    return texts[texts.index("-o") + 1]


def _shown(stage: _Stage) -> str:
    text = " ".join(word.text for word in stage.words)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _without_options(command: str, stages: list[_Stage]) -> Iterator[Reduction]:
    for stage in stages:
        program, words = _program(stage), stage.words
        if program not in _OPTIONAL:
            continue
        for place, word in enumerate(words[1:], start=1):
            if word.text == "--":
                break
            if not _OPTION.fullmatch(word.text):
                continue
            begin, end = word.begin, word.end
            with_value = _WITH_VALUES.get(program, "")
            if len(word.text) == 2 and word.text[1] in with_value and place + 1 < len(words):
                end = words[place + 1].end
            elif _BUNDLE.fullmatch(word.text) and not set(word.text[1:]) & set(with_value):
                for letter in dict.fromkeys(word.text[1:]):
                    text = f"{command[:begin]}{word.text.replace(letter, '', 1)}{command[end:]}"
                    yield Reduction(text, f"the option -{letter} of {program}")
                continue
            shown = command[begin:end] if end - begin <= 60 else f"{command[begin : begin + 59]}…"
            yield Reduction(f"{command[:begin]}{command[end:]}", f"the option “{shown}” of {program}")


def _without_parts(command: str) -> Iterator[Reduction]:
    """A list such as ``a && b; c`` without one of its parts, where it is nothing but a list."""
    if _UNSAFE.search(re.sub(r"'[^']*'", "''", command)):
        return
    pieces = _pieces(command) or []
    if any(
        piece.text in ("(", ")", "&", ";;", "||") or piece.text in _KEYWORDS | {"for", "}"}
        for piece in pieces
    ):
        return
    marks = [piece for piece in pieces if piece.kind == "end"]
    if not marks:
        return
    begins = [0, *(mark.end for mark in marks)]
    ends = [*(mark.begin for mark in marks), len(command)]
    for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        text = command[begin:end].strip()
        if text:
            # The part goes with the mark after it; the last one with the mark before it.
            cut = (begin, begins[place + 1]) if place < len(marks) else (marks[-1].begin, end)
            shown = text if len(text) <= 60 else f"{text[:59]}…"
            yield Reduction(command[: cut[0]] + command[cut[1] :], f"“{shown}”")
