"""Telling a random string from a word, a path, a version or a commit: secrets no rule knows by name.

Entropy over single characters cannot do it (a long file name scores as high as a key), so what is measured is
how often the kind of character changes and how often letters meet that meet in words: people write in words,
generators do not.
"""

import re
from itertools import pairwise

MIN_LENGTH = 20
"""Characters; a shorter run is never judged, because too many harmless ones look random."""

_RUN = re.compile(r"[A-Za-z0-9+/_=~.-]{20,}")
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d.-])")
_CARD_NUMBER = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|6(?:011|5\d\d|4[4-9]\d|2\d\d)\d{12,15}"
    r"|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_GIT_COMMIT = 40
_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# (characters a kind, share of common pairs): a mixed-case token below both bounds of a line is random.
_MIXED_CASE_BOUNDS = ((3.0, 0.66), (3.4, 0.56))
_WORDLIKE_CHUNK = 3.0
_WORDLIKE_PAIRS_ONE_CASE = 0.5
_FEWEST_PAIRS = 6
# The letters that often follow each letter in words and identifiers; random ones do so one time in four.
_FOLLOWERS = (
    "abcdgilmnprstu baeilou caehiklortu daeios eacdefglmnprstvx faefio geir haeio iabcdefglmnoprstvz ke "
    "ladeilostuy maeiop nacdefgiost obcdglmnoprstuw paeiloprst qu racdeimorstuy sacehilopstu tacehilorstuy "
    "ubeilmnprst vaei wai yp ze"
)
_COMMON_PAIRS = frozenset(f[0] + c for f in _FOLLOWERS.split() for c in f[1:])
_DIGEST_LABELS = ("sha256", "sha512", "sha384", "sha1", "md5")


def secret_runs(text: str) -> list[tuple[int, int]]:
    """Where ``text`` holds random-looking runs or card numbers, as (start, end), left to right."""
    found = [(m.start() + a, m.start() + b) for m in _RUN.finditer(text) for a, b in _parts(m, text)]
    found += [(m.start(), m.end()) for m in _CARD.finditer(text) if is_card_number(m.group())]
    found.sort()
    return [span for i, span in enumerate(found) if i == 0 or span[0] >= found[i - 1][1]]


def is_card_number(number: str) -> bool:
    """Whether ``number`` (spaces, hyphens ignored) has an issuer's prefix and length and a right check digit.

    The prefix matters: one in ten times in milliseconds would pass the check digit alone.
    """
    digits = re.sub(r"[ -]", "", number)
    if not _CARD_NUMBER.fullmatch(digits):
        return False
    values = [int(c) for c in reversed(digits)]
    doubled = (2 * v - 9 if v > 4 else 2 * v for v in values[1::2])
    return (sum(values[::2]) + sum(doubled)) % 10 == 0


def looks_random(token: str) -> bool:
    """Whether a generator rather than a person wrote ``token`` (letters, digits, ``+ / - _ =``)."""
    if len(token) < MIN_LENGTH:
        return False
    if _HEX.fullmatch(token):
        return len(token) != _GIT_COMMIT
    letters_and_digits = [c for c in token if c.isalnum()]
    letters = sum(map(str.isalpha, letters_and_digits))
    if (
        letters * 5 < len(letters_and_digits) * 2
        or len(token) - len(letters_and_digits) > len(token) // 8 + 2
    ):
        return False
    wordlike = _share_of_common_pairs(token.lower())
    run_length = len(letters_and_digits) / len(_CHUNK.findall(token))
    if token.islower() or token.isupper():
        hyphenated = len(token) - len(letters_and_digits) > 1
        return wordlike < _WORDLIKE_PAIRS_ONE_CASE and (run_length < _WORDLIKE_CHUNK or not hyphenated)
    return any(run_length < runs and wordlike < pairs for runs, pairs in _MIXED_CASE_BOUNDS)


def _parts(match: re.Match[str], text: str) -> list[tuple[int, int]]:
    """The random parts of one run, relative to its start: all of it, or single segments of an address."""
    run = match.group()
    if _UUID.search(run) and not _UUID.sub("", run).strip("-_./="):
        return []
    if _names_a_file(run, text, match.start()):
        return []
    whole = _trimmed(run, 0)
    separate = re.split(r"[/.=~]", run)
    if "/" not in run or max(map(len, separate)) < 12 or len(run) < 8 * len(separate):
        spans = [(m.start(), m.end()) for m in re.finditer(r"[A-Za-z0-9_+-]{20,}=*", run)]
    else:
        spans = [whole]
    return [
        s
        for s in spans
        if not _is_known(run[s[0] : s[1]], text, match.start() + s[0]) and looks_random(run[s[0] : s[1]])
    ]


def _trimmed(run: str, start: int) -> tuple[int, int]:
    left = len(run) - len(run.lstrip("-./="))
    return start + left, start + len(run.rstrip("./-"))


def _names_a_file(run: str, text: str, start: int) -> bool:
    """A path is where somebody keeps a thing, not the thing; it stays readable."""
    if run.startswith(("/", "./", "../", "~/")) and not text.startswith("//", start):
        return True
    before = text[:start]
    return bool(re.search(r"[A-Za-z]:\\$|\\$", before)) or bool(
        "/" in run and re.search(r"\.[A-Za-z][A-Za-z0-9]{0,7}$", run) and not before.endswith("://")
    )


def _is_known(token: str, text: str, start: int) -> bool:
    """Commits, UUIDs and labelled digests identify public things."""
    if _UUID.fullmatch(token):
        return True
    label = text[max(0, start - 8) : start].lower().rstrip(":=-")
    return bool(_HEX.fullmatch(token)) and label.endswith(_DIGEST_LABELS)


def _share_of_common_pairs(token: str) -> float:
    """How much of ``token`` (lower case) reads like words, 0 to 1; 0 where too few letters meet to tell."""
    pairs = [a + b for a, b in pairwise(token) if a.isalpha() and b.isalpha()]
    if len(pairs) < _FEWEST_PAIRS:
        return 0.0
    return sum(p in _COMMON_PAIRS for p in pairs) / len(pairs)
