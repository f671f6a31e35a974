"""Doubtful fits are left to another judge, which changes them by one step at most."""

from collections.abc import Mapping, Sequence

import pytest

from contracts.abilities.availability import InstallLane
from contracts.abilities.lookup import AbilityLookupQuery, AbilityLookupResult, AbilityMatch, Fit
from domain.abilities.fit.deciding import (
    DOES_IT,
    DOES_OTHER_WORK,
    DOUBTED_FROM,
    MAX_DOUBTS,
    Doubt,
    decided,
    is_doubtful,
)
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.ruling import Judgement
from tests.domain.abilities.fit.tables import TABLES, rows_of
from tests.fixtures.abilities import ability
from tests.fixtures.past import NOW

TOTALS = ability("totals", title="Total the invoices of each customer", method=("Total all of March",))
DOUBTED = "do something about customers and invoices"
"""No verb says what is to be done."""


class Verdicts:
    """Answers the same about every ability, and remembers what it was asked."""

    def __init__(self, does_it: bool | None) -> None:
        self._does_it = does_it
        self.asked: list[Doubt] = []

    def __call__(self, request: str, doubts: Sequence[Doubt]) -> Mapping[str, bool]:
        self.asked += doubts
        return {} if self._does_it is None else {one.ability_id: self._does_it for one in doubts}


def fits(index: FitIndex, said: str, verdicts: Verdicts, user: str = "ada") -> dict[str, Fit]:
    query = AbilityLookupQuery(user_query=said)
    found = index.fitting(query, caller_user_id=user, decide=verdicts)
    return {one.ability_id: one.fit for one in found}


@pytest.mark.parametrize(("does_it", "found"), [(True, Fit.YES), (False, None), (None, Fit.MAYBE)])
def test_what_may_fit_is_decided_and_stays_where_nobody_could(
    does_it: bool | None, found: Fit | None
) -> None:
    index, verdicts = FitIndex([TOTALS]), Verdicts(does_it)
    assert fits(index, DOUBTED, verdicts).get("totals") is found
    assert verdicts.asked == [Doubt("totals", TOTALS.title, "Total all of March")]


def test_what_was_refused_as_unlikely_is_lifted_to_maybe_and_no_further() -> None:
    unlikely = Judgement(Fit.NO, 0.0, ("it means other work",), likely=DOUBTED_FROM)
    assert is_doubtful(unlikely)
    assert decided(unlikely, True) == Judgement(Fit.MAYBE, DOUBTED_FROM, (DOES_IT,), DOUBTED_FROM)
    assert decided(unlikely, False) == unlikely


def test_a_maybe_says_that_the_model_had_a_say() -> None:
    maybe = Judgement(Fit.MAYBE, 0.7, ("it is about “invoices”",))
    assert decided(maybe, True).reasons == ("it is about “invoices”", DOES_IT)
    assert decided(maybe, False).reasons == (DOES_OTHER_WORK,)


@pytest.mark.parametrize(
    "said",
    [
        "total the invoices of each customer",
        "water the plants",
        "delete the invoices",
    ],
)
def test_nobody_is_asked_about_what_is_sure(said: str) -> None:
    verdicts = Verdicts(True)
    fits(FitIndex([TOTALS]), said, verdicts)
    assert verdicts.asked == []


def test_what_a_negative_trigger_refuses_is_not_asked_about() -> None:
    verdicts = Verdicts(True)
    ruled_out = TOTALS.changed(negative_triggers=("customers and invoices",))
    assert fits(FitIndex([ruled_out]), DOUBTED, verdicts) == {}
    assert verdicts.asked == []


def test_the_judge_is_not_told_of_abilities_that_the_asking_person_may_not_see() -> None:
    verdicts = Verdicts(True)
    private = TOTALS.changed(install_lane=InstallLane.EXPERIMENTAL_PRIVATE)
    assert fits(FitIndex([private]), DOUBTED, verdicts, user="eve") == {}
    assert verdicts.asked == []


def test_the_judge_is_asked_once_about_a_bounded_number() -> None:
    verdicts = Verdicts(True)
    many = [TOTALS.changed(ability_id=f"totals-{number:02}") for number in range(MAX_DOUBTS + 3)]
    found = fits(FitIndex(many), DOUBTED, verdicts)
    assert [one.ability_id for one in verdicts.asked] == [one.ability_id for one in many[:MAX_DOUBTS]]
    assert [fit for fit in found.values()].count(Fit.YES) == MAX_DOUBTS


def test_a_lookup_and_an_explanation_say_the_same_of_a_match() -> None:
    index = FitIndex([TOTALS])
    match = AbilityMatch(
        ability_id="totals", score=0.4, install_lane=InstallLane.APPROVED_WORKSPACE, usable_now=True
    )
    result = AbilityLookupResult(matches=(match,), created_at=NOW)
    query, no = AbilityLookupQuery(user_query=DOUBTED), Verdicts(False)
    looked_up = index.with_fits(result, query, caller_user_id="ada", decide=no)
    explained = index.judged(DOUBTED, "totals", caller_user_id="ada", decide=no)
    assert explained is not None
    assert (looked_up.matches[0].fit, looked_up.fitting) == (explained.fit, ()) == (Fit.NO, ())
    assert looked_up.matches[0].fit_reasons == explained.reasons == (DOES_OTHER_WORK,)


def test_of_a_table_only_what_is_doubtful_is_asked_about() -> None:
    table = rows_of(TABLES["requests"])
    index = FitIndex(row.entry for row in table)
    for row in table:
        for said in row.finds:
            verdicts = Verdicts(None)
            plain = index.fitting(AbilityLookupQuery(user_query=said), caller_user_id="ada")
            fits(index, said, verdicts)
            assert {one.ability_id for one in verdicts.asked} == {
                one.ability_id for one in plain if one.fit is Fit.MAYBE
            }
