"""Redaction rules for secrets in command lines, headers, URLs and titles, and detection of random strings.

A rule is a regular expression behind a few literal triggers: a text without a trigger skips the expression. Only
the value is masked: names, options and hosts stay readable, as a demonstration is interpreted from them. Beside the
rules here are those by the names of values (``secret_names``), by the places where programs take a secret
(``program_secrets``) and for what is substituted in a file (``substitutions``).

Random strings without a telltale name are detected by how often the class of a character changes and how often
neighbouring letters meet in words. Entropy of single characters does not separate them: a long file name scores
as high as a key.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from domain.learning.redaction.program_secrets import (
    PROGRAM_TRIGGERS,
    IsPlain,
    IsSecretName,
    Span,
    program_secrets,
)
from domain.learning.redaction.secret_names import (
    MASK,
    NAME_TRIGGERS,
    QUOTED,
    TYPED_NAME_TRIGGERS,
    VALUE,
    is_no_secret,
    mask_named_values,
    mask_typed_values,
    masked_value,
    names_secret,
)
from domain.learning.redaction.substitutions import SUBSTITUTION_TRIGGERS, substitution_secrets

_UNMASKED = r"(?!\[MASKED\])"
_SCHEME = r"(?:(?:bearer|basic|token|digest|apikey|negotiate)(?:\s+|\\ ))"
_CREDENTIAL = rf"(?!\s|{_SCHEME}|\$\{{?\w+\}}?(?:[\s\"']|$)){_UNMASKED}"


def _second_group(match: re.Match[str]) -> str:
    return f"{match.group(1)}{masked_value(match.group(2))}"


def _after_first_group(match: re.Match[str]) -> str:
    return f"{match.group(1)}{MASK}"


def _whole(_match: re.Match[str]) -> str:
    return MASK


def _user_info(match: re.Match[str]) -> str:
    scheme, user, password = match.group(1), match.group(2), match.group(3)
    if password is not None:
        return match.group() if password in ("", MASK) else f"{scheme}{user}:{MASK}@"
    plain = re.fullmatch(r"[a-z_][a-z0-9._-]{0,31}|\[MASKED\]|\$\{?\w+\}?", user)
    return match.group() if plain else f"{scheme}{MASK}@"


@dataclass(frozen=True)
class SecretRule:
    """One kind of secret: its triggers in lower case, and the substitution that masks it."""

    triggers: tuple[str, ...]
    mask: Callable[[str], str]


def _rule(
    triggers: str,
    pattern: str,
    replace: Callable[[re.Match[str]], str],
    flags: re.RegexFlag = re.IGNORECASE,
) -> SecretRule:
    return SecretRule(tuple(triggers.split()), partial(re.compile(pattern, flags).sub, replace))


def _places(
    triggers: tuple[str, ...], find: Callable[[str, IsSecretName, IsPlain], list[Span]]
) -> SecretRule:
    def masked(text: str) -> str:
        done = len(text)
        for start, end in sorted(set(find(text, names_secret, is_no_secret)), reverse=True):
            if end <= done:
                text, done = f"{text[:start]}{MASK}{text[end:]}", start
        return text

    return SecretRule(triggers, masked)


_FIRST = (
    _rule(
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|.*)",
        _whole,
        re.IGNORECASE | re.DOTALL,
    ),
    _rule("://", r"\b([a-z][a-z0-9+.-]{0,30}://)([^\s/@:\"'<>]*)(?::([^\s/\"'<>]*))?@", _user_info),
    # Inside quotes a header runs to the closing quote; bare, it is a scheme and one word.
    _rule(
        "authorization cookie x-api-key x-auth-token",
        rf"((?<=[\"'])(?:proxy-)?(?:authorization|(?:set-)?cookie|x-api-key|x-auth-token)\s*[:=]\s*"
        rf"{_SCHEME}?){_CREDENTIAL}[^\"'\r\n]+",
        _after_first_group,
    ),
    _rule(
        "authorization cookie",
        rf"((?<![\w-])(?:proxy-)?(?:authorization|(?:set-)?cookie)\\?[\"']?\s*[:=]\s*\\?[\"']?"
        rf"{_SCHEME}?){_CREDENTIAL}[^\s\"'\\]+",
        _after_first_group,
    ),
    _rule(
        "bearer",
        rf"(\bbearer(?:\s+|%20|\\ )){_UNMASKED}(?=[a-z~+/=-]*[\d._]|\S{{24}})[a-z0-9._~+/=-]{{6,}}",
        _after_first_group,
    ),
    _rule(
        "basic",
        r"(\b[Bb]asic\s+)(?=[A-Za-z]*[0-9=+/]|[a-z]+[A-Z])[A-Za-z0-9+/]{8,}={0,2}",
        _after_first_group,
        re.NOFLAG,
    ),
)

_IN_COMMANDS = (
    _rule(
        "pass",
        rf"(\bexpect\s+[\"'{{][^\"'}}\n]*pass[^\n]{{0,40}}?\bsend\s+(?:--\s+)?)({QUOTED})",
        _second_group,
    ),
    _places(SUBSTITUTION_TRIGGERS, substitution_secrets),
    _places(PROGRAM_TRIGGERS, program_secrets),
    SecretRule(TYPED_NAME_TRIGGERS, mask_typed_values),
    _rule("key=", rf"((?<=[?&])key=){_UNMASKED}([^\s&\"'#]+)", _second_group),
    _rule(
        "identified",
        rf"(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)({QUOTED})",
        _second_group,
    ),
    _rule(
        "password",
        rf"(\b(?:with|encrypted|login|(?:user|role)\s+\S+)\s+password\s+)({QUOTED})",
        _second_group,
    ),
    _rule(
        "pass pwd",
        rf"((?<![a-z])(?:set|change|hash|make|update|reset)?_?(?:password|passwd|passphrase|pwd)\(\s*)({QUOTED})(?=\s*\))",
        _second_group,
    ),
    _rule(
        "setenvironmentvariable",
        rf"(setenvironmentvariable\(\s*[\"'][\w.-]*(?:key|pass|pwd|pw|secret|token|credential)\w*[\"']\s*,\s*)({QUOTED})",
        _second_group,
    ),
    _rule(
        "pass",
        rf"(\b(?:echo|printf)\s+(?:-\w+\s+)*[\"'](?:password|passwd|passphrase|pass)\s+){_UNMASKED}([^\s\"']+)(?=[\"'])",
        _second_group,
    ),
    _rule(
        "pass", rf"(\b(?:login|user|username)\s+\S+\s+pass(?:word)?\s+){_UNMASKED}([^\s\"']+)", _second_group
    ),
    _rule(
        "pass secret token key",
        rf"((?<![\w-])--?[\w-]{{0,40}}(?:pass|secret|token|key)[\w-]{{0,40}}[\s=]+<\(\s*(?:echo|printf)\s+){_UNMASKED}({VALUE})",
        _second_group,
    ),
    _rule(
        ".pgpass",
        rf"(\b[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:){_UNMASKED}([^\s:\"']+)(?=[\"']?\s*>)",
        _second_group,
    ),
    _rule(
        "pass pwd pw- pw_",
        r"((?<![a-z])(?:pass(?:wor[dt]s?|wd|phrase)?|pwd?|kennwort)[-_])(?!v?\d+\.)(?=[^\s.\"'/]{0,60}\d)(?=[^\s.\"'/]{0,60}[a-z])"
        r"([^\s.\"'/]{5,60})(?=\.[a-z]\w{0,4}\b)",
        _second_group,
    ),
)

_LAST = (
    _rule("pass:", rf"((?<![\w])pass:){_UNMASKED}[^\s\"']+", _after_first_group),
    _rule(
        "akia asia ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xox xapp- sk- sk_ rk_ pk_ whsec_ aiza ya29. gocspx- "
        "eyj glpat- gldt- npm_ pypi- hf_ sg. dop_v1_ shp sq0 age-secret-key- atatt hvs. dapi lin_api_ tskey- "
        "rubygems_ xkeysib- hooks.slack.com :aa",
        r"(?<![A-Za-z0-9])(?:A(?:KIA|SIA)[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[a-z]-[\w-]{10,}"
        r"|xapp-[\w-]{10,}|sk-(?=[A-Za-z_-]*\d)[\w-]{16,}|[srp]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}"
        r"|AIza[\w-]{30,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"
        r"|gl(?:pat|dt)-[\w-]{16,}|npm_\w{30,}|pypi-[\w-]{30,}|hf_\w{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_\w{30,}|shp[a-z]{2}_\w{20,}"
        r"|sq0[a-z]{3}-[\w-]{20,}|AGE-SECRET-KEY-\w{30,}|ATATT\w[\w=-]{20,}|hvs\.[\w-]{20,}|dapi[0-9a-f]{32}"
        r"|lin_api_\w{30,}|tskey-[\w-]{16,}|rubygems_\w{30,}|xkeysib-[\w-]{30,}|\d{8,10}:AA[\w-]{30,})"
        r"|(?<=hooks\.slack\.com/services/)[\w/]+",
        _whole,
        re.NOFLAG,
    ),
)

RULES: tuple[SecretRule, ...] = (*_FIRST, *_IN_COMMANDS, *_LAST)
"""In the order in which they are tried; a rule may rely on what an earlier one has masked."""

FILE_RULES: tuple[SecretRule, ...] = (*_FIRST, SecretRule(NAME_TRIGGERS, mask_named_values), *_LAST)
"""The rules for the content of files: of names only those that mean a secret in any text, and no commands."""


MIN_LENGTH = 20
"""Minimum length of a random run in characters: too many harmless shorter ones look random."""

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
    """Whether it is a path: the place of a secret, not the secret."""
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
    """The share of ``token`` (lower case) that reads like words, 0 to 1; 0 with too few pairs of letters."""
    pairs = [a + b for a, b in pairwise(token) if a.isalpha() and b.isalpha()]
    if len(pairs) < _FEWEST_PAIRS:
        return 0.0
    return sum(p in _COMMON_PAIRS for p in pairs) / len(pairs)
