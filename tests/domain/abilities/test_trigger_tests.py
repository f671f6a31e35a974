import json
from collections.abc import Callable, Sequence

import pytest

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.lookup import ROUTE_FROM_SCORE, TRIGGER_TESTS_PATH, Fit, TriggerCase, TriggerCaseKind
from contracts.learning.proposal import DraftedFile, SkillDraft
from contracts.learning.validation import StepResult
from domain.abilities.matching import score_match
from domain.abilities.trigger_tests import (
    TriggerOutcome,
    decoys,
    run_trigger_tests,
    trigger_cases,
    trigger_outcomes,
)
from tests.domain.abilities.fit.test_fit import taught
from tests.domain.abilities.fit.test_together import SURE, Read, index_reading

MakeAbility = Callable[..., AbilityAvailabilityEntry]

SAID = {
    "positive": [
        "sort scanned receipts",
        "please sort scanned receipts now",
        "sort scanned receipts by month",
    ],
    "negative": ["delete scanned receipts", "print the poster", "what is the weather"],
    "paraphrase": ["put scanned receipts into folders", "receipts sort", "sort my receipts"],
}


def cases_of(said: dict[str, list[str]]) -> list[dict[str, object]]:
    return [
        {"input": text, "should_trigger": kind != "negative", "kind": kind}
        for kind, texts in said.items()
        for text in texts
    ]


def draft(said: dict[str, list[str]] = SAID, content: str | None = None, **fields: object) -> SkillDraft:
    content = json.dumps(cases_of(said)) if content is None else content
    plain: dict[str, object] = {
        "title": "Sort scanned receipts",
        "slug": "sort-receipts",
        "description": "Sorts scanned receipts into a folder for each month.",
        "trigger_phrases": ("sort scanned receipts",),
        "negative_triggers": ("delete",),
        "files": (DraftedFile(path=TRIGGER_TESTS_PATH, content=content),),
        "capability_id": "cap.sort-receipts",
    }
    return SkillDraft.model_validate({**plain, **fields})


def run(tested: SkillDraft, others: Sequence[AbilityAvailabilityEntry] = ()) -> dict[str, TriggerOutcome]:
    outcomes = run_trigger_tests(tested, trigger_cases(tested), decoys(), others, "ada")
    return {outcome.test_case_id: outcome for outcome in outcomes}


def failed(outcomes: dict[str, TriggerOutcome]) -> list[str]:
    return [name for name, outcome in outcomes.items() if not outcome.passed]


def test_a_draft_with_distinct_phrases_passes_every_case() -> None:
    outcomes = run(draft())

    assert failed(outcomes) == []
    assert list(outcomes) == [
        f"trigger/{kind}-{n}" for kind in ("positive", "negative", "paraphrase") for n in (1, 2, 3)
    ]


def test_cases_are_read_from_the_drafts_own_file() -> None:
    cases = trigger_cases(draft())

    assert len(cases) == 9
    assert cases[3] == TriggerCase(
        kind=TriggerCaseKind.NEGATIVE, input="delete scanned receipts", should_trigger=False
    )
    assert [case.should_trigger for case in cases] == [True] * 3 + [False] * 3 + [True] * 3


@pytest.mark.parametrize("kind", ["positive", "negative", "paraphrase"])
def test_fewer_than_three_cases_of_a_kind_fail_a_step_of_their_own(kind: str) -> None:
    outcomes = run(draft({**SAID, kind: SAID[kind][:2]}))

    assert failed(outcomes) == [f"trigger/minimum-{kind}"]
    assert f"has 2 {kind} cases; 3 are needed" in (outcomes[f"trigger/minimum-{kind}"].details or "")


@pytest.mark.parametrize(
    ("tested", "why"),
    [
        (draft(files=()), "The draft has no such file."),
        (draft(content="{not json"), "It cannot be read, at the whole file"),
        (draft(content="{}"), "It cannot be read, at the whole file"),
        (draft({**SAID, "positive": ["x" * 241]}), "It cannot be read, at 0.input: "),
        (draft({**SAID, "positive": [" "]}), "It cannot be read, at 0.input: "),
        (
            draft(content='[{"input": "x", "should_trigger": false, "kind": "positive"}]'),
            "a positive case cannot have should_trigger false",
        ),
    ],
)
def test_a_missing_or_unreadable_file_fails_and_says_why(tested: SkillDraft, why: str) -> None:
    outcomes = run(tested)

    assert trigger_cases(tested) == ()
    assert len(failed(outcomes)) == 3
    assert all(why in (outcome.details or "") for outcome in outcomes.values())


def test_a_positive_case_below_the_routing_score_fails() -> None:
    outcomes = run(draft({**SAID, "positive": [*SAID["positive"], "tidy up the paper pile"]}))

    assert failed(outcomes) == ["trigger/positive-4"]
    assert "add a trigger phrase" in (outcomes["trigger/positive-4"].details or "")


def test_a_negative_case_that_would_be_routed_to_fails() -> None:
    tested = {**SAID, "negative": ["sort the scanned receipts of my neighbour", *SAID["negative"]]}

    outcomes = run(draft(tested))

    assert failed(outcomes) == ["trigger/negative-1"]
    assert "add a negative trigger" in (outcomes["trigger/negative-1"].details or "")
    assert failed(run(draft(tested, negative_triggers=("receipts of my neighbour",)))) == []


def test_other_work_on_the_same_things_needs_no_negative_trigger() -> None:
    assert failed(run(draft(negative_triggers=()))) == []


def test_an_existing_ability_that_answers_as_well_is_a_collision_and_is_named(
    make_ability: MakeAbility,
) -> None:
    twin = make_ability(
        "ability-twin",
        title="Sort scanned receipts again",
        install_lane=InstallLane.EXPERIMENTAL_PRIVATE,
        trigger_phrases=("sort scanned receipts",),
    )

    first = run(draft(), [twin])["trigger/positive-1"]

    assert first.result is StepResult.FAILED
    assert first.collides_with == ("ability-twin",)
    assert "“Sort scanned receipts again” (ability-twin, yes, 1.00)" in (first.details or "")


def test_an_existing_ability_that_answers_better_is_a_collision(make_ability: MakeAbility) -> None:
    shared = make_ability(
        "ability-shared",
        title="Receipts sort",
        install_lane=InstallLane.SHARED_PROMOTED,
        trigger_phrases=("sort scanned receipts",),
    )

    assert run(draft(), [shared])["trigger/positive-1"].collides_with == ("ability-shared",)


@pytest.mark.parametrize(
    ("title", "phrase", "result"),
    [
        ("Sort scanned receipts", "sort scanned receipts", StepResult.PASSED),
        ("Sort my receipts", "sort my receipts", StepResult.FAILED),
    ],
)
def test_a_decoy_fails_a_case_only_where_its_words_fit_better(
    make_ability: MakeAbility, title: str, phrase: str, result: StepResult
) -> None:
    decoy = make_ability(
        "decoy.x", title=title, install_lane=InstallLane.SHARED_PROMOTED, trigger_phrases=(phrase,)
    )
    said = TriggerCase(kind=TriggerCaseKind.PARAPHRASE, input="sort my receipts", should_trigger=True)

    outcome = run_trigger_tests(draft(), [said], [decoy], (), "ada")[-1]

    assert (outcome.test_case_id, outcome.result) == ("trigger/paraphrase-1", result)
    assert outcome.collides_with == ()


def test_a_skill_of_a_decoys_own_field_can_be_taught() -> None:
    for decoy in decoys():
        taught = draft(
            {kind: list(decoy.trigger_phrases) for kind in ("positive", "paraphrase")},
            title=decoy.title,
            trigger_phrases=decoy.trigger_phrases,
        )
        assert failed(run(taught)) == ["trigger/minimum-negative"]


def test_the_installed_version_of_the_same_skill_is_no_collision(make_ability: MakeAbility) -> None:
    tested = draft()
    installed = make_ability(
        "ability-old",
        title=tested.title,
        skill_slug=tested.slug,
        install_lane=InstallLane.SHARED_PROMOTED,
        trigger_phrases=tested.trigger_phrases,
    )

    assert failed(run(tested, [installed])) == []


def test_somebody_elses_private_ability_is_no_collision(make_ability: MakeAbility) -> None:
    theirs = make_ability(
        "ability-theirs",
        owner_user_id="bob",
        title="Sort scanned receipts",
        install_lane=InstallLane.EXPERIMENTAL_PRIVATE,
        trigger_phrases=("sort scanned receipts",),
    )

    assert failed(run(draft(), [theirs])) == []


def test_the_decoys_are_about_twenty_abilities_of_many_fields() -> None:
    assert len({decoy.ability_id for decoy in decoys()}) == 20
    assert len({decoy.family for decoy in decoys()}) >= 15
    assert all(len(decoy.trigger_phrases) >= 3 for decoy in decoys())


def test_each_decoy_answers_its_own_phrases_before_all_others() -> None:
    for decoy in decoys():
        for phrase in decoy.trigger_phrases:
            best = max(decoys(), key=lambda other: score_match(phrase, other).score)
            assert best.ability_id == decoy.ability_id
            assert score_match(phrase, best).score >= ROUTE_FROM_SCORE


def test_function_words_alone_never_raise_a_decoy_over_a_draft_that_answers() -> None:
    said = "could you please do the same with all of the files in a folder on my desk and it is to be for me"

    least_that_answers = 0.2 + 0.2 + 0.05 + 0.03
    assert max(score_match(said, decoy).score for decoy in decoys()) < least_that_answers


def test_a_near_miss_that_only_may_fit_by_its_meaning_holds_no_draft_up() -> None:
    candidate = taught("Total the invoices")
    index = index_reading(Read(SURE), candidate)
    may_fit, means_it, says_it = "how much is still open", "faktury", "total the invoices"
    judged = [
        index.judged(said, candidate.ability_id, caller_user_id=candidate.owner_user_id)
        for said in (may_fit, means_it, says_it)
    ]
    assert [one.fit for one in judged if one] == [Fit.MAYBE, Fit.YES, Fit.YES]

    cases = [
        TriggerCase(input=said, should_trigger=False, kind=TriggerCaseKind.NEGATIVE)
        for said in (may_fit, means_it, says_it)
    ]
    outcomes = trigger_outcomes(candidate, cases, (), (), lambda _asked, _without: index)
    assert [one.passed for one in outcomes] == [True, False, False]
