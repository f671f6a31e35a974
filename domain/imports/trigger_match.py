"""Would a text find an imported skill that is not installed yet? Asked of the matcher that routes agents.

DOC3 §0C.20, lines 3385-3405 (trigger test); §1.1P, lines 5890-5894 (the least cases); rows P-24, P-26. The import is
judged as it will stand at first: in its owner's private lane, beside the abilities that are installed and the decoys.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contracts.abilities.availability import IMPORTED_FAMILY, AbilityAvailabilityEntry
from contracts.abilities.lookup import AbilityFit, AbilityLookupQuery, Fit
from contracts.base import clipped
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from domain.abilities.trigger_tests import Beside, candidate_entry, index_of
from domain.imports.import_draft import phrases_of

CANDIDATE_PREFIX = "import."
"""What the id of an import starts with while it is tested; it has no ability's id yet."""

_ASKED = 500
_REASON = 240
_MOST_OVERLAPS = 20


@dataclass(frozen=True, slots=True)
class TriggerMatch:
    """Whether the candidate would be picked, how near the text is to it (0 to 1), and why or why not.

    ``ahead`` are the installed abilities that fit as well or better.
    """

    matched: bool
    score: float
    reasons: tuple[str, ...] = ()
    rejection_reasons: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlap:
    """An installed ability that answers triggers of the import as well or better than the import does."""

    ability_id: str
    title: str
    triggers: tuple[str, ...]


def import_candidate(skill: PortableSkillFrontmatter, owner_user_id: str) -> AbilityAvailabilityEntry:
    """The import as an ability of its owner; its description counts as what it is for."""
    ability_id = f"{CANDIDATE_PREFIX}{skill.name}"
    return candidate_entry(ability_id, owner_user_id, skill.title, IMPORTED_FAMILY, skill.name).changed(
        trigger_phrases=phrases_of(skill.triggers),
        negative_triggers=phrases_of(skill.negative_triggers),
        method=(clipped(skill.description, 400),) if skill.description.strip() else (),
    )


def trigger_match(
    text: str,
    candidate: AbilityAvailabilityEntry,
    others: Sequence[AbilityAvailabilityEntry] = (),
    *,
    project_id: str | None = None,
    beside: Beside | None = None,
) -> TriggerMatch:
    """Asks ``text`` as the candidate's owner would; ``others`` are the installed abilities.

    Its first 500 characters count: an agent's lookup takes no more. ``beside`` is the index of ``others``, with what
    else competes, where there is one already.
    """
    text = clipped(text, _ASKED)
    index = (beside or index_of(others))([candidate], _replaced(candidate, others))
    owner = candidate.owner_user_id
    judged = index.judged(text, candidate.ability_id, caller_user_id=owner)
    if judged is None or judged.fit is Fit.NO:
        why = judged.reasons if judged is not None else ("It is not enabled.",)
        score = judged.closeness if judged is not None else 0.0
        return TriggerMatch(matched=False, score=score, rejection_reasons=_reasons(why or ("Nothing fits.",)))
    asked = AbilityLookupQuery(user_query=text, project_id=project_id)
    ahead = _ahead(
        index.fitting(asked, caller_user_id=owner), candidate.ability_id, judged.fit, judged.closeness
    )
    return TriggerMatch(
        matched=not ahead,
        score=judged.closeness,
        reasons=_reasons(judged.reasons),
        rejection_reasons=_reasons(
            f"“{one.title}” ({one.ability_id}) fits as well or better: {one.fit.value}, {one.closeness:.2f}."
            for one in ahead
        ),
        ahead=tuple(one.ability_id for one in ahead),
    )


def overlaps(
    candidate: AbilityAvailabilityEntry,
    others: Sequence[AbilityAvailabilityEntry],
    beside: Beside | None = None,
) -> tuple[Overlap, ...]:
    """The installed abilities that an agent would be routed to by the import's own triggers, most triggers first."""
    index = (beside or index_of(others))([candidate], _replaced(candidate, others))
    answered: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for phrase in candidate.trigger_phrases:
        asked = AbilityLookupQuery(user_query=phrase)
        for one in index.fitting(asked, caller_user_id=candidate.owner_user_id):
            if one.fit is Fit.YES and one.ability_id != candidate.ability_id:
                answered.setdefault(one.ability_id, []).append(phrase)
                titles[one.ability_id] = one.title
    found = sorted(answered, key=lambda one: (-len(answered[one]), one))
    return tuple(Overlap(one, titles[one], tuple(answered[one])) for one in found[:_MOST_OVERLAPS])


def _replaced(candidate: AbilityAvailabilityEntry, others: Sequence[AbilityAvailabilityEntry]) -> list[str]:
    """The ids of an installed version of the same skill, which the import would replace."""

    def same(one: AbilityAvailabilityEntry) -> bool:
        return one.owner_user_id == candidate.owner_user_id and one.skill_slug == candidate.skill_slug

    return [one.ability_id for one in others if same(one)]


def _ahead(fitting: Sequence[AbilityFit], own_id: str, fit: Fit, closeness: float) -> list[AbilityFit]:
    mine = (fit is Fit.YES, closeness)
    return [
        one for one in fitting if one.ability_id != own_id and (one.fit is Fit.YES, one.closeness) >= mine
    ]


def _reasons(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(clipped(reason, _REASON) for reason in reasons)
