"""Secrets in what ``sed`` and ``perl -p`` put in and take out: ``s/password: P/password: Q/``, ``s/CHANGEME/P/``.

A value stands behind the name of a secret on either side; or it is the whole of one side, where the other is a
placeholder (``__DB_PASSWORD__``, ``CHANGEME``), a word for removed text (``***``, ``[removed]``), or where the lines
are chosen by the name of a secret (``/^password/s/=.*/=P/``).
"""

import re
from collections.abc import Callable, Iterator

from domain.learning.redaction.command_pieces import Word, commands_in

SUBSTITUTION_TRIGGERS = ("sed ", "perl ", "ruby ")
"""A text without one of these, in lower case, holds no substitution."""

_PROGRAMS = frozenset({"sed", "gsed", "perl", "ruby"})
_SUBSTITUTION = re.compile(
    r"(?P<lines>/(?:[^/\\]|\\.)+/\s*|)(?<![A-Za-z_])s(?P<mark>[/|#@,!:~%])"
    r"(?P<old>(?:\\.|(?!(?P=mark))[^\n])*)(?P=mark)(?P<new>(?:\\.|(?!(?P=mark))[^\n])*)(?P=mark)"
)
_NAMED = re.compile(r"([\w.-]+)\\?[\"']?(?:\\s[*+]|\s)*[:=](?:\\s[*+]|\s)*\\?[\"']?")
_BRACKETS = " \t\\<>{}[]()$%@^_*'\""
_TO_FILL_IN = re.compile(
    r"change[_-]?me|replace[_-]?(?:me|this)|to[_-]?do|x{3,}|placeholder|your[_-][\w-]+|fill[_-]?me[_-]?in",
    re.IGNORECASE,
)
_REMOVED = re.compile(
    r"[*x.•#]{2,}|[\[<({]*(?:removed|redacted|hidden|masked|filtered|censored|secret|password)[\])}>]*",
    re.IGNORECASE,
)
_PATTERN_ONLY = re.compile(r"(?:\\[SswWdD]|[.*+?^$]|\[\^[^\]]*\]|\\?[(){}\d,|])*")

Span = tuple[int, int]
IsSecretName = Callable[[str], bool]
IsPlain = Callable[[str], bool]


def substitution_secrets(text: str, is_name: IsSecretName, is_plain: IsPlain) -> list[Span]:
    """Where a substitution in ``text`` takes out or puts in a secret."""
    return [
        span
        for command in commands_in(text)
        if any(word.program in _PROGRAMS for word in command.words)
        for word in command.words
        for span in _in_word(word, is_name, is_plain)
    ]


def _in_word(word: Word, is_name: IsSecretName, is_plain: IsPlain) -> Iterator[Span]:
    for match in _SUBSTITUTION.finditer(word.text):
        for side, other in (("old", "new"), ("new", "old")):
            start = _start(match, side, other, is_name)
            if start is None:
                continue
            secret = word.text[start : match.end(side)]
            if secret and not is_plain(secret) and not _PATTERN_ONLY.fullmatch(secret):
                yield word.start + start, word.start + match.end(side)


def _start(match: re.Match[str], side: str, other: str, is_name: IsSecretName) -> int | None:
    """Where the secret of one side begins, or None: it holds none."""
    text, against = match.group(side), match.group(other)
    for named in _NAMED.finditer(text):
        if is_name(named.group(1)):
            return match.start(side) + named.end()
    if is_name(text.strip()):
        return None
    if side == "new" and (_is_placeholder(against, is_name) or is_name(match.group("lines"))):
        return match.start(side) + (len(text) - len(text.lstrip(" =:")))
    if side == "old" and _REMOVED.fullmatch(against):
        return match.start(side)
    return None


def _is_placeholder(text: str, is_name: IsSecretName) -> bool:
    inner = text.strip(_BRACKETS)
    if _TO_FILL_IN.fullmatch(inner):
        return True
    return is_name(inner) and " " not in inner and (inner.isupper() or inner != text)
