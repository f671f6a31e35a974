from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilitySource,
    CheckpointHealth,
    InstallLane,
)
from contracts.abilities.lookup import AbilityLookupQuery, AbilityMatch
from domain.abilities.lookup_index import AbilityIndex
from domain.abilities.matching import score_match
from tests.fixtures.thoroughness import times

MakeAbility = Callable[..., AbilityAvailabilityEntry]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

# Few letters and words, so that phrases, titles and queries meet, overlap, hold one another and repeat.
WORDS = ("a", "ab", "abc", "b", "sort", "sorted", "the", "photo", "İ", "straße", "\u00a0", "\n", "  ", "")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@st.composite
def entries(draw: st.DrawFn) -> list[AbilityAvailabilityEntry]:
    names = draw(st.lists(st.integers(0, 40), unique=True, max_size=20))
    return [
        AbilityAvailabilityEntry(
            ability_id=f"ability-{name}",
            owner_user_id=draw(st.sampled_from(["ada", "bob"])),
            title=draw(TEXTS),
            family="files",
            source=AbilitySource.LEARNED,
            install_lane=draw(st.sampled_from(InstallLane)),
            enabled=True,
            usable_now=draw(st.booleans()),
            trigger_phrases=tuple(draw(st.lists(TEXTS, max_size=4))),
            negative_triggers=tuple(draw(st.lists(TEXTS.filter(bool), max_size=1))),
            project_scopes=tuple(draw(st.lists(st.sampled_from(["p1", "p2", "*"]), max_size=2))),
            checkpoint_health=draw(st.none() | st.sampled_from(CheckpointHealth)),
        )
        for name in names
    ]


QUERIES = st.builds(
    AbilityLookupQuery,
    user_query=TEXTS,
    project_id=st.sampled_from([None, "", "p1", "p2", "*"]),
    install_lanes_allowed=st.lists(st.sampled_from(InstallLane), max_size=5).map(tuple),
    include_private_owned_by_user=st.booleans(),
)


def one_by_one(
    known: Sequence[AbilityAvailabilityEntry], query: AbilityLookupQuery, caller: str
) -> list[AbilityMatch]:
    """What the document asks for, without any index."""
    lanes = set(query.install_lanes_allowed) - {InstallLane.PENDING, InstallLane.QUARANTINED}
    if query.include_private_owned_by_user:
        lanes.add(InstallLane.EXPERIMENTAL_PRIVATE)
    scored = [
        score_match(query.user_query, ability, query.project_id)
        for ability in known
        if ability.install_lane in lanes
        and (ability.install_lane is not InstallLane.EXPERIMENTAL_PRIVATE or ability.owner_user_id == caller)
    ]
    listed = sorted(
        (one for one in scored if one.score >= 0.15), key=lambda one: (-one.score, one.ability_id)
    )
    return [
        AbilityMatch(
            ability_id=one.ability_id,
            score=one.score,
            install_lane=one.install_lane,
            usable_now=one.usable_now,
            reason_unusable=one.reason_unusable,
        )
        for one in listed[:10]
    ]


@settings(max_examples=times(400), deadline=None)
@given(known=entries(), query=QUERIES)
def test_a_lookup_gives_exactly_what_scoring_each_ability_gives(
    known: list[AbilityAvailabilityEntry], query: AbilityLookupQuery
) -> None:
    found = AbilityIndex(known).lookup(query, caller_user_id="ada", now=NOW)

    assert list(found.matches) == one_by_one(known, query, "ada")
    assert found.created_at == NOW


@pytest.mark.acceptance("R11.2-30")
def test_a_matching_query_lists_the_ability_with_its_score(make_ability: MakeAbility) -> None:
    index = AbilityIndex(
        [make_ability(trigger_phrases=("archive the invoices",)), make_ability("ability-b", title="x")]
    )

    found = index.lookup(AbilityLookupQuery(user_query="archive the invoices"), caller_user_id="ada", now=NOW)

    assert [match.ability_id for match in found.matches] == ["ability-a"]
    assert found.matches[0].score >= 0.15


@pytest.mark.acceptance("R11.2-31")
@pytest.mark.parametrize("lane", [InstallLane.QUARANTINED, InstallLane.PENDING])
def test_quarantined_and_pending_abilities_are_never_listed_even_when_their_lane_is_allowed(
    make_ability: MakeAbility, lane: InstallLane
) -> None:
    index = AbilityIndex([make_ability(install_lane=lane, trigger_phrases=("archive invoices",))])

    found = index.lookup(
        AbilityLookupQuery(user_query="archive invoices", install_lanes_allowed=tuple(InstallLane)),
        caller_user_id="ada",
        now=NOW,
    )

    assert found.matches == ()
    assert len(index) == 0


@pytest.mark.parametrize(
    ("caller", "include_private", "lane_allowed", "listed"),
    [
        ("ada", True, False, True),
        ("ada", False, True, True),
        ("ada", False, False, False),
        ("bob", True, True, False),
    ],
)
def test_a_private_ability_answers_its_owner_alone(
    make_ability: MakeAbility, caller: str, include_private: bool, lane_allowed: bool, listed: bool
) -> None:
    private = InstallLane.EXPERIMENTAL_PRIVATE
    index = AbilityIndex([make_ability(install_lane=private, trigger_phrases=("archive invoices",))])
    query = AbilityLookupQuery(
        user_query="archive invoices",
        install_lanes_allowed=(private,) if lane_allowed else (),
        include_private_owned_by_user=include_private,
    )

    assert bool(index.lookup(query, caller_user_id=caller, now=NOW).matches) is listed


def test_a_lane_that_is_not_allowed_does_not_answer(make_ability: MakeAbility) -> None:
    index = AbilityIndex([make_ability(trigger_phrases=("archive invoices",))])
    query = AbilityLookupQuery(
        user_query="archive invoices", install_lanes_allowed=(InstallLane.SHARED_PROMOTED,)
    )

    assert index.lookup(query, caller_user_id="ada", now=NOW).matches == ()


def test_a_shared_global_ability_reaches_the_threshold_without_any_word_in_common(
    make_ability: MakeAbility,
) -> None:
    index = AbilityIndex([make_ability(install_lane=InstallLane.SHARED_PROMOTED)])

    found = index.lookup(AbilityLookupQuery(user_query="weather"), caller_user_id="ada", now=NOW)

    assert [match.score for match in found.matches] == [0.05 + 0.1]


def test_at_most_ten_are_listed_best_first_and_equal_ones_by_id(make_ability: MakeAbility) -> None:
    shared = [
        make_ability(f"s-{n:02d}", title="x", install_lane=InstallLane.SHARED_PROMOTED) for n in range(12)
    ]
    best = make_ability("z-best", trigger_phrases=("archive invoices",))

    found = AbilityIndex([*reversed(shared), best]).lookup(
        AbilityLookupQuery(user_query="archive invoices"), caller_user_id="ada", now=NOW
    )

    assert [match.ability_id for match in found.matches] == ["z-best", *(f"s-{n:02d}" for n in range(9))]


def test_places_that_negative_triggers_free_go_to_the_next(make_ability: MakeAbility) -> None:
    barred = [
        make_ability(f"a-{n:02d}", install_lane=InstallLane.SHARED_PROMOTED, negative_triggers=("weather",))
        for n in range(15)
    ]
    free = make_ability("z", install_lane=InstallLane.SHARED_PROMOTED)

    found = AbilityIndex([*barred, free]).lookup(
        AbilityLookupQuery(user_query="weather"), caller_user_id="ada", now=NOW
    )

    assert [match.ability_id for match in found.matches] == ["z"]


def test_a_query_over_the_seam_of_two_phrases_matches_neither(make_ability: MakeAbility) -> None:
    index = AbilityIndex([make_ability(title="x", trigger_phrases=("ab cd", "ef gh"))])

    found = index.lookup(AbilityLookupQuery(user_query="cd\nef"), caller_user_id="ada", now=NOW)

    assert found.matches == ()


def test_two_entries_with_the_same_id_are_refused(make_ability: MakeAbility) -> None:
    with pytest.raises(ValueError, match="two abilities have the id ability-a"):
        AbilityIndex([make_ability(), make_ability(title="Other")])
