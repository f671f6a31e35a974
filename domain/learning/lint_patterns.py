"""The patterns behind the checkpoint lint, one function a rule (decisions "Checkpoints").

Each answers with the offending piece of a text, or ``None``. They look for the spelling of machine references
and gestures, not for topics: prose about files, channels, ratios or years passes.
"""

import re
from collections.abc import Callable

from domain.learning.naming import is_verb
from domain.learning.redaction import MASK, redact

_FILE = r"(?!\.(?:[A-Za-z]\w{0,4}|parquet|feather|numbers|markdown|sqlite3?)(?![\w-]))"
_TAG = r"(?:div|span|button|input|form|table|tbody|thead|tr|td|ul|ol|li|nav|section|main|body|svg)"

_SELECTORS = tuple(
    re.compile(p)
    for p in (
        rf"(?<![\w./-])(?:div|span|btn|button|input|elem|element|ember|react|radix|mui|yui|ctl|ext-gen|mat-\w+)[-_]?\d{{2,}}{_FILE}(?![\w/])",
        r"(?<![\w&/])#(?![0-9a-fA-F]{3,8}\b)[A-Za-z][\w-]*[-_][\w-]+(?![\w-]| channel)",
        r"(?<![\w&/])#[a-z]+[A-Z]\w*",
        r"(?<![\w:/])\.//?\w+|(?<![\w:/.])/{1,2}html/body|(?<![\w:/])//[\w*-]+\s*\[",
        rf"(?<![\w:/])//(?:{_TAG}|a|p|img|h[1-6]|label|\*)(?![\w.-])",
        r"\bdata-(?:testid|test-id|qa|cy|automation-?id)\b|\bdata-test\s*=",
        r"\[\s*[@\w-]+\s*[~|^$*]?=\s*[\"'\w]",
        rf"(?<![\w./-])(?:div|span|button){_FILE}\.[A-Za-z][\w-]*",
        rf"(?<![\w./-]){_TAG}#[A-Za-z][\w-]*",
        rf"(?<![\w./-]){_TAG}\s*>\s*(?:{_TAG}\b|[.#]\w)",
        r"(?<!\w)\.[A-Za-z][\w-]*(?:__|--)[\w-]+|:nth-(?:child|of-type|last-child)\b|::(?:before|after)\b",
        r"\bquerySelector|\bgetElements?By|\baria-\w+\s*=|\b(?:css|xpath)\s*=",
    )
)
_PAIR = re.compile(r"\(\s*(-?\d{1,5}(?:\.\d+)?)\s*,\s*(-?\d{1,5}(?:\.\d+)?)\s*\)")
_COORDINATES = tuple(
    re.compile(p, re.IGNORECASE)
    for p in (
        r"\bx\s*[=:]\s*-?\d+(?:\.\d+)?\s*(?:px)?[\s,;]*(?:and\s+)?y\s*[=:]\s*-?\d+",
        r"\b(?:coordinates?|pixels?|screen position)\s*(?:of|at|is|are)?\s*:?\s*\(?\s*-?\d+\s*[,/x]\s*-?\d+",
        r"\b\d+\s*px\b[^.]{0,30}?\b\d+\s*px\b",
    )
)
_GESTURES = tuple(
    re.compile(p)
    for p in (
        r"(?i)\b(?:double|right|left|middle)[- ]?click\w*",
        r"(?i)(?:^|[.;:,>→-]\s*|\b(?:then|and|to|you|must|should|please|by)\s+)click(?:s|ing)?\b(?!-|\s+(?:rates?|reports?|counts?)\b)",
        r"(?i)\bclick(?:s|ed|ing)?\s+(?:on|the|it|here|this|that)\b|\bclick\s+[\"'“‘`]",
        r"\b[Cc]lick\s+[A-Z]",
        r"(?i)\b(?:press|hit|strike)(?:es|ing|ed)?\s+(?:the\s+)?(?:ctrl|control|cmd|command|alt|option|shift|enter|return|tab|esc(?:ape)?|space(?:bar)?|backspace|arrow|f\d{1,2})\b",
        r"(?i)\b(?:press|push|hit)(?:es|ing|ed)?\s+(?:on\s+)?the\s+(?:[\w-]+\s+){0,3}(?:button|key|icon)\b",
        r"(?i)\b(?:ctrl|cmd)\s*[+-]\s*\w|\b(?:alt|shift|option)\s*\+\s*\w|[⌘⌥⇧⌃]\s*\w",
        r"(?i)(?:^|\b(?:then|and|to|you|please)\s+)type\s+(?:[\"'“‘`]|.{1,60}\s(?:in|into)\b)",
        r"(?i)\bkey ?strokes?\b|\bmouse (?:over|down|up)\b|\bhover(?:s|ing)? over\b",
        r"(?i)\bdrag(?:s|ging)? .{1,60}?\b(?:to|onto|into)\b",
        r"(?i)(?:^|\b(?:then|and|to|you)\s+)(?:scroll (?:up|down|to)|swipe|tap (?:on|the)\b)",
    )
)
_WAITS = tuple(
    re.compile(p, re.IGNORECASE)
    for p in (
        r"\b(?:wait|sleep)(?:s|ing|ed)?\b(?:for|about|at least|another|around|up to|\(|\s)*\d+(?:\.\d+)?",
        r"\b(?:pause|delay)s?\s+(?:of|for)\s+(?:about\s+)?\d+(?:\.\d+)?\s*(?:m?s|milli\w*|sec\w*|min\w*|hours?)\b",
        r"\bwait(?:s|ing)?\s+(?:for\s+)?(?:some|a few|several|a)\s+(?:moments?|while|seconds?|minutes?)\b",
    )
)
_PERSONAL = (
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}"), "an e-mail address"),
    (re.compile(r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])"), "a social security number"),
    (
        re.compile(r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)\s?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])"),
        "a phone number",
    ),
    (re.compile(r"(?<![\w+])\+\d{1,3}(?:[ .()-]{0,2}\d{2,5}){2,5}(?![\w-])"), "a phone number"),
    (
        re.compile(
            r"(?i)\b(?:password|passwd|passphrase|passcode|secret|api[-_ ]?key|access[-_ ]?key|token|pin)\s*"
            r"(?:[=:]|\bis\b)\s*[\"'“]?(?=\S*[\d!@#$%^&*_])[^\s\"'”,;]{4,}"
        ),
        "a secret",
    ),
    (re.compile(r"(?:/(?:home|Users)/|\b[A-Za-z]:\\Users\\)[\w.-]+"), "a personal folder"),
)
_CARD = re.compile(r"(?<![\w.-])[2-6]\d{3}([ -]?)(?:\d{4}\1\d{4}\1\d{4}|\d{6}\1\d{5})(?![\w-])")

_STATE = re.compile(
    r"(?i)\b(?:is|are|was|were|has|have|exists?|contains?|holds?|shows?|appears?|matches|match|equals?|"
    r"includes?|displays?|remains?|reads|says|reports|returns?|opens in|passes|comes? out|can be|"
    r"no longer|visible|present|absent|empty|available|ready|complete|gone|there)\b"
)
_HEADLINE = re.compile(
    r"(?i)(?!(?:the|a|an|all|every|each|any|this|that)\b)(?:\w+ ){0,2}(?:\w{2,}ed|sent|made|done|built)[.!]?"
)
"""What follows the first word of a headline: a participle, few words before it and no article."""

_VAGUE = re.compile(
    r"(?i)(?:it(?:'s| is| has)? |everything(?:'s| is)? |all (?:is )?)?"
    r"(?:done|ok(?:ay)?|works?|worked|finished|success(?:ful)?|fine|good|completed?|tbd|n/?a|none)[.!]?"
)


def selector_in(text: str) -> str | None:
    """CKP-001: a piece that only a program of that one page understands (CSS, XPath, DOM or test id)."""
    return _first(_SELECTORS, text)


def coordinates_in(text: str) -> str | None:
    """CKP-002: a place on a screen. A pair of years, or of one-digit numbers, is none."""
    for match in _PAIR.finditer(text):
        values = [abs(float(g)) for g in match.groups()]
        years = all(1900 <= v <= 2100 for v in values)
        if max(values) >= 10 and not years:
            return match.group(0)
    return _first(_COORDINATES, text)


def gesture_in(text: str) -> str | None:
    """CKP-003: a click, a key or another gesture."""
    return _first(_GESTURES, text)


def no_outcome_in(text: str) -> str | None:
    """CKP-004: an order, or a word such as "done", where a state that can be looked at should be."""
    line = " ".join(text.split())
    if not line or _VAGUE.fullmatch(line):
        return line or "(empty)"
    first, _, rest = line.partition(" ")
    orders = is_verb(first) or first.lower() in ("go", "navigate", "ensure", "use")
    return first if orders and not _STATE.search(rest) and not is_headline(line) else None


def is_headline(text: str) -> bool:
    """Whether ``text`` is a state in headline style: "Export confirmed"."""
    return bool(_HEADLINE.fullmatch(text.partition(" ")[2]))


def personal_value_in(text: str) -> str | None:
    """CKP-005: what kind of secret or personal value the text holds. The value itself is not repeated."""
    if any(_is_card_number(m.group(0)) for m in _CARD.finditer(text)):
        return "a card number"
    known = next((kind for pattern, kind in _PERSONAL if pattern.search(text)), None)
    return known or ("a secret" if MASK in text or redact(text).masked_count else None)


def fixed_wait_in(text: str) -> str | None:
    """CKP-007: a wait for a length of time instead of for a state."""
    return _first(_WAITS, text)


Detector = Callable[[str], str | None]


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> str | None:
    return next((m.group(0).strip() for p in patterns if (m := p.search(text))), None)


def _is_card_number(text: str) -> bool:
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [d if i % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for i, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
