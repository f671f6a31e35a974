"""Checks of content: words that offend, claims without a source, copied text, limits of the platform (O-10, O-20).

Each says what it found, and what it cannot see is said once as info. They are rules over words and numbers: they know
no context, no irony and no picture.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from contracts.skills.content import ContentIssue, ContentPackage
from domain.skills.content.platform_limits import LIMITS

OFFENSIVE_WORDS: Mapping[str, tuple[str, ...]] = {
    "en": ("fuck", "fucking", "motherfucker", "shit", "bullshit", "bitch", "bastard", "asshole", "cunt", "whore",
           "slut", "retard", "retarded", "faggot"),
    "de": ("scheiße", "arschloch", "hurensohn", "fotze", "wichser", "schlampe", "missgeburt"),
    "fr": ("putain", "connard", "connasse", "salope", "enculé"),
    "es": ("mierda", "puta", "cabrón", "gilipollas", "pendejo"),
}  # fmt: skip
"""Words that no post has, by language; all of them are looked for, whatever the language."""

CLAIMS: tuple[tuple[str, str, str], ...] = (
    (r"\b(?:cures?|heals?|reverses?)\s+(?:\w+\s+)?(?:cancer|diabetes|autism|depression|covid\S*|hiv|aids)\b", "error",
     "claims a cure"),
    (r"\bguaranteed?\s+(?:\w+\s+)?(?:returns?|profits?|income|results?|wins?)\b", "error", "guarantees a gain"),
    (r"\b100\s?%\s*(?:safe|effective|accurate|risk[- ]free)\b", "error", "claims certainty"),
    (r"\brisk[- ]free\s+(?:\w+\s+)?(?:returns?|investments?|profits?)\b", "error", "claims gain without risk"),
    (r"\bdoctors?\s+(?:don'?t|do not)\s+want\s+you\s+to\s+know\b", "error", "claims a hidden truth"),
    (r"\b(?:government|media|elites?)\s+(?:is|are)\s+(?:hiding|covering\s+up)\b", "error", "claims a hidden truth"),
    (r"\b(?:scientists?|experts?|researchers?|studies|science)\s+(?:have\s+|has\s+)?(?:prove[nsd]?|confirm\w*|shows?)\b",
     "warning", "names no source for what was proven"),
    (r"\b(?:\d{1,3}(?:[.,]\d+)?\s?%|\d+\s+(?:out\s+of|in)\s+\d+)\s+of\s+\w+", "warning",
     "names no source for a number"),
    (r"\beverybody\s+knows\b|\bit\s+is\s+(?:a\s+)?(?:well[- ])?known\s+fact\b", "warning",
     "claims what everybody knows"),
)  # fmt: skip
"""Patterns of claims, how grave they are, and what they do; a warning needs no source where one is given."""

_SOURCE = re.compile(r"https?://|\baccording\s+to\b|\bsource:", re.IGNORECASE)
_RIGHTS = re.compile(r"©|\(c\)\s*\d{4}|\ball\s+rights\s+reserved\b|℗", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

RUN_OF_WORDS = 8
"""So many words in a row are no coincidence."""

RULES = ("check_offensive_language", "check_misinformation", "check_copyright", "check_platform_compliance")

MOST_ISSUES = 100


def offensive_words(text: str, banned: Sequence[str] = ()) -> tuple[str, ...]:
    """The words of a text that offend, or are banned; each once."""
    words = [*_WORD.findall(text.casefold())]
    known = {word for listed in OFFENSIVE_WORDS.values() for word in listed}
    found = [word for word in words if word in known]
    line = f" {' '.join(words)} "
    said = (" ".join(_WORD.findall(one.casefold())) for one in banned)
    found += [one for one in said if one and f" {one} " in line]
    return tuple(dict.fromkeys(found))


def text_of(content: ContentPackage) -> str:
    """All words of a piece of content."""
    return "\n".join((content.script, *content.captions, *content.hashtags))


def check_content(
    content: ContentPackage, rules: Mapping[str, bool], published: Sequence[tuple[str, str]]
) -> tuple[ContentIssue, ...]:
    """What the checks that are switched on find; ``published`` are own posts: their content id and text."""
    found = list[ContentIssue]()
    if rules.get(RULES[0], True):
        found += _offensive(content)
    if rules.get(RULES[1], True):
        found += _claims(content)
    if rules.get(RULES[2], True):
        found += _copied(content, published)
    if rules.get(RULES[3], True):
        found += _compliance(content)
    return tuple(found[:MOST_ISSUES])


def confidence(issues: Sequence[ContentIssue]) -> float:
    """One score for all checks: the product over them of 1 - 0.5 an error, 0.9 a warning, 0.99 an info (O-10)."""
    score = 1.0
    for rule in dict.fromkeys(issue.rule for issue in issues):
        grave = [issue.severity for issue in issues if issue.rule == rule]
        errors = max(0.0, 1 - 0.5 * grave.count("error"))
        score *= errors * 0.9 ** grave.count("warning") * 0.99 ** grave.count("info")
    return round(score, 2)


def _offensive(content: ContentPackage) -> Iterator[ContentIssue]:
    for word in offensive_words(text_of(content)):
        shown = f"{word[0]}{'*' * (len(word) - 1)}"
        yield ContentIssue(rule=RULES[0], severity="error", message=f"It has the offensive word {shown}.")


def _claims(content: ContentPackage) -> Iterator[ContentIssue]:
    text = text_of(content)
    sourced = _SOURCE.search(text) is not None
    for pattern, severity, what in CLAIMS:
        if severity == "warning" and sourced:
            continue
        if re.search(pattern, text, re.IGNORECASE):
            yield ContentIssue(rule=RULES[1], severity=severity, message=f"It {what}.")


def _copied(content: ContentPackage, published: Sequence[tuple[str, str]]) -> Iterator[ContentIssue]:
    text = text_of(content)
    if _RIGHTS.search(text):
        yield ContentIssue(rule=RULES[2], severity="warning", message="It names rights of others.")
    own = _runs(text)
    for content_id, other in published:
        if content_id != content.content_id and own & _runs(other):
            yield ContentIssue(
                rule=RULES[2],
                severity="warning",
                message=f"It has {RUN_OF_WORDS} words in a row from the post {content_id}.",
            )


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return {tuple(words[at : at + RUN_OF_WORDS]) for at in range(len(words) - RUN_OF_WORDS + 1)}


def _compliance(content: ContentPackage) -> Iterator[ContentIssue]:
    rule = RULES[3]
    for address in content.media_urls:
        if not _is_web(address):
            yield ContentIssue(
                rule=rule,
                severity="error",
                message="VALIDATION_ERROR: a medium has no address of the web, so it cannot be looked at.",
            )
    limits = LIMITS.get(content.platform or "")
    if limits is None:
        named = (
            "names no platform" if not content.platform else "is for a platform whose limits are not known"
        )
        yield ContentIssue(rule=rule, severity="info", message=f"It {named}; no limits were checked.")
        return
    for number, caption in enumerate(content.captions, start=1):
        if len(caption) > limits.caption_chars:
            text = f"Caption {number} has {len(caption)} characters; {content.platform} takes {limits.caption_chars}."
            yield ContentIssue(rule=rule, severity="error", message=text)
    counts = (
        ("hashtags", len(content.hashtags), limits.hashtags),
        ("media", len(content.media_urls), limits.media),
    )
    for what, number, most in counts:
        if number > most:
            text = f"It has {number} {what}; {content.platform} takes {most}."
            yield ContentIssue(rule=rule, severity="error", message=text)


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
