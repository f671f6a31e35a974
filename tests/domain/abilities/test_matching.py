from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import AbilityAvailabilityEntry, CheckpointHealth, InstallLane
from domain.abilities.matching import explain, score_match, split_words

MakeAbility = Callable[..., AbilityAvailabilityEntry]


@pytest.mark.acceptance("R11.2-30")
def test_a_query_that_holds_a_trigger_phrase_scores_above_the_threshold(make_ability: MakeAbility) -> None:
    scored = score_match(
        "Please archive the INVOICES now", make_ability(trigger_phrases=("archive the invoices",))
    )

    assert scored.score == 0.4 + 0.2 + 0.05 + 0.07
    assert scored.match_reasons == (
        'trigger_phrase_match: "archive the invoices"',
        "title_match: 2 tokens",
        "global_scope",
    )


def test_a_query_within_a_trigger_phrase_counts_as_the_phrase(make_ability: MakeAbility) -> None:
    ability = make_ability(title="x", trigger_phrases=("convert the scans to text",))

    assert score_match("scans to", ability).score == 0.4 + 0.05 + 0.07


def test_the_first_phrase_that_answers_decides_even_when_a_later_one_fits_better(
    make_ability: MakeAbility,
) -> None:
    ability = make_ability(title="x", trigger_phrases=("rename old photos", "sort photos"))

    scored = score_match("rename and sort photos", ability)

    assert scored.match_reasons[0] == "trigger_partial_match: 2 tokens"
    assert scored.score == 0.2 + 0.05 + 0.07


def test_a_word_said_twice_counts_twice(make_ability: MakeAbility) -> None:
    ability = make_ability(title="x", trigger_phrases=("sort photos",))

    assert score_match("photos photos", ability).match_reasons[0] == "trigger_partial_match: 2 tokens"
    assert score_match("photos pictures", ability).match_reasons == ("global_scope",)


def test_title_words_count_wherever_they_occur_in_the_title(make_ability: MakeAbility) -> None:
    assert "title_match: 2 tokens" in score_match("arch voice", make_ability()).match_reasons


def test_a_negative_trigger_excludes_whatever_else_matches(make_ability: MakeAbility) -> None:
    ability = make_ability(trigger_phrases=("archive invoices",), negative_triggers=("Draft Only",))

    scored = score_match("archive invoices, but draft only", ability)

    assert scored.score == 0
    assert scored.match_reasons == ('negative_trigger_match: "Draft Only"',)


@pytest.mark.parametrize(
    ("scopes", "project_id", "added", "reason"),
    [
        (("p1",), "p1", 0.15, "project_scope_match: p1"),
        (("p1",), "p2", 0.0, None),
        (("p1",), None, 0.0, None),
        (("p1", "*"), "p2", 0.05, "global_scope"),
        ((), "p2", 0.05, "global_scope"),
        ((), "", 0.05, "global_scope"),
    ],
)
def test_scope_adds_most_within_its_own_project(
    make_ability: MakeAbility,
    scopes: tuple[str, ...],
    project_id: str | None,
    added: float,
    reason: str | None,
) -> None:
    scored = score_match("unrelated", make_ability(project_scopes=scopes), project_id)

    assert scored.score == added + 0.07
    assert scored.match_reasons == ((reason,) if reason else ())


@pytest.mark.parametrize(
    ("lane", "added"),
    [
        (InstallLane.SHARED_PROMOTED, 0.1),
        (InstallLane.APPROVED_WORKSPACE, 0.07),
        (InstallLane.EXPERIMENTAL_PRIVATE, 0.03),
        (InstallLane.QUARANTINED, 0.0),
        (InstallLane.PENDING, 0.0),
    ],
)
def test_the_lane_adds_its_preference(make_ability: MakeAbility, lane: InstallLane, added: float) -> None:
    assert score_match("unrelated", make_ability(install_lane=lane)).score == 0.05 + added


@pytest.mark.parametrize(
    ("health", "added"),
    [
        (CheckpointHealth.STRONG, 0.05),
        (CheckpointHealth.MODERATE, 0.0),
        (CheckpointHealth.NO_DATA, 0.0),
        (CheckpointHealth.WEAK, -0.05),
        (None, 0.0),
    ],
)
def test_checkpoint_health_moves_the_score_a_little(
    make_ability: MakeAbility, health: CheckpointHealth | None, added: float
) -> None:
    assert score_match("unrelated", make_ability(checkpoint_health=health)).score == 0.05 + 0.07 + added


def test_a_score_never_falls_below_zero(make_ability: MakeAbility) -> None:
    ability = make_ability(
        project_scopes=("p1",),
        install_lane=InstallLane.EXPERIMENTAL_PRIVATE,
        checkpoint_health=CheckpointHealth.WEAK,
    )

    assert score_match("unrelated", ability).score == 0


def test_an_unusable_ability_keeps_half_its_score_and_says_why(make_ability: MakeAbility) -> None:
    ability = make_ability(usable_now=False, reason_unusable="Deactivated.")

    scored = score_match("unrelated", ability)

    assert scored.score == (0.05 + 0.07) * 0.5
    assert scored.match_reasons == ("global_scope", "usable_now=false: Deactivated.")
    assert scored.reason_unusable == "Deactivated."


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\ufeff\u00a0"])
def test_a_blank_query_matches_nothing(make_ability: MakeAbility, query: str) -> None:
    ability = make_ability(install_lane=InstallLane.SHARED_PROMOTED)

    assert score_match(query, ability).score == 0
    assert explain(query, ability).rejection_reasons[0] == "blank_query: say what is wanted"


def test_outer_space_of_a_query_adds_no_word_that_every_title_holds(make_ability: MakeAbility) -> None:
    ability = make_ability(title="Archive")

    assert score_match("  archive  ", ability) == score_match("archive", ability)


def test_words_are_parted_by_the_white_space_of_ecmascript() -> None:
    assert split_words("a\u00a0b\ufeffc\u2003d") == ("a", "b", "c", "d")
    assert split_words("a\x85b\x1cc") == ("a\x85b\x1cc",)
    assert split_words(" a ") == ("", "a", "")


def test_explain_of_a_match_gives_the_reasons_of_the_score(make_ability: MakeAbility) -> None:
    why = explain("archive invoices", make_ability(trigger_phrases=("archive invoices",)))

    assert why.matched
    assert why.match_reasons[0] == 'trigger_phrase_match: "archive invoices"'
    assert why.rejection_reasons == ()


def test_explain_names_the_negative_trigger(make_ability: MakeAbility) -> None:
    why = explain("archive invoices", make_ability(negative_triggers=("archive",)))

    assert not why.matched
    assert why.match_reasons == ()
    assert why.rejection_reasons[0] == 'negative_trigger_match: "archive"'


@pytest.mark.acceptance("R11.2-31")
@pytest.mark.parametrize("lane", [InstallLane.QUARANTINED, InstallLane.PENDING])
def test_explain_names_a_lane_that_is_never_listed(make_ability: MakeAbility, lane: InstallLane) -> None:
    why = explain("archive invoices", make_ability(install_lane=lane, trigger_phrases=("archive invoices",)))

    assert not why.matched
    assert why.score >= 0.15
    assert why.rejection_reasons == (f"lane_never_listed: {lane}",)


def test_explain_says_that_a_score_is_too_low_to_list_or_to_route_to(make_ability: MakeAbility) -> None:
    shared = make_ability(install_lane=InstallLane.SHARED_PROMOTED)

    assert explain("unrelated", make_ability()).rejection_reasons == ("below_threshold: 0.12 < 0.15",)
    assert explain("unrelated", shared).matched
    assert explain("unrelated", shared).rejection_reasons == ("not_routed_to: 0.15 < 0.3",)


def test_explain_keeps_long_reasons_within_their_limit(make_ability: MakeAbility) -> None:
    why = explain("unrelated", make_ability(usable_now=False, reason_unusable="x" * 240))

    assert all(len(reason) <= 240 for reason in (*why.match_reasons, *why.rejection_reasons))
    assert any(reason.startswith("not_usable_now: xxx") for reason in why.rejection_reasons)


@given(query=st.text(max_size=60), phrase=st.text(max_size=30), title=st.text(max_size=30))
def test_every_score_is_between_zero_and_one_and_explained_as_scored(
    make_ability: MakeAbility, query: str, phrase: str, title: str
) -> None:
    ability = make_ability(title=title, trigger_phrases=(phrase,), negative_triggers=(phrase[::-1],))

    scored = score_match(query, ability)

    assert 0 <= scored.score <= 0.9
    assert explain(query, ability).score == scored.score
