"""Finds the skills that fit a step of a plan: `FindSkillsForStep` (AI-14…AI-17, O-8).

The fit by words is that of the abilities' lookup (`domain.abilities.fit`). Whatever else the step asks for filters what
fits, and each skill that is left out for it is named with the reason. A ranker, such as a model, may only reorder.

Where a sentence model is there, what is near in meaning may fit too: a skill is only suggested, and an agent looks at
it before it runs it, so that a suggestion too many costs less than a skill that nobody finds.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, InstallLane
from contracts.abilities.lookup import AbilityFit, Fit
from contracts.base import clipped
from contracts.skills.catalog import SkillRecord, SkillState
from contracts.skills.manifest import BrokerService, Precondition, SafetyLevel, SkillManifest, ToolRecord
from contracts.skills.selection import (
    CandidateKind,
    FindSkillsRequest,
    FindSkillsResponse,
    LeftOutSkill,
    SkillCandidate,
)
from domain.abilities.fit.fit import Judgement
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.spelling import telling_words
from domain.skills.arguments import may_ask
from domain.skills.policy import unknown_tags

Ranker = Callable[[FindSkillsRequest, tuple[SkillCandidate, ...]], Sequence[str]]
"""Gives names of candidates in a better order."""

Likeness = Callable[[str, Sequence[str]], tuple[float, str]]
"""How near in meaning a text is to the nearest of several, from -1 to 1, and which that is."""

LEAST_LIKENESS = 0.35
"""From here a skill may fit by its meaning: of the cases of a table no wrong one came so near."""

MOST_LEFT_OUT = 50

_LEVELS = tuple(SafetyLevel)
_FITS = {Fit.YES: 0, Fit.MAYBE: 1}
_PHRASE_ENDS = re.compile(r"(?<=[.;:!?])\s+|\s+[—–-]\s+|,\s+(?:and|or)\s+")
_MOST_PHRASES = 12
_NAMED = Judgement(Fit.MAYBE, 0.2, ("it says every word of the skill's name",))
_NOBODY = ""


@dataclass(frozen=True)
class World:
    """What is there to meet preconditions with, and where tools would run.

    ``facts`` are those that the world model knows, as ``subject predicate``; ``environment`` is dev, test or
    production.
    """

    services: frozenset[BrokerService] = frozenset()
    facts: frozenset[str] = frozenset()
    environment: str = "production"
    highest_level: SafetyLevel = SafetyLevel.PRIVILEGED


def find_skills(
    records: Iterable[SkillRecord],
    request: FindSkillsRequest,
    world: World,
    rank: Ranker | None = None,
    abilities: Iterable[AbilityFit] = (),
    likeness: Likeness | None = None,
) -> FindSkillsResponse:
    """The skills that fit the step: first those that fit without a doubt, closest first, equal ones by name.

    Only skills that are ready are looked at, each in its newest version. ``abilities`` are the learned ones that fit
    the description by the same judgement; they stand among the skills by how closely they fit. What ``rank`` names
    beside the candidates is dropped, and what it leaves out keeps its place behind. ``likeness`` finds what is near in
    meaning; without it words decide alone.
    """
    ready = _newest(records)
    judged = _judged(ready, request.description, likeness)
    chosen: list[SkillCandidate] = []
    left_out: list[LeftOutSkill] = []
    for name, found in judged:
        manifest = ready[name]
        missing = unmet(manifest.preconditions, request, world)
        candidate = _candidate(manifest, found, missing)
        reason = _left_out_because(manifest, request, world, missing)
        if reason is None:
            chosen.append(candidate)
        else:
            left_out.append(_left_out(candidate, reason))
    for ability in abilities:
        candidate = _from_ability(ability)
        reason = _ability_left_out_because(ability, request)
        if reason is None:
            chosen.append(candidate)
        else:
            left_out.append(_left_out(candidate, reason))
    chosen.sort(key=_order)
    left_out.sort(key=_order)
    best = tuple(chosen[: request.limit])
    return FindSkillsResponse(
        skills=_ranked(best, rank(request, best)) if rank is not None else best,
        left_out=tuple(left_out[:MOST_LEFT_OUT]),
    )


def unmet(preconditions: Iterable[Precondition], request: FindSkillsRequest, world: World) -> tuple[str, ...]:
    """The names of the preconditions that do not hold: a service that is not there, a fact that is not known.

    The subject of a fact may be one of the step's entities: ``$type predicate`` is met by a fact about an entity of
    that type.
    """
    return tuple(one.name for one in preconditions if not _holds(one, request, world))


def tool_of(manifest: SkillManifest, tool_id: str | None) -> ToolRecord:
    """The tool that was chosen for an invocation; the manifest's first where none was."""
    return next((tool for tool in manifest.tools if tool.tool_id == tool_id), manifest.tools[0])


def tools_for(manifest: SkillManifest, environment: str) -> tuple[ToolRecord, ...]:
    """The tools of a skill that may run in an environment, in the order of its manifest (AI-17)."""
    return tuple(tool for tool in manifest.tools if environment in tool.allowed_env)


def _holds(one: Precondition, request: FindSkillsRequest, world: World) -> bool:
    if one.service is not None and one.service not in world.services:
        return False
    if one.fact is None or one.fact in world.facts:
        return True
    subject, _, predicate = one.fact.partition(" ")
    entities = (entity.id for entity in request.entities if f"${entity.type}" == subject)
    return any(f"{entity} {predicate}" in world.facts for entity in entities)


def _left_out_because(
    manifest: SkillManifest, request: FindSkillsRequest, world: World, missing: tuple[str, ...]
) -> str | None:
    highest = min(request.max_safety_level or world.highest_level, world.highest_level, key=_LEVELS.index)
    if _LEVELS.index(manifest.safety_level) > _LEVELS.index(highest):
        return f"its safety level is {manifest.safety_level.value}, and at most {highest.value} is allowed"
    if not tools_for(manifest, world.environment):
        return f"none of its tools may run in the environment {world.environment}"
    effects = {manifest.effect, *(rule.effect for rule in manifest.actions)}
    if request.effect_type is not None and request.effect_type not in effects:
        return f"it has no effect of the type {request.effect_type.value}"
    lacking = [name for name in request.capabilities if name not in _declared(manifest)]
    if lacking:
        return f"it does not declare {', '.join(lacking)}"
    if request.life_areas and manifest.life_areas and not {*request.life_areas} & {*manifest.life_areas}:
        return f"it is for the life areas {', '.join(manifest.life_areas)}"
    return f"these preconditions are not met: {', '.join(missing)}" if missing else None


def _left_out(candidate: SkillCandidate, reason: str) -> LeftOutSkill:
    return LeftOutSkill(**candidate.model_dump(), left_out_because=clipped(reason, 240))


def _order(candidate: SkillCandidate) -> tuple[int, float, str]:
    return _FITS[candidate.fit], -candidate.score, candidate.skill


def _from_ability(ability: AbilityFit) -> SkillCandidate:
    return SkillCandidate(
        skill=ability.ability_id,
        kind=CandidateKind.ABILITY,
        fit=ability.fit,
        score=ability.closeness,
        reasons=ability.reasons,
        warnings=("it is read and carried out by an agent; it is not run here",),
    )


def _ability_left_out_because(ability: AbilityFit, request: FindSkillsRequest) -> str | None:
    if not ability.usable_now:
        return ability.reason_unusable or "it cannot be used now"
    if request.capabilities or request.effect_type is not None or request.max_safety_level is not None:
        return "a learned ability declares no capabilities, effect or safety level"
    return None


def _declared(manifest: SkillManifest) -> frozenset[str]:
    return frozenset(
        {
            *manifest.capabilities,
            *manifest.side_effect_tags,
            *manifest.observables,
            *(effect.name for effect in manifest.effects),
            manifest.category.value,
            manifest.name,
            manifest.function_name,
        }
    )


def _candidate(manifest: SkillManifest, found: Judgement, missing: tuple[str, ...]) -> SkillCandidate:
    return SkillCandidate(
        skill=manifest.name,
        function_name=manifest.function_name,
        version=manifest.version,
        fit=found.fit,
        score=found.closeness,
        reasons=tuple(clipped(reason, 240) for reason in found.reasons),
        missing_preconditions=missing,
        warnings=tuple(clipped(warning, 240) for warning in _warnings(manifest)),
    )


def _warnings(manifest: SkillManifest) -> Iterator[str]:
    if manifest.deprecated_since is not None:
        yield f"version {manifest.version} is deprecated since {manifest.deprecated_since:%Y-%m-%d}"
    if may_ask(manifest):
        yield "it asks a person before it acts"
    if manifest.third_parties:
        yield f"it reaches {', '.join(manifest.third_parties)}"
    for tag in unknown_tags(manifest):
        yield f"its side effect {tag} is not known to policy"


def _ranked(candidates: tuple[SkillCandidate, ...], names: Sequence[str]) -> tuple[SkillCandidate, ...]:
    by_name = {one.skill: one for one in candidates}
    wanted = [name for name in dict.fromkeys(names) if name in by_name]
    return tuple(by_name[name] for name in dict.fromkeys((*wanted, *by_name)))


def _newest(records: Iterable[SkillRecord]) -> dict[str, SkillManifest]:
    found: dict[str, SkillManifest] = {}
    for record in records:
        manifest = record.manifest
        if record.state is not SkillState.READY or manifest is None:
            continue
        known = found.get(manifest.name)
        if known is None or _version(known) < _version(manifest):
            found[manifest.name] = manifest
    return found


def _version(manifest: SkillManifest) -> tuple[int, ...]:
    return tuple(map(int, manifest.version.split(".")))


def _judged(
    skills: dict[str, SkillManifest], description: str, likeness: Likeness | None
) -> list[tuple[str, Judgement]]:
    index = FitIndex(map(_as_entry, skills.values()))
    said = telling_words(description)
    found: list[tuple[str, Judgement]] = []
    for name, manifest in skills.items():
        judgement = index.judged(description, name, caller_user_id=_NOBODY)
        if judgement is None or judgement.fit is Fit.NO:
            judgement = _NAMED if _is_named(name, said) else None
        if likeness is not None:
            judgement = _with_meaning(judgement, *likeness(description, _told(manifest)))
        if judgement is not None:
            found.append((name, judgement))
    return found


def _with_meaning(judgement: Judgement | None, near: float, text: str) -> Judgement | None:
    """What words and meaning say together: the closer of the two, and whatever fits by either."""
    if near < LEAST_LIKENESS:
        return judgement
    reason = f"near in meaning to “{text}”"
    if judgement is None:
        return Judgement(Fit.MAYBE, near, (reason,))
    return replace(judgement, closeness=max(near, judgement.closeness), reasons=(*judgement.reasons, reason))


def _is_named(name: str, said: frozenset[str]) -> bool:
    """Whether a step says each word of a skill's name, of which there are several; the rest are its parameters."""
    words = telling_words(name.replace("-", " "))
    return len(words) > 1 and words <= said


def _as_entry(manifest: SkillManifest) -> AbilityAvailabilityEntry:
    """A skill as the abilities' lookup reads it: titled by its name, its description as what it is asked for with."""
    named = manifest.name.replace("-", " ")
    function = manifest.function_name.replace("_", " ")
    return AbilityAvailabilityEntry(
        ability_id=manifest.name,
        owner_user_id=_NOBODY,
        title=named,
        family=manifest.category.value,
        source=AbilitySource.NATIVE,
        skill_slug=manifest.name,
        install_lane=InstallLane.SHARED_PROMOTED,
        enabled=True,
        usable_now=True,
        trigger_phrases=tuple(_phrases(manifest)),
        aliases=(function,) if function != named else (),
    )


def _told(manifest: SkillManifest) -> tuple[str, ...]:
    """What a skill says of itself, to be compared by meaning."""
    return (manifest.name.replace("-", " "), *_phrases(manifest))


def _phrases(manifest: SkillManifest) -> list[str]:
    texts = (
        manifest.description,
        manifest.function_description or "",
        *(e.description for e in manifest.effects),
    )
    parts = (part.strip(" .;:!?") for text in texts for part in _PHRASE_ENDS.split(text))
    described = [clipped(part, 120) for part in parts if part][:_MOST_PHRASES]
    return [*dict.fromkeys((*manifest.trigger_phrases, *described))]
