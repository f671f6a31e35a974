"""Trigger tests: prove that a drafted skill matches its own queries and no others.

DOC3 §1.1P, §1.8A; rows P-26, P-42.

What is tested is the fit by which agents are routed: each case is asked of the draft, the installed abilities
and the decoys, abilities of other fields that stand in while the owner has nothing else installed. The decoys are
worded in terms of their own field: their phrases have few function words, so that a sentence does not match one by
"the" and "of" alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from pydantic import ValidationError

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, InstallLane
from contracts.abilities.lookup import (
    MIN_CASES_PER_KIND,
    TRIGGER_CASES,
    TRIGGER_TESTS_PATH,
    AbilityFit,
    AbilityLookupQuery,
    Fit,
    TriggerCase,
    TriggerCaseKind,
)
from contracts.base import clipped
from contracts.learning.proposal import SkillDraft
from contracts.learning.validation import StepResult
from contracts.plain_problems import problem_sentence
from domain.abilities.availability import method_of, working_names
from domain.abilities.fit.fit_index import FitIndex

CANDIDATE_PREFIX = "draft."
"""What the id of the draft starts with while it is tested; it has no ability's id yet."""

DECOY_PREFIX = "decoy."
"""What the ids of all decoys start with; no learned ability's does."""


Beside = Callable[[Sequence[AbilityAvailabilityEntry], Sequence[str]], FitIndex]
"""The index of what is installed, with these abilities and without those ids."""


def index_of(others: Sequence[AbilityAvailabilityEntry]) -> Beside:
    """The same made of ``others``, by the rules alone."""
    return lambda entries, without: FitIndex(others).changed(entries, without)


@dataclass(frozen=True, slots=True)
class TriggerOutcome:
    """One case's result, ready to be stored as a validation step."""

    test_case_id: str
    """``trigger/positive-1`` and so on, or ``trigger/minimum-positive`` where cases are missing."""
    label: str
    result: StepResult
    details: str | None = None
    collides_with: tuple[str, ...] = ()
    """Ids of existing abilities that answer as well or better: the two mean the same to the matcher."""

    @property
    def passed(self) -> bool:
        """Whether the case came out as it should."""
        return self.result is StepResult.PASSED


def trigger_cases(draft: SkillDraft) -> tuple[TriggerCase, ...]:
    """The cases in the draft's ``tests/triggers.json``, in its order.

    None when the file is missing or unreadable; ``run_trigger_tests`` then fails and says which.
    """
    cases = _read_cases(draft)
    return () if isinstance(cases, str) else cases


def run_trigger_tests(
    draft: SkillDraft,
    cases: Sequence[TriggerCase],
    decoys: Sequence[AbilityAvailabilityEntry],
    others: Sequence[AbilityAvailabilityEntry],
    owner_user_id: str,
    beside: Beside | None = None,
) -> tuple[TriggerOutcome, ...]:
    """Runs ``cases`` as the owner would ask them, after a step for each kind that has fewer than three.

    The draft is tested as it will stand at first: in its owner's private lane, the one that scores least, and
    global. ``others`` are the abilities there are; an installed version of the same skill is left out, since
    the draft replaces it. A positive or paraphrase case passes when the draft fits (yes or maybe) and nothing
    fits better; a decoy that fits as well does not matter, an existing ability does. A negative case passes
    when the draft does not fit; one that may fit by what it means, and not by its words, holds no draft up: no
    wording of the draft would be sure to mend that. Decoys compete from the draft's own lane, so that a skill of a
    decoy's field can still be taught. ``beside`` is the index of ``others`` where there is one already; by it what the
    abilities mean may have a say.
    """
    candidate = _candidate(draft, owner_user_id)
    file = _read_cases(draft)
    missing = missing_cases(cases, f" {file}" if isinstance(file, str) else "")
    return (*missing, *trigger_outcomes(candidate, cases, decoys, others, beside))


def trigger_outcomes(
    candidate: AbilityAvailabilityEntry,
    cases: Sequence[TriggerCase],
    decoys: Sequence[AbilityAvailabilityEntry],
    others: Sequence[AbilityAvailabilityEntry],
    beside: Beside | None = None,
) -> tuple[TriggerOutcome, ...]:
    """The same of any ability that is not installed yet, an imported one too, asked by its owner; see there."""
    owner_user_id = candidate.owner_user_id
    rivals = {other.ability_id: other for other in others if not _is_same_skill(other, candidate)}
    lane = {"install_lane": candidate.install_lane, "owner_user_id": owner_user_id}
    asked_of = [candidate, *(decoy.changed(**lane) for decoy in decoys)]
    replaced = [other.ability_id for other in others if other.ability_id not in rivals]
    index = (beside or index_of(others))(asked_of, replaced)
    judge = partial(index.judged, ability_id=candidate.ability_id, caller_user_id=owner_user_id)
    outcomes: list[TriggerOutcome] = []
    counted = dict.fromkeys(TriggerCaseKind, 0)
    for case in cases:
        counted[case.kind] += 1
        asked = AbilityLookupQuery(user_query=case.input)
        fitting = index.fitting(asked, caller_user_id=owner_user_id)
        judged = judge(case.input)
        if not case.should_trigger and judged is not None and judged.fit is Fit.MAYBE:
            by_rules = judge(case.input, by_rules=True)
            if by_rules is not None and by_rules.fit is Fit.NO:
                fitting = tuple(one for one in fitting if one.ability_id != candidate.ability_id)
        why = "; ".join(judged.reasons) if judged is not None else ""
        test_case_id = f"trigger/{case.kind}-{counted[case.kind]}"
        outcomes.append(_outcome(test_case_id, case, _Found(candidate.ability_id, fitting, why), rivals))
    return tuple(outcomes)


def _candidate(draft: SkillDraft, owner_user_id: str) -> AbilityAvailabilityEntry:
    # A capability's id begins with its family.
    family = draft.capability_id.partition(".")[0]
    return candidate_entry(
        f"{CANDIDATE_PREFIX}{draft.slug}", owner_user_id, draft.title, family, draft.slug
    ).changed(
        primary_capability_id=draft.capability_id,
        trigger_phrases=tuple(phrase for phrase in draft.trigger_phrases if phrase.strip()),
        negative_triggers=tuple(phrase for phrase in draft.negative_triggers if phrase.strip()),
        aliases=working_names(draft),
        method=method_of(draft),
    )


def candidate_entry(
    ability_id: str, owner_user_id: str, title: str, family: str, slug: str
) -> AbilityAvailabilityEntry:
    """What is not installed yet, as it would stand at first: usable, in its owner's private lane."""
    return AbilityAvailabilityEntry(
        ability_id=ability_id,
        owner_user_id=owner_user_id,
        title=title,
        family=family,
        source=AbilitySource.LEARNED,
        skill_slug=slug,
        install_lane=InstallLane.EXPERIMENTAL_PRIVATE,
        enabled=True,
        usable_now=True,
    )


def _is_same_skill(other: AbilityAvailabilityEntry, candidate: AbilityAvailabilityEntry) -> bool:
    return other.owner_user_id == candidate.owner_user_id and (
        other.skill_slug == candidate.skill_slug
        or other.primary_capability_id == candidate.primary_capability_id
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a case finds, and why the draft does or does not fit it."""

    candidate_id: str
    fitting: tuple[AbilityFit, ...]
    why: str

    @property
    def draft(self) -> AbilityFit | None:
        return next((one for one in self.fitting if one.ability_id == self.candidate_id), None)


def _outcome(
    test_case_id: str, case: TriggerCase, found: _Found, rivals: dict[str, AbilityAvailabilityEntry]
) -> TriggerOutcome:
    draft = found.draft
    collides_with: tuple[str, ...] = ()
    if not case.should_trigger:
        problem = None if draft is None else _answers_though_negative(draft)
    elif draft is None:
        problem = f"Does not fit ({found.why}): add a trigger phrase nearer to what is said here."
    else:
        ahead = [one for one in found.fitting if _is_ahead(one, draft, rivals)]
        collides_with = tuple(one.ability_id for one in ahead if one.ability_id in rivals)
        problem = _outranked(draft, ahead, rivals) if ahead else None
    return TriggerOutcome(
        test_case_id=test_case_id,
        label=clipped(f"{case.kind.value.capitalize()}: {case.input}", 240),
        result=StepResult.FAILED if problem else StepResult.PASSED,
        details=clipped(problem, 1000) if problem else None,
        collides_with=collides_with,
    )


def _is_ahead(one: AbilityFit, draft: AbilityFit, rivals: dict[str, AbilityAvailabilityEntry]) -> bool:
    if one.ability_id == draft.ability_id:
        return False
    mine, theirs = ((fit.fit is Fit.YES, fit.closeness) for fit in (draft, one))
    return theirs > mine or (theirs == mine and one.ability_id in rivals)


def _outranked(
    draft: AbilityFit, ahead: Sequence[AbilityFit], rivals: dict[str, AbilityAvailabilityEntry]
) -> str:
    names = ", ".join(f"“{one.title}” ({one.ability_id}, {_shown(one)})" for one in ahead)
    existing = any(one.ability_id in rivals for one in ahead)
    otherwise = ", or improve the existing ability instead" if existing else ""
    return (
        f"Fits ({_shown(draft)}) and does not come first: {names}. "
        f"Tell them apart by other trigger phrases{otherwise}."
    )


def _shown(one: AbilityFit) -> str:
    return f"{one.fit.value}, {one.closeness:.2f}"


def _answers_though_negative(draft: AbilityFit) -> str:
    return (
        f"Fits ({_shown(draft)}: {'; '.join(draft.reasons)}) and would be routed to: "
        "add a negative trigger that means this, or say in the title what is done to what."
    )


def missing_cases(cases: Iterable[TriggerCase], why: str = "") -> Iterator[TriggerOutcome]:
    """A failed outcome for each kind that has fewer cases than the minimum (P-26); ``why`` ends its details."""
    kinds = [case.kind for case in cases]
    for kind in TriggerCaseKind:
        if kinds.count(kind) < MIN_CASES_PER_KIND:
            yield TriggerOutcome(
                test_case_id=f"trigger/minimum-{kind}",
                label=f"At least {MIN_CASES_PER_KIND} {kind} cases",
                result=StepResult.FAILED,
                details=clipped(
                    f"{TRIGGER_TESTS_PATH} has {kinds.count(kind)} {kind} cases; "
                    f"{MIN_CASES_PER_KIND} are needed.{why}",
                    1000,
                ),
            )


def _read_cases(draft: SkillDraft) -> tuple[TriggerCase, ...] | str:
    """The cases in the draft's test file, or what is wrong with it."""
    content = next((file.content for file in draft.files if file.path == TRIGGER_TESTS_PATH), None)
    if content is None:
        return "The draft has no such file."
    try:
        return TRIGGER_CASES.validate_json(content)
    except ValidationError as error:
        return f"It cannot be read, at {problem_sentence(error, whole='the whole file')}."


_DECOYS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "restaurant-booking",
        "Restaurant booking",
        "dining",
        ("book dinner table", "reserve restaurant tonight", "find vegan bistro nearby"),
    ),
    (
        "greenhouse-watering",
        "Greenhouse watering",
        "home",
        ("water tomato plants", "greenhouse humidity check", "start drip irrigation"),
    ),
    (
        "flight-checkin",
        "Flight check-in",
        "travel",
        ("check in online flight", "choose aisle seat", "boarding pass please"),
    ),
    (
        "podcast-loudness",
        "Podcast loudness",
        "audio",
        ("normalise podcast episode", "loudness target -16 lufs", "remove microphone hum"),
    ),
    (
        "chess-coach",
        "Chess coach",
        "games",
        ("analyse chess game", "explain sicilian opening", "daily checkmate puzzle"),
    ),
    (
        "invoice-reminder",
        "Invoice reminder",
        "finance",
        ("chase unpaid invoice", "remind late customer", "overdue payment letter"),
    ),
    (
        "blood-pressure-diary",
        "Blood pressure diary",
        "health",
        ("log blood pressure", "weekly pulse chart", "systolic trend"),
    ),
    (
        "citation-lookup",
        "Citation lookup",
        "legal",
        ("find appellate citation", "shepardize case", "overruled precedent check"),
    ),
    (
        "parcel-tracking",
        "Parcel tracking",
        "shopping",
        ("where is parcel", "track courier delivery", "missed package redelivery"),
    ),
    (
        "lesson-planner",
        "Lesson planner",
        "teaching",
        ("plan algebra lesson", "worksheet for pupils", "quiz on fractions"),
    ),
    (
        "incident-paging",
        "Incident paging",
        "operations",
        ("page on-call engineer", "open severity one incident", "acknowledge pager alert"),
    ),
    (
        "holiday-request",
        "Holiday request",
        "people",
        ("request annual leave", "remaining vacation days", "absence calendar entry"),
    ),
    (
        "recipe-scaling",
        "Recipe scaling",
        "cooking",
        ("scale recipe servings", "convert cups into grams", "oven temperature celsius"),
    ),
    (
        "crm-lead",
        "Sales lead",
        "sales",
        ("add sales lead", "qualify prospect company", "pipeline forecast quarter"),
    ),
    (
        "photo-colour",
        "Photo colour grading",
        "imaging",
        ("grade wedding photo", "match skin tones", "apply kodak preset"),
    ),
    (
        "subtitle-translation",
        "Subtitle translation",
        "language",
        ("translate film subtitles", "spanish captions timing", "dub trailer voice"),
    ),
    (
        "meeting-minutes",
        "Meeting minutes",
        "office",
        ("minutes from board meeting", "list action items", "who attended standup"),
    ),
    (
        "thermostat",
        "Thermostat",
        "home",
        ("warmer living room", "heating schedule weekend", "lower bedroom thermostat"),
    ),
    (
        "tax-return",
        "Tax return",
        "finance",
        ("prepare tax return", "deductible home office", "quarterly vat statement"),
    ),
    (
        "genealogy",
        "Family tree research",
        "research",
        ("trace family tree", "parish birth record", "great-grandmother maiden name"),
    ),
)


@cache
def decoys() -> tuple[AbilityAvailabilityEntry, ...]:
    """Twenty global, usable abilities of other fields, in the lane that everybody in a workspace sees."""
    return tuple(
        AbilityAvailabilityEntry(
            ability_id=f"{DECOY_PREFIX}{name}",
            owner_user_id="decoys",
            title=title,
            family=family,
            source=AbilitySource.NATIVE,
            skill_slug=name,
            install_lane=InstallLane.APPROVED_WORKSPACE,
            enabled=True,
            usable_now=True,
            trigger_phrases=phrases,
        )
        for name, title, family, phrases in _DECOYS
    )
