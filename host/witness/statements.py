"""Statements about a changed state, in words: ``git: tag v1.2 exists``, ``report.sh is executable``."""

import re
from typing import NamedTuple

from contracts.base import clipped
from contracts.learning.witness import StateValue


class _Wording(NamedTuple):
    """Texts with ``{s}`` for the subject, ``{v}`` for the value and ``{1}`` for the part the aspect names."""

    aspect: re.Pattern[str]
    there: str
    gone: str


def _wording(aspect: str, there: str, gone: str) -> _Wording:
    return _Wording(re.compile(aspect, re.DOTALL), there, gone)


_WORDINGS = (
    _wording(r"kind", "{s} exists ({v})", "{s} is gone"),
    _wording(r"executable", "{s} is executable", "{s} is not executable any more"),
    _wording(r"permissions", "{s} has the permissions {v}", "{s} has no permissions"),
    _wording(r"size", "{s} has {v} bytes", "{s} has no size any more"),
    _wording(r"sha256", "{s} has the content with SHA-256 {v}", "{s} has no digest any more"),
    _wording(r"target", "{s} points to {v}", "{s} points nowhere any more"),
    _wording(r"content", "{s} holds {v}", "{s} holds nothing any more"),
    _wording(r"lines", "{s} has {v} lines", "{s} has no lines any more"),
    _wording(r"line ends", "{s} has the line ends {v}", "{s} has no CRLF line ends any more"),
    _wording(r"rows", "{s} has {v} rows", "{s} has no rows any more"),
    _wording(r"columns", "{s} has {v} columns", "{s} has no columns any more"),
    _wording(r"header", "{s} has the header {v}", "{s} has no header any more"),
    _wording(r"commit of (.+)", "{s}: {1} is at {v}", "{s}: {1} is gone"),
    _wording(r"message of (.+)", "{s}: {1} has the message {v}", "{s}: {1} has no message"),
    _wording(r"branch (.+)", "{s}: branch {1} exists", "{s}: branch {1} is gone"),
    _wording(r"tag (.+)", "{s}: tag {1} exists ({v})", "{s}: tag {1} is gone"),
    _wording(r"current branch", "{s}: the current branch is {v}", "{s}: there is no current branch"),
    _wording(r"under way", "{s}: {v} is under way", "{s}: nothing is under way"),
    _wording(r"commits", "{s} has {v} commits", "{s} has no commits"),
    _wording(r"merge commits", "{s} has {v} merge commits", "{s} has no merge commits"),
    _wording(r"last message", "{s}: the last commit says {v}", "{s}: there is no last commit"),
    _wording(r"tracked files", "{s} tracks {v} files", "{s} tracks no files"),
    _wording(r"conflicts", "{s} has {v} files in conflict", "{s} has no files in conflict"),
    _wording(
        r"uncommitted changes", "{s} has {v} files with uncommitted changes", "{s} has no uncommitted changes"
    ),
    _wording(r"tables", "{s} has {v} tables", "{s} has no tables any more"),
    _wording(r"table (.+): rows", "{s}: table {1} has {v} rows", "{s}: table {1} is gone"),
    _wording(r"table (.+): columns", "{s}: table {1} has the columns {v}", "{s}: table {1} is gone"),
    _wording(r"members", "{s} holds {v} members", "{s} holds no members any more"),
    _wording(r"member (.+)", "{s} holds {1}", "{s} does not hold {1} any more"),
    _wording(r"archive", "{s} is an archive ({v})", "{s} is no archive any more"),
    _wording(r"package (.+)", "{s} has {1} {v}", "{s} does not have {1} any more"),
    _wording(r"(.*dependency) (.+)", "{s} names the {1} {2} {v}", "{s} does not name the {1} {2} any more"),
)
_PLACE = re.compile(r"\{(\w)\}")
_ONE = re.compile(r"\b(has|tracks|holds) 1 (byte|line|row|column|commit|merge commit|file|table|member)s\b")
_SINGULAR = r"\1 1 \2"


def statement(subject: str, aspect: str, value: StateValue | None) -> str:
    """What holds of ``subject`` when ``aspect`` has ``value``, or has none any more."""
    for wording in _WORDINGS:
        if found := wording.aspect.fullmatch(aspect):
            texts = {str(n): group for n, group in enumerate(found.groups(), start=1)}
            texts |= {"s": subject, "v": _shown(value)}
            return clipped(_filled(wording.gone if value is None else wording.there, texts), 400)
    return clipped(f"{subject}: {aspect} is {'gone' if value is None else _shown(value)}", 400)


def _filled(text: str, texts: dict[str, str]) -> str:
    return _ONE.sub(_SINGULAR, _PLACE.sub(lambda place: texts[place[1]], text))


def _shown(value: StateValue | None) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
