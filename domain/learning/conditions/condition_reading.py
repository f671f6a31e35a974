"""Reads conditions in words back: the sentences of ``condition_wording``, in reverse.

There is no second table of sentences. An example of each kind of condition is worded, and where its parts stand in the
sentence a person's parts are looked for. What is worded otherwise tomorrow is read otherwise too.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from contracts.base import clipped
from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.comparisons import (
    COMMON,
    DIFFERING,
    EQUAL_FILES,
    ONLY_SECOND,
    REPEATED,
    SINGLE,
    TREES,
    both,
)
from domain.learning.conditions.condition_wording import ENVIRONMENT, PACKAGE, condition
from domain.learning.conditions.conditions import TARGET
from domain.learning.conditions.orders import SEPARATORS, Order
from domain.learning.conditions.sort_orders import TO_THE_END, SortKey, SortOrder

THERE = "there"
"""The argument of a condition that a file exists, be it as it was before the work."""

_PATH, _OTHER, _TEXT, _ASPECT, _SECOND, _WORD = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\ue005"
_NUMBER, _LAST = 97001, 97002
"""Stand in the examples where a condition of a person has its own."""

_NAME = r"[^“”\"*]+?"
_PATTERN = r"[^“”\"*]*?\*[^“”\"]*?"
_PIECES: Mapping[str, str] = {
    f"{_PATH}*": rf"(?P<path>{_PATTERN})",
    _PATH: rf"(?P<path>{_NAME})",
    f"{_OTHER}*": rf"(?P<other>{_PATTERN})",
    _OTHER: rf"(?P<other>{_NAME})",
    _SECOND: rf"(?P<second>{_NAME})",
    f"“{_TEXT}”": r"[“„\"'‘](?P<text>.+)[”“\"'’]",
    _TEXT: r"(?P<text>.+)",
    _WORD: r"(?P<word>\S+)",
    _ASPECT: (
        r"(?P<aspect>(?:tag|branch|package) \S+|current branch|(?:merge )?commits|conflicts|uncommitted changes"
        r"|last message|under way|message of tag \S+|table \S+: (?:rows|columns))"
    ),
    str(_NUMBER): r"(?P<number>-?\d+)",
    str(_LAST): r"(?P<last>\d+)",
}
_MARK = re.compile("|".join(re.escape(mark) for mark in sorted(_PIECES, key=len, reverse=True)))

_LEADS = (
    ("The file ", r"(?:(?:the )?(?:file|archive|table|list|report|document|script) )"),
    ("Every file ", r"(?:(?:every|each) file |all files )"),
    ("No file ", r"no files? "),
)
"""Beginnings of sentences, and how else they are said."""

_OTHERWISE = (
    (re.compile(r"(?i)\bexists? and (?:is|are) not empty$"), "has been made and is not empty"),
    (re.compile(r"(?i)\b(?:contains?|includes?)\b(?= [“„\"'‘])"), "holds"),
    (re.compile(r"(?i)\bdoes(?: not|n['’]t) contain\b"), "does not hold"),
    (
        re.compile(r"(?i)\b(?:does(?: not|n['’]t) exist|is gone|has been removed|is no longer there)$"),
        "no longer exists",
    ),
    (re.compile(r"(?i)\bhas (?:the )?(?:mode|permission) (?=[0-7]{3})"), "has the permissions "),
)
"""What people say for what the sentences say."""

_EXISTS = re.compile(r"(?i)^(?P<what>.+?) (?:exists?|is there)$")
_OF_GIT = re.compile(r"(?i)^(?:the )?(?P<aspect>(?:tag|branch) \S+.*)$")
_SAID_TO_BE_ONE = re.compile(r"(?i)(?:(?:the|every|each|all|no) )?files? ")
_EXTENSION = re.compile(r"\.\w{1,8}$")


@dataclass(frozen=True)
class _Sentence:
    """A sentence as a pattern, and the condition that it is an example of."""

    pattern: re.Pattern[str]
    example: ProofCondition

    @property
    def varies(self) -> int:
        """How much of the sentence may be anything: the less, the more it says."""
        return self.pattern.groups


def read_condition(said: str, subjects: Sequence[str] = ("git",)) -> ProofCondition | None:
    """The condition that a sentence states; ``None`` where it is of no kind that can be checked.

    ``subjects`` are the repositories of the lesson, of which a tag or a branch is one where the sentence does not say.
    """
    text = " ".join(said.replace("`", "").split()).rstrip(".")
    for wording in _wordings(text, subjects):
        matches = ((one, one.pattern.fullmatch(wording)) for one in _sentences())
        found = [
            made
            for one, match in matches
            if match is not None
            and (made := _made(one.example, match.groupdict(), text, wording)) is not None
        ]
        if found:
            return found[0]
    return None


def _wordings(text: str, subjects: Sequence[str]) -> Iterator[str]:
    """The sentence, and what the table says for the same."""
    if of_git := _OF_GIT.match(text):
        aspect = of_git["aspect"]
        for subject in subjects[:1]:
            yield from _wordings(f"In {subject}, {aspect}", ())
    yield text
    said = text
    for pattern, instead in _OTHERWISE:
        said = pattern.sub(instead, said)
    if said != text:
        yield said
    if exists := _EXISTS.match(text):
        yield f"{exists['what']} is there"
        yield f"{exists['what']} has been made"


def _made(
    example: ProofCondition, parts: Mapping[str, str | None], text: str, wording: str
) -> ProofCondition | None:
    """The example with the parts that were said."""
    said, other = parts.get("path") or "", parts.get("other")
    if (second := parts.get("second")) is not None:
        other = both(other or "", second)
    if example.kind is not ConditionKind.STATE and not _names_file(said, wording):
        return None
    path = example.path.replace(f"{_PATH}*", said).replace(_PATH, said)
    path = path.replace(_ASPECT, parts.get("aspect") or "").replace(_WORD, parts.get("word") or "")
    argument = example.argument
    for mark, part in ((_TEXT, "text"), (str(_NUMBER), "number"), (str(_LAST), "last")):
        argument = argument.replace(mark, parts.get(part) or "")
    if example.kind is ConditionKind.EXISTS and wording != text:
        argument = THERE
    if max(len(path), len(other or "")) > 240 or len(argument) > 400:
        return None
    return example.changed(path=path, other=other, argument=argument, statement=clipped(text, 240))


def _names_file(path: str, wording: str) -> bool:
    """Whether a part names a file: said to be one, or by its extension; "The work is there" names none."""
    return _SAID_TO_BE_ONE.match(wording) is not None or (
        _EXTENSION.search(posixpath.basename(path)) is not None
        and not re.match(r"(?i)(?:the|an?|all) ", path)
    )


@cache
def _sentences() -> tuple[_Sentence, ...]:
    """Every sentence of the table, those with the least that varies first."""
    found = {_pattern(one.statement): one for one in reversed([*_of_files(), *_of_state()])}
    sentences = [_Sentence(re.compile(pattern, re.IGNORECASE), one) for pattern, one in found.items()]
    return tuple(sorted(sentences, key=lambda one: (one.varies, one.example.kind is ConditionKind.STATE)))


def _pattern(statement: str) -> str:
    lead = next(((said, pattern) for said, pattern in _LEADS if statement.startswith(said)), None)
    begin = ""
    if lead is not None:
        statement = statement.removeprefix(lead[0])
        begin = f"{lead[1]}?" if lead[0] == "The file " else lead[1]
    parts = _MARK.split(statement)
    marks = _MARK.findall(statement)
    body = "".join(
        re.escape(part) + _PIECES.get(mark, "") for part, mark in zip(parts, (*marks, ""), strict=True)
    )
    return begin + body


def _of_files() -> Iterator[ProofCondition]:
    """Every kind with every choice of its parts; what words them alike is one sentence."""
    for kind, others, arguments in _PARTS:
        for path, other, argument in product((f"{_PATH}*", _PATH), others, arguments):
            for is_new, stays in ((True, True), (False, False)):
                yield condition(kind, path, other=other, argument=argument, is_new=is_new, other_stays=stays)


def _of_state() -> Iterator[ProofCondition]:
    key = f"{_PATH}: {_ASPECT}"
    for argument in ("", "*", f"+{_NUMBER}", _TEXT):
        yield condition(ConditionKind.STATE, key, argument=argument)
    for aspect in (f"{PACKAGE}{_WORD}", ENVIRONMENT):
        yield condition(ConditionKind.STATE, f"{_PATH}: {aspect}", argument="*")
    for difference in ("0", "-1"):
        yield condition(ConditionKind.STATE, key, other=_OTHER, argument=difference)
    for link in (f"{_PATH}*", _PATH):
        yield condition(ConditionKind.STATE, f"{link}{TARGET}", argument=_TEXT)


def _orders() -> Iterator[Order | SortOrder]:
    """Orders by one key; what a person states by several is looked at by a person."""
    for descending, header in product((False, True), (0, 1)):
        for kind in ("text", "numbers"):
            yield Order("space", 0, kind, descending, header)
            for separator in SEPARATORS:
                yield Order(separator, _NUMBER, kind, descending, header)
        for kind in ("text", "folded", "sizes", "versions"):
            yield SortOrder("space", (SortKey(1, TO_THE_END, kind, descending),), header)
            for separator, to in product(SEPARATORS, (_NUMBER, _LAST, TO_THE_END)):
                yield SortOrder(separator, (SortKey(_NUMBER, to, kind, descending),), header)


def _relations(*names: str) -> tuple[str, ...]:
    """Each of the relations of rows, of whole lines and by one field."""
    fields = ("", *(f" {separator}:{_NUMBER}" for separator in SEPARATORS))
    return tuple(f"{name}{field}" for name, field in product(names, fields))


_NONE: tuple[str | None, ...] = (None,)
_PARTS = (
    (ConditionKind.NOT_EMPTY, _NONE, ("",)),
    (ConditionKind.EXISTS, _NONE, ("",)),
    (ConditionKind.ABSENT, _NONE, ("",)),
    (ConditionKind.DISTINCT_LINES, _NONE, ("",)),
    (ConditionKind.VALID_JSON, _NONE, ("",)),
    (ConditionKind.LINES_OF, (f"{_OTHER}*", _OTHER), ("",)),
    (ConditionKind.HEADER_OF, (f"{_OTHER}*", _OTHER), ("",)),
    (ConditionKind.HOLDS_TEXT, _NONE, (_TEXT,)),
    (ConditionKind.LACKS_TEXT, _NONE, (_TEXT,)),
    (ConditionKind.LACKS_WORD, _NONE, (_TEXT,)),
    (ConditionKind.MODE, _NONE, (str(_NUMBER), *map("".join, product("ugoa", "+-", "rwx")))),
    (ConditionKind.LINE_COUNT, _NONE, ("0", str(_NUMBER))),
    (ConditionKind.LINE_COUNT, (f"{_OTHER}*", _OTHER), ("0", "-1", "1", str(_NUMBER))),
    (ConditionKind.COLUMNS, _NONE, tuple(f"{separator}:{_NUMBER}" for separator in SEPARATORS)),
    (ConditionKind.SORTED, _NONE, tuple(order.argument for order in _orders())),
    (ConditionKind.MEMBERS_OF, (f"{_OTHER}*", _OTHER), ("",)),
    (ConditionKind.FILE_COUNT, (f"{_OTHER}*", _OTHER), ("0", "-1")),
    (ConditionKind.SAME_CONTENT, (f"{_OTHER}*", _OTHER), ("all", "")),
    (ConditionKind.COMPARES, (both(_OTHER, _SECOND),), (TREES, *_relations(ONLY_SECOND, COMMON, DIFFERING))),
    (ConditionKind.COMPARES, (_OTHER,), _relations(REPEATED, SINGLE)),
    (ConditionKind.COMPARES, (f"{_OTHER}*", _OTHER), (EQUAL_FILES,)),
)
"""The kinds of condition about files, with what each may be compared with and what its arguments may be."""
