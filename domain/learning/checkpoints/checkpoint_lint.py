"""Checkpoint lint, rules CKP-001 to CKP-008 (decisions "Checkpoints"; DOC3 §0C.9A rule 6, §0C.25 R11.2-22…27).

Checkpoints state what is true when a part of the work is done. A draft with an error may not become
``ready_for_review``; every finding proposes what to write instead. The patterns match the spelling of machine
references and gestures, not topics: prose about files, channels, ratios or years passes.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from contracts.base import clipped
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import CheckpointLintReport, LintFinding, LintSeverity, SkillDraft
from domain.learning.checkpoints.parameter_lint import unknown_parameters
from domain.learning.interpretation.statements import Said, said_by
from domain.learning.redaction.redaction import MASK, redact

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
    return None if said_by(line) is Said.STATE else line


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


_WORD = re.compile(r"[\w./-]+")
_FILLERS = frozenset(
    {"the", "a", "an", "now", "then", "is", "are", "be", "does", "do", "has", "have", "been", "it"}
)
_NEGATIONS = frozenset({"not", "no", "never", "longer", "without", "cannot"})
_OPPOSITES = {
    "absent": "exist",
    "missing": "exist",
    "gone": "exist",
    "deleted": "exist",
    "removed": "exist",
    "present": "+exist",
    "exists": "+exist",
    "exist": "+exist",
}
_ANTONYMS = {
    "closed": "open",
    "disabled": "enabled",
    "hidden": "visible",
    "off": "on",
    "unchecked": "checked",
    "deselected": "selected",
    "unselected": "selected",
    "unlocked": "locked",
    "stopped": "running",
    "offline": "online",
}


def same_state(first: str, second: str) -> bool:
    """Whether both state the same, spelling, articles and punctuation aside."""
    return _meaning(first, False) == _meaning(second, False)


def contradict(first: str, second: str, *, antonyms: bool = False) -> bool:
    """Whether one states what the other denies.

    Opposite words such as open and closed count only with ``antonyms``: a dialog may well be open at one
    checkpoint and closed at the next, but a lasting thing is not first there and then absent.
    """
    words, holds = _meaning(first, antonyms)
    other_words, other_holds = _meaning(second, antonyms)
    return words == other_words and holds != other_holds and bool(words)


@lru_cache(maxsize=512)
def _meaning(text: str, antonyms: bool) -> tuple[tuple[str, ...], bool]:
    """The words that carry the statement, and whether it affirms them."""
    holds = True
    words: list[str] = []
    cleaned = text.casefold().replace("n't", " not").replace("n’t", " not")
    for raw in _WORD.findall(cleaned):
        word = raw.strip("./-")
        if word in _NEGATIONS:
            holds = holds if word == "longer" else not holds
        elif word in _OPPOSITES:
            target = _OPPOSITES[word]
            holds = holds if target.startswith("+") else not holds
            words.append(target.lstrip("+"))
        elif antonyms and word in _ANTONYMS:
            holds = not holds
            words.append(_ANTONYMS[word])
        elif word and word not in _FILLERS:
            words.append(word)
    return tuple(words), holds


_FILE_NAME = "SKILL.md"
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$")


@dataclass(frozen=True)
class _Rule:
    rule: str
    detect: Detector
    message: str
    suggestion: str


_TEXT_RULES = (
    _Rule(
        "CKP-001",
        selector_in,
        "{found!r} is a selector; it says nothing to a person and breaks when the page changes.",
        "Name what can be seen: “The export dialog is open”, “The order appears in the list”.",
    ),
    _Rule(
        "CKP-002",
        coordinates_in,
        "{found!r} is a place on one screen; it means something else on any other.",
        "Describe the result: “The PDF format is selected”, not where its control was.",
    ),
    _Rule(
        "CKP-003",
        gesture_in,
        "{found!r} is a click or keystroke; a checkpoint leaves the way to its state open.",
        "State what is true afterwards: “The document is saved”, “The export is confirmed”.",
    ),
    _Rule(
        "CKP-005",
        personal_value_in,
        "The text holds {found}; it would be copied into the skill and shared with it.",
        "Name the kind of value: “the client's address”, “the account's key”; ask for it at run time.",
    ),
    _Rule(
        "CKP-007",
        fixed_wait_in,
        "{found!r} waits for a time; it is too short one day and too long the next.",
        "Name the state that ends the wait: “The report has finished loading”.",
    ),
)
_NO_OUTCOME = _Rule(
    "CKP-004",
    no_outcome_in,
    "{found!r} leaves no outcome that can be observed: it is an action or says too little.",
    "Say what exists, shows or holds once it is done: “The file report.pdf exists and is not empty”.",
)


def lint(
    interpretation: SemanticWorkflowInterpretation, draft: SkillDraft | None = None
) -> CheckpointLintReport:
    """Lints the checkpoints and success conditions, and the Checkpoints section of the draft's SKILL.md.

    ``passed`` is false when at least one finding is an error. An imported skill, which no session taught, has no
    checkpoints of ours: what its author wrote is shown as warnings and holds nothing up.
    """
    said = tuple(_markdown_findings(draft)) if draft is not None else ()
    if interpretation.learn_session_id is None:
        warned = tuple(one.changed(severity=LintSeverity.WARNING) for one in said)
        return CheckpointLintReport(passed=True, findings=warned)
    findings = [
        *_checkpoint_findings(interpretation),
        *_relation_findings(interpretation),
        *unknown_parameters(interpretation, draft),
        *said,
    ]
    return CheckpointLintReport(
        passed=all(f.severity is not LintSeverity.ERROR for f in findings), findings=tuple(findings)
    )


def is_semantic(text: str) -> bool:
    """Whether ``text`` could stand as a checkpoint's condition without a finding."""
    return not any(rule.detect(text) for rule in (*_TEXT_RULES, _NO_OUTCOME))


def may_be_named(text: str) -> bool:
    """Whether ``text`` holds no selector, coordinate, gesture, wait or personal value; it need not be a sentence."""
    return not any(rule.detect(text) for rule in _TEXT_RULES)


def _checkpoint_findings(interpretation: SemanticWorkflowInterpretation) -> Iterator[LintFinding]:
    if not interpretation.checkpoints:
        yield _finding(_NO_OUTCOME, "checkpoints", "no checkpoint")
    for checkpoint in interpretation.checkpoints:
        base = f"checkpoints/{checkpoint.checkpoint_id}"
        yield from _text_findings(checkpoint.goal, f"{base}/goal", LintSeverity.WARNING)
        yield from _text_findings(checkpoint.success_condition, f"{base}/success_condition")
    for position, condition in enumerate(interpretation.success_conditions):
        yield from _text_findings(condition, f"success_conditions/{position}")


def _text_findings(
    text: str, location: str, no_outcome: LintSeverity = LintSeverity.ERROR
) -> Iterator[LintFinding]:
    findings = tuple(_rule_findings(text, location))
    yield from findings
    # A selector or a gesture is no sentence: what its own finding says to write is a state already.
    if not findings and (found := _NO_OUTCOME.detect(text)):
        yield _finding(_NO_OUTCOME, location, found, no_outcome)


def _rule_findings(text: str, location: str) -> Iterator[LintFinding]:
    for rule in _TEXT_RULES:
        if found := rule.detect(text):
            yield _finding(rule, location, found)


def _relation_findings(interpretation: SemanticWorkflowInterpretation) -> Iterator[LintFinding]:
    checkpoints = interpretation.checkpoints
    for position, checkpoint in enumerate(checkpoints):
        location = f"checkpoints/{checkpoint.checkpoint_id}"
        for earlier in checkpoints[:position]:
            if earlier.checkpoint_id == checkpoint.checkpoint_id or same_state(
                earlier.success_condition, checkpoint.success_condition
            ):
                yield _relation(location, f"repeats {earlier.checkpoint_id}")
            elif contradict(earlier.success_condition, checkpoint.success_condition):
                yield _relation(location, f"contradicts {earlier.checkpoint_id}")
        if contradict(checkpoint.goal, checkpoint.success_condition):
            yield _relation(location, "has a goal and a success condition that contradict each other")
    conditions = interpretation.success_conditions
    for position, condition in enumerate(conditions):
        for other in range(position):
            if same_state(conditions[other], condition):
                yield _relation(f"success_conditions/{position}", f"repeats success_conditions/{other}")
            elif contradict(conditions[other], condition, antonyms=True):
                yield _relation(f"success_conditions/{position}", f"contradicts success_conditions/{other}")


def _relation(location: str, what: str) -> LintFinding:
    return LintFinding(
        rule="CKP-006",
        severity=LintSeverity.ERROR,
        location=location,
        message=f"This one {what}.",
        suggestion="Keep one of them, or say what sets them apart; leave out a state that does not last.",
    )


def _markdown_findings(draft: SkillDraft) -> Iterator[LintFinding]:
    text = next((f.content for f in draft.files if f.path == _FILE_NAME), "")
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        heading = _HEADING.match(line)
        if heading:
            inside = heading.group(1).casefold() == "checkpoints"
        elif inside and line.strip():
            yield from _rule_findings(line, f"{_FILE_NAME}:{number}")


def _finding(
    rule: _Rule, location: str, found: str, severity: LintSeverity = LintSeverity.ERROR
) -> LintFinding:
    return LintFinding(
        rule=rule.rule,
        severity=severity,
        location=location,
        message=clipped(rule.message.format(found=clipped(found, 80)), 240),
        suggestion=rule.suggestion,
    )
