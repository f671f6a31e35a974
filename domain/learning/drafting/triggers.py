"""Generate trigger phrases and negative triggers of a skill, and the queries that test them.

The ability matcher finds by whole phrases and shared words and excludes by negative triggers (DOC3 §0C.11C).
Every example made here is checked against that same matcher before it is kept (DOC3 §1.1P, rows P-42).
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from pydantic import Field

from contracts.base import Contract, Text240
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from domain.abilities.matching import (
    TITLE_WEIGHT,
    TRIGGER_PHRASE_WEIGHT,
    WORDS_NEEDED,
    PreparedQuery,
    negative_match,
    split_words,
    trigger_match,
)
from domain.learning.commands.operations import SYNONYMS
from domain.learning.interpretation.inference import DEFAULT_EXCLUSIONS
from domain.learning.interpretation.naming import cut_at_word, lower_first, plain, starts_with_verb

MAX_PHRASES = 8
"""The most trigger phrases a draft makes up."""

PHRASE_LIMIT = 120
"""The most characters of a trigger phrase."""

CASES_OF_A_KIND = 3
"""The fewest positive, negative and paraphrase examples (DOC3 §1.1P, rows P-26)."""

_MOST_NEGATIVES = 6
_EXCLUSION_LEAD = re.compile(
    r"^(?:(?:please\s+)?(?:do not|don't|don’t|never|not)\s+)?(?:use\s+(?:it|this|this skill)?\s*)?"
    r"(?:for|when|if|in case of|in case)?\s*"
    r"(?:(?:someone|somebody|anyone|a person|the user|you|people|they|i|we)\s+(?:only\s+)?"
    r"(?:asks?|wants?|needs?|are asked|is asked|am asked|says?)\s*(?:only\s+)?(?:to|for|that)?)?\s*",
    re.IGNORECASE,
)
_EVERYDAY = (
    "What's tomorrow's weather?", "Book dinner Friday evening", "Translate my letter",
    "Who won yesterday's match?", "Turn down heating", "Call my dentist", "Recommend good novels",
    "How tall is Mont Blanc?", "Play quiet music", "Set an alarm at seven", "Tell me something funny",
    "Where did I park?",
)  # fmt: skip
_PARAPHRASES = (
    "Could you {0} for me?",
    "I need you to {0} again, please",
    "It's that time again: {0}",
    "Same as last time, {0}",
)
_COURTESY = ("help me ", "please ", "I ", "i ")
_PARAPHRASES_OF_A_NAME = (
    "Could you do this for me: {0}",
    "I need the usual {0}",
    "It's time again: {0}",
    "Same as last time, {0}",
)


class TriggerTestCase(Contract):
    """One example of what a person may say, and whether the skill should answer (rows P-42)."""

    input: Text240
    should_trigger: bool
    kind: str = Field(pattern="^(positive|negative|paraphrase)$")


def trigger_phrases(
    interpretation: SemanticWorkflowInterpretation,
    verbs: Sequence[str],
    results: Sequence[str] = (),
    hints: Sequence[str] = (),
) -> tuple[str, ...]:
    """Three to eight wordings of the wish, terse and in lower case; hints from a person come first.

    ``results`` are the files that a request may name.
    """
    title = _phrase(interpretation.title)
    goal = _phrase(interpretation.goal_summary)
    subject = _object_of(title, verbs)
    candidates = [_phrase(h) for h in hints]
    candidates.append(title)
    if goal != title and len(goal) <= 60:
        candidates.append(goal)
    candidates += [f"make {posixpath.basename(path)}" for path in results[-2:] if len(path) <= 60]
    if subject:
        candidates += [f"{verb} {subject}" for verb in verbs[-2:]]
        candidates += [f"{SYNONYMS[v]} {subject}" for v in verbs[-2:] if v in SYNONYMS]
    candidates += [f"{opening} {title}" for opening in _openings(title)]
    kept: list[str] = []
    for candidate in candidates:
        phrase = cut_at_word(candidate, PHRASE_LIMIT).strip()
        if phrase and phrase not in kept:
            kept.append(phrase)
    return tuple(kept[:MAX_PHRASES])


def negative_triggers(
    interpretation: SemanticWorkflowInterpretation, phrases: Sequence[str]
) -> tuple[str, ...]:
    """Short wordings out of the non-use conditions that give away another wish.

    The matcher shuts out whatever contains one. So a wording that occurs in a trigger phrase, in the title or
    in a paraphrase of them is left out, and so is one too short or too long to be said like that.
    """
    protected = " \n ".join([*phrases, interpretation.title, *_paraphrases(phrases)]).lower()
    found: dict[str, None] = {}
    for condition in interpretation.non_use_conditions:
        known = next((d.phrases for d in DEFAULT_EXCLUSIONS if d.condition == condition), None)
        for wording in (_core(condition),) if known is None else [phrase for phrase, _ in known]:
            if 4 <= len(wording) <= 60 and len(wording.split()) <= 7 and wording not in protected:
                found[wording] = None
    return tuple(found)[:MAX_PHRASES]


def trigger_cases(
    title: str, phrases: Sequence[str], negatives: Sequence[str], verbs: Sequence[str] = ()
) -> tuple[TriggerTestCase, ...]:
    """At least three examples of each kind that the matcher gets right; fewer only where it cannot.

    An example that ought to call the skill must reach it through words alone, whatever its lane and scope.
    One that ought not must either hold a negative trigger or share too few words to count.
    """
    wanted = [p[:1].upper() + p[1:] for p in phrases]
    reworded = _paraphrases(phrases)
    subject = _object_of(_phrase(title), verbs) or "results"
    others = [*(_near_miss(n, subject) for n in negatives), *_EVERYDAY]
    positive = [q for q in wanted if _weight(q, title, phrases, negatives) >= TRIGGER_PHRASE_WEIGHT]
    paraphrase = [q for q in reworded if _weight(q, title, phrases, negatives) >= TRIGGER_PHRASE_WEIGHT]
    negative = [q for q in others if _weight(q, title, phrases, negatives) <= 0]
    return (
        *_cases(positive, "positive", MAX_PHRASES),
        *_cases(paraphrase, "paraphrase", 4),
        *_cases(_mixed(negative, len(negatives)), "negative", _MOST_NEGATIVES),
    )


def edited_phrases(edits: Mapping[str, object], name: str) -> tuple[str, ...] | None:
    """The phrases a person has set for ``name``, if any (already checked by ``check_edits``)."""
    return tuple(cast("Sequence[str]", edits[name])) if name in edits else None


def _cases(queries: Iterable[str], kind: str, most: int) -> list[TriggerTestCase]:
    return [
        TriggerTestCase(input=cut_at_word(q, 240), should_trigger=kind != "negative", kind=kind)
        for q in list(dict.fromkeys(queries))[:most]
    ]


def _mixed(negative: Sequence[str], triggers: int) -> list[str]:
    """Near misses first, but always some that have nothing to do with the skill."""
    near = [q for q in negative if q not in _EVERYDAY][: min(triggers, CASES_OF_A_KIND)]
    return [*near, *(q for q in negative if q in _EVERYDAY)]


def _weight(query: str, title: str, phrases: Sequence[str], negatives: Sequence[str]) -> float:
    """What the query's words alone earn with the matcher: trigger and title; 0 where it is shut out."""
    prepared = PreparedQuery.of(query)
    if prepared.blank or negative_match(prepared, [n.lower() for n in negatives]) is not None:
        return 0.0
    lowered = [p.lower() for p in phrases]
    match = trigger_match(prepared, [(p, split_words(p)) for p in lowered])
    in_title = sum(word in title.lower() for word in prepared.words)
    return (match.weight if match else 0.0) + (TITLE_WEIGHT if in_title >= WORDS_NEEDED else 0.0)


def _paraphrases(phrases: Sequence[str]) -> list[str]:
    found: list[str] = []
    bare = [p for p in phrases if not p.startswith(_COURTESY)]
    for position, phrase in enumerate(bare[: len(_PARAPHRASES)]):
        templates = _PARAPHRASES if starts_with_verb(phrase) else _PARAPHRASES_OF_A_NAME
        found.append(templates[position].format(lower_first(phrase)))
    if phrases:
        templates = _PARAPHRASES if starts_with_verb(phrases[0]) else _PARAPHRASES_OF_A_NAME
        found += [t.format(lower_first(phrases[0])) for t in templates[1:]]
    return found


def _openings(title: str) -> tuple[str, ...]:
    return ("help me", "please") if starts_with_verb(title) else ("run", "do", "start")


def _phrase(text: str) -> str:
    return cut_at_word(lower_first(plain(text).rstrip(" .!?;:")), PHRASE_LIMIT)


def _object_of(title: str, verbs: Sequence[str]) -> str:
    """What the title's verbs act on; empty where the title is not made of those verbs."""
    words = title.replace(",", "").split()
    while words and (words[0] in verbs or words[0] == "and"):
        words.pop(0)
    return " ".join(words) if len(words) < len(title.split()) and 1 <= len(words) <= 5 else ""


def _near_miss(negative: str, subject: str) -> str:
    """A sentence that sounds like the skill and holds the negative trigger."""
    known = {phrase: example for d in DEFAULT_EXCLUSIONS for phrase, example in d.phrases}
    if negative in known:
        return known[negative].format(subject)
    wish = negative if starts_with_verb(negative) else f"now the same for {negative}"
    return wish[:1].upper() + wish[1:]


def _core(condition: str) -> str:
    """The part of a non-use condition that a request would contain."""
    text = plain(condition).rstrip(" .!?;:").lower()
    return _EXCLUSION_LEAD.sub("", text, count=1).strip(" ,'\"“”")
