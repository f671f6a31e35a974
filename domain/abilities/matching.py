r"""Score how well an ability matches a query (DOC3 §0C.11C, lines 1030-1138).

The document gives the algorithm as TypeScript and this follows it to the letter: the same comparisons, the
same order of the floating-point additions, its idea of white space (``\s``). Three things are decided here:

- the query is trimmed first, since the document's ``split(/\s+/)`` would make an empty word of a leading or
  trailing space, and an empty word is "in" every title;
- a blank query matches nothing;
- an unusable ability without a stated reason gets a generic one, where TypeScript would print ``undefined``.

A blank trigger phrase is contained in every query, so by the letter it would match everything: the builder in
``domain.abilities.availability`` lets none in.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from contracts.abilities.availability import AbilityAvailabilityEntry, CheckpointHealth, InstallLane
from contracts.abilities.lookup import INCLUDE_FROM_SCORE, ROUTE_FROM_SCORE, AbilityExplainMatchResponse
from contracts.base import clipped

TRIGGER_PHRASE_WEIGHT = 0.4
"""A trigger phrase holds the query, or the query holds it."""

TRIGGER_WORDS_WEIGHT = 0.2
"""The query shares two words with a trigger phrase."""

TITLE_WEIGHT = 0.2
"""Two words of the query occur in the title."""

PROJECT_SCOPE_WEIGHT = 0.15
"""The ability is scoped to the project asked from."""

GLOBAL_SCOPE_WEIGHT = 0.05
"""The ability is scoped to no project, or to all (``*``)."""

UNUSABLE_FACTOR = 0.5
"""An ability that cannot be used now is demoted, not left out."""

WORDS_NEEDED = 2
"""The fewest words that count as an overlap."""

LANE_WEIGHTS = {
    InstallLane.SHARED_PROMOTED: 0.1,
    InstallLane.APPROVED_WORKSPACE: 0.07,
    InstallLane.EXPERIMENTAL_PRIVATE: 0.03,
}
"""The lanes that may answer a lookup, and what each adds."""

_HEALTH_WEIGHTS = {CheckpointHealth.STRONG: 0.05, CheckpointHealth.WEAK: -0.05}

_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACES = re.compile(f"[{_SPACE}]+")
_OUTER_SPACE = re.compile(f"^[{_SPACE}]+|[{_SPACE}]+$")


@dataclass(frozen=True, slots=True)
class ScoredAbility:
    """One ability's score for one query, in [0, 1], with what it rests on."""

    ability_id: str
    score: float
    match_reasons: tuple[str, ...]
    install_lane: InstallLane
    usable_now: bool
    reason_unusable: str | None = None


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query in lower case, without outer space. ``words`` keeps repeats: each of them counts."""

    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> "PreparedQuery":
        """Prepares ``query``. A blank one has no words."""
        text = _OUTER_SPACE.sub("", query.lower())
        return cls(text, split_words(text) if text else ())

    @property
    def blank(self) -> bool:
        """Whether nothing was asked."""
        return not self.words


@dataclass(frozen=True, slots=True)
class TriggerMatch:
    """The first trigger phrase that answers: its position, and the shared words (0: the phrase itself)."""

    position: int
    shared_words: int

    @property
    def weight(self) -> float:
        """What it adds to the score."""
        return TRIGGER_WORDS_WEIGHT if self.shared_words else TRIGGER_PHRASE_WEIGHT


def split_words(text: str) -> tuple[str, ...]:
    """``text.split(/\\s+/)`` as ECMAScript does it: outer space leaves empty words."""
    return tuple(_SPACES.split(text))


def trigger_match(
    query: PreparedQuery, phrases: Iterable[tuple[str, Collection[str]]]
) -> TriggerMatch | None:
    """The first of the lower-case ``phrases`` (each with its words) that answers ``query``."""
    text, words = query.text, query.words
    for position, (phrase, phrase_words) in enumerate(phrases):
        if phrase in text or text in phrase:
            return TriggerMatch(position, 0)
        shared = sum(map(phrase_words.__contains__, words))
        if shared >= WORDS_NEEDED:
            return TriggerMatch(position, shared)
    return None


def negative_match(query: PreparedQuery, negatives: Sequence[str]) -> int | None:
    """The position of the first lower-case negative trigger that ``query`` holds."""
    return next((i for i, negative in enumerate(negatives) if negative in query.text), None)


def scope_weight(ability: AbilityAvailabilityEntry, project_id: str | None) -> float:
    """What the ability's scope adds when asked from ``project_id``."""
    if project_id and project_id in ability.project_scopes:
        return PROJECT_SCOPE_WEIGHT
    return GLOBAL_SCOPE_WEIGHT if is_global(ability) else 0.0


def is_global(ability: AbilityAvailabilityEntry) -> bool:
    """Whether the ability is for every project."""
    return not ability.project_scopes or "*" in ability.project_scopes


def is_listed(ability: AbilityAvailabilityEntry) -> bool:
    """Whether any lookup lists the ability: installed in a lane that answers, and not switched off."""
    return ability.enabled and ability.install_lane in LANE_WEIGHTS


def total_score(words_weight: float, scope: float, ability: AbilityAvailabilityEntry) -> float:
    """Steps 4 to 7: adds scope, lane and checkpoint health, demotes the unusable, keeps within [0, 1]."""
    score = words_weight + scope
    score += LANE_WEIGHTS.get(ability.install_lane, 0.0)
    if ability.checkpoint_health is not None:
        score += _HEALTH_WEIGHTS.get(ability.checkpoint_health, 0.0)
    if not ability.usable_now:
        score *= UNUSABLE_FACTOR
    return min(1.0, max(0.0, score))


def score_match(
    query: str, ability: AbilityAvailabilityEntry, project_id: str | None = None
) -> ScoredAbility:
    """Scores one ability. Who may see it (lane, owner) is the lookup's matter, not the score's."""
    prepared = PreparedQuery.of(query)
    if prepared.blank:
        return _scored(ability, 0.0, ())
    negative = _negative_reason(prepared, ability)
    if negative is not None:
        return _scored(ability, 0.0, (negative,))

    words_weight = 0.0
    reasons: list[str] = []
    phrases = tuple(phrase.lower() for phrase in ability.trigger_phrases)
    trigger = trigger_match(prepared, ((phrase, split_words(phrase)) for phrase in phrases))
    if trigger is not None:
        words_weight += trigger.weight
        reasons.append(_trigger_reason(trigger, ability))
    title = ability.title.lower()
    in_title = sum(word in title for word in prepared.words)
    if in_title >= WORDS_NEEDED:
        words_weight += TITLE_WEIGHT
        reasons.append(f"title_match: {in_title} tokens")
    scope = scope_weight(ability, project_id)
    if scope == PROJECT_SCOPE_WEIGHT:
        reasons.append(f"project_scope_match: {project_id}")
    elif scope == GLOBAL_SCOPE_WEIGHT:
        reasons.append("global_scope")
    if not ability.usable_now:
        reasons.append(f"usable_now=false: {_why_unusable(ability)}")
    return _scored(ability, total_score(words_weight, scope, ability), tuple(reasons))


def explain(
    query: str, ability: AbilityAvailabilityEntry, project_id: str | None = None
) -> AbilityExplainMatchResponse:
    """Why the ability is or is not listed for ``query``.

    ``matched`` says that a lookup by somebody who may see the ability lists it, places permitting. Rejection
    reasons can stand beside a match: a listed ability may still not be routed to.
    """
    prepared = PreparedQuery.of(query)
    scored = score_match(query, ability, project_id)
    negative = None if prepared.blank else _negative_reason(prepared, ability)
    rejections: list[str] = []
    if prepared.blank:
        rejections.append("blank_query: say what is wanted")
    elif negative is not None:
        rejections.append(negative)
    if scored.score < INCLUDE_FROM_SCORE:
        rejections.append(f"below_threshold: {scored.score:.2f} < {INCLUDE_FROM_SCORE}")
    elif scored.score < ROUTE_FROM_SCORE:
        rejections.append(f"not_routed_to: {scored.score:.2f} < {ROUTE_FROM_SCORE}")
    if ability.install_lane not in LANE_WEIGHTS:
        rejections.append(f"lane_never_listed: {ability.install_lane}")
    if not ability.usable_now:
        rejections.append(f"not_usable_now: {_why_unusable(ability)}")
    return AbilityExplainMatchResponse(
        ability_id=ability.ability_id,
        matched=scored.score >= INCLUDE_FROM_SCORE and is_listed(ability),
        score=scored.score,
        match_reasons=() if negative is not None else _clipped(scored.match_reasons),
        rejection_reasons=_clipped(rejections),
    )


def _scored(ability: AbilityAvailabilityEntry, score: float, reasons: tuple[str, ...]) -> ScoredAbility:
    return ScoredAbility(
        ability_id=ability.ability_id,
        score=score,
        match_reasons=reasons,
        install_lane=ability.install_lane,
        usable_now=ability.usable_now,
        reason_unusable=ability.reason_unusable,
    )


def _negative_reason(query: PreparedQuery, ability: AbilityAvailabilityEntry) -> str | None:
    position = negative_match(query, [phrase.lower() for phrase in ability.negative_triggers])
    return None if position is None else f'negative_trigger_match: "{ability.negative_triggers[position]}"'


def _trigger_reason(match: TriggerMatch, ability: AbilityAvailabilityEntry) -> str:
    if match.shared_words:
        return f"trigger_partial_match: {match.shared_words} tokens"
    return f'trigger_phrase_match: "{ability.trigger_phrases[match.position]}"'


def _why_unusable(ability: AbilityAvailabilityEntry) -> str:
    return ability.reason_unusable or "no reason recorded"


def _clipped(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(clipped(reason, 240) for reason in reasons)
