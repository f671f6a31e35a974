"""Cut a file into the passages that rules look at: sentences of prose, statements of code, comments.

Each passage knows its line and what leads up to it (heading, the sentence before a list or a fence, the name that a
list of constants is given), since the same words are an order in one place and a warning in another.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import itemgetter

from domain.imports.scanner.searching import words_in

MAX_PASSAGE = 4_000
"""Longer passages (minified scripts) are looked at in pieces of this many characters."""

_OVERLAP = 300

_LANGUAGES = {
    **dict.fromkeys(("sh", "bash", "zsh", "fish", "ksh", "command", "shell", "console", "terminal"), "sh"),
    **dict.fromkeys(("py", "pyw", "python", "python3", "ipynb"), "py"),
    **dict.fromkeys(
        ("js", "mjs", "cjs", "ts", "tsx", "jsx", "javascript", "typescript", "html", "htm"), "js"
    ),
    **dict.fromkeys(("ps1", "psm1", "powershell", "pwsh"), "ps"),
    **dict.fromkeys(("bat", "cmd", "batch"), "bat"),
    **dict.fromkeys(
        ("rb", "ruby", "php", "pl", "perl", "lua", "go", "rs", "java", "swift", "c", "cpp"), "other"
    ),
    **dict.fromkeys(
        ("json", "yaml", "yml", "toml", "ini", "cfg", "xml", "plist", "csv", "xsd", "xsl", "svg", "css"),
        "data",
    ),
    **dict.fromkeys(("yar", "yara", "sigma", "rules"), "signatures"),
}
PROGRAMS = frozenset({"py", "js", "other"})
"""Languages in which a command is a text that has to be handed to something that runs it."""

_PROSE = frozenset({"md", "mdx", "markdown", "txt", "rst", "adoc", ""})
_COMMENT = re.compile(r"^\s*(?:#(?!!)|//|/\*|\*(?:\s|/)|--\s|;;|REM\b|::|<!--)\s?(.*)$", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_IN_WORD = re.compile(r"(?<=\w)(?:\"\"|'')(?=\w)|\$\{IFS\}|\$IFS\b")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([\w+-]*)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')*_]{0,3}\s+(?=[A-Z\"'(*_`\[<!\d-])|(?<=[:;])\s{2,}")
_HOLDER = re.compile(
    r"^\s*(?:export\s+)?(?:const\s+|let\s+|var\s+|static\s+|"
    r"final\s+)?[\"']?([\w$.-]{1,80})[\"']?[^=:\n]{0,60}(?::=|=|:)\s*(?:\w+\()?[\[({]"
)


class Kind(StrEnum):
    """What sort of text a passage is."""

    PROSE = "prose"
    CODE = "code"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a statement. ``lead`` are the words that introduce it; ``block`` counts what stands together."""

    line: int
    text: str
    kind: Kind
    language: str
    block: int
    lead: str = ""
    heading: str = ""
    listed: bool = False
    fenced: bool = False
    words: frozenset[str] = frozenset()
    """The words of searches that it holds, as ``passages`` finds them; without any no rule can match."""


def plain(text: str) -> str:
    """``text`` as a program would read it: compatibility forms folded, unseen characters and empty quotes gone."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
    return _IN_WORD.sub(lambda found: " " if found[0].startswith("$") else "", text)


def language_of(extension: str, text: str) -> str:
    """The language of a file: by its first line where that names an interpreter, else by its extension."""
    if text.startswith("#!"):
        first = text.split("\n", 1)[0]
        for name in ("python", "node", "deno", "bun", "ruby", "perl", "php"):
            if name in first:
                return _LANGUAGES.get(name, "js" if name in ("node", "deno", "bun") else "other")
        return "sh"
    return "md" if extension in _PROSE else _LANGUAGES.get(extension, "other")


def passages(extension: str, text: str) -> tuple[Passage, ...]:
    """All passages of a file, in its order."""
    language = language_of(extension, text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = (
        _Prose(lines).passages()
        if language == "md"
        else _code(list(enumerate(lines, 1)), language, 0, "", "", fenced=False)
    )
    pieces = [(one, text) for one in found for text in _in_pieces(one.text)]
    words = words_in([text for _, text in pieces])
    return tuple(replace(one, text=text, words=held) for (one, text), held in zip(pieces, words, strict=True))


def _in_pieces(text: str) -> Iterator[str]:
    if len(text) <= MAX_PASSAGE:
        yield text
        return
    for start in range(0, len(text), MAX_PASSAGE - _OVERLAP):
        yield text[start : start + MAX_PASSAGE]


class _Prose:
    """Reads Markdown line by line: what is open (paragraph, list), and what leads up to it."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._place = 0
        self._block = 0
        self._heading = self._lead = ""
        self._paragraph: list[tuple[int, str]] = []
        self._in_list = False

    def passages(self) -> Iterator[Passage]:
        while self._place < len(self._lines):
            line = self._lines[self._place]
            self._place += 1
            if fence := _FENCE.match(line):
                yield from self._fence(fence)
            elif title := _HEADING.match(line):
                yield from self._title(title)
            else:
                yield from self._line(line)
        yield from self._flush()

    def _line(self, line: str) -> Iterator[Passage]:
        if not line.strip():
            yield from self._flush()
            if not _continues(self._lines, self._place):
                self._next_block()
        elif item := _ITEM.match(line):
            yield from self._flush()
            self._in_list = True
            self._paragraph.append((self._place, item[1]))
        elif line.lstrip().startswith("|"):
            yield from self._flush()
            said = plain(line)
            yield Passage(
                self._place, said, Kind.PROSE, "md", self._block, self._lead, self._heading, listed=True
            )
        else:
            self._in_list = self._in_list and (bool(self._paragraph) or line.startswith((" ", "\t")))
            self._paragraph.append((self._place, line))

    def _flush(self) -> Iterator[Passage]:
        said = list(_sentences(self._paragraph))
        for line, sentence in said:
            yield Passage(
                line, plain(sentence), Kind.PROSE, "md", self._block, self._lead, self._heading, self._in_list
            )
        if said and not self._in_list:
            self._lead = said[-1][1]
        self._paragraph.clear()

    def _next_block(self) -> None:
        self._block += 1
        self._in_list = False

    def _title(self, title: re.Match[str]) -> Iterator[Passage]:
        yield from self._flush()
        self._next_block()
        # The first heading names the file, and says nothing of each part.
        self._heading, self._lead = (title[2] if len(title[1]) > 1 else ""), ""
        yield Passage(self._place, plain(title[2]), Kind.PROSE, "md", self._block)
        self._block += 1

    def _fence(self, fence: re.Match[str]) -> Iterator[Passage]:
        yield from self._flush()
        self._block += 1
        inside: list[tuple[int, str]] = []
        while self._place < len(self._lines) and not self._lines[self._place].lstrip().startswith(fence[1]):
            inside.append((self._place + 1, self._lines[self._place]))
            self._place += 1
        self._place += 1
        tag = fence[2].lower()
        language = "sh" if not tag else "md" if tag in _PROSE else _LANGUAGES.get(tag, "other")
        yield from _code(inside, language, self._block, self._lead, self._heading, fenced=True)
        self._block += 1


def _continues(lines: list[str], place: int) -> bool:
    """Whether a list goes on within three lines of this empty one."""
    following = next((line for line in lines[place : place + 3] if line.strip()), "")
    return _ITEM.match(following) is not None


def _sentences(paragraph: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    if not paragraph:
        return
    starts: list[tuple[int, int]] = []
    length = 0
    for number, line in paragraph:
        starts.append((length, number))
        length += len(line.strip()) + 1
    joined = " ".join(line.strip() for _, line in paragraph) + " "
    at = 0
    for piece in (*_SENTENCE.finditer(joined), None):
        end = piece.start() if piece else len(joined)
        sentence = joined[at:end].strip()
        if sentence:
            yield starts[bisect_right(starts, at, key=itemgetter(0)) - 1][1], sentence
        at = piece.end() if piece else end


def _code(
    lines: list[tuple[int, str]], language: str, block: int, lead: str, heading: str, *, fenced: bool
) -> Iterator[Passage]:
    held, holder, depth = "", "", 0
    first, docstring = 0, False
    for number, line in lines:
        quotes = line.count('"""') + line.count("'''") if language == "py" else 0
        comment = _COMMENT.match(line)
        if docstring or (comment and language != "md") or (quotes and line.lstrip()[:3] in ('"""', "'''")):
            docstring = docstring != (quotes % 2 == 1)
            said = comment[1] if comment else line.strip("\"' ")
            yield Passage(number, plain(said), Kind.COMMENT, language, block, lead, heading, fenced=fenced)
            continue
        first = first or number
        held += line
        if held.endswith("\\") and language in ("sh", "other", "md"):
            held = held[:-1] + " "
            continue
        if held.rstrip().endswith(("|", "&&")) and language in ("sh", "ps"):
            held += " "
            continue
        if depth <= 0:
            opened = _HOLDER.match(held)
            holder = opened[1] if opened else ""
            depth = 0
        depth += sum(map(held.count, "[({")) - sum(map(held.count, "])}"))
        if held.strip():
            introduced = f"{lead} {holder}".strip() if holder else lead
            yield Passage(first, plain(held), Kind.CODE, language, block, introduced, heading, fenced=fenced)
        held, first = "", 0
        if depth <= 0:
            holder = ""
    if held.strip():
        yield Passage(first, plain(held), Kind.CODE, language, block, lead, heading, fenced=fenced)
