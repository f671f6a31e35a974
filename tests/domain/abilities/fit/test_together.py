"""The likeliest judgements are made again by a model that reads request and goal together."""

from collections.abc import Callable
from dataclasses import fields

import pytest

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import AbilityLookupQuery, Fit
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.meaning import Meanings
from domain.abilities.fit.ruling import Judgement
from domain.abilities.fit.together import (
    MAX_READ,
    READ_FROM,
    SPEAKS_AGAINST,
    SPEAKS_FOR,
    read_again,
    reading_of,
)
from domain.abilities.fit.weighing import FITS_READ_FROM, Evidence, Together, likelihood_together
from tests.domain.abilities.fit.test_fit import taught
from tests.domain.abilities.fit.test_meaning import WORKS, known_of, vector
from tests.fixtures.abilities import ability

TOTALS = ability("totals", title="Total the invoices", method=("Total all invoices of March",))
SURE, NONE = 9.0, -9.0


class Read:
    """Answers the same of every pair, and remembers each once, in the order in which they were asked about."""

    def __init__(self, log_odds: float) -> None:
        self._log_odds = log_odds
        self._asked: dict[tuple[str, str], None] = {}

    def __call__(self, request: str, goal: str) -> float:
        self._asked[request, goal] = None
        return self._log_odds

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(self._asked)


EVIDENCE = Evidence(**dict.fromkeys((one.name for one in fields(Evidence)), 0.3))


def weighed(
    fit: Fit, likely: float, entry: AbilityAvailabilityEntry = TOTALS
) -> tuple[AbilityAvailabilityEntry, Judgement]:
    return entry, Judgement(fit, likely if fit is not Fit.NO else 0.0, ("as it was",), likely, EVIDENCE)


def test_what_was_refused_as_unlikely_fits_once_it_was_read_and_says_with_what() -> None:
    read = Read(SURE)
    ((_, found),) = read_again("what do they owe us", [weighed(Fit.NO, 0.3)], read)
    assert found.fit is Fit.MAYBE
    assert found.reasons == ("read together with “Total all invoices of March”, it asks for this work",)
    assert read.pairs == [("what do they owe us", "Total all invoices of March")]


STRONG = (
    """ruled object words method title said middle goal work verb any_verb head nouns has_object same_kind"""
)
ALIKE = Evidence(**{one.name: float(one.name in STRONG.split()) for one in fields(Evidence)})


def test_what_was_refused_stays_so_where_reading_speaks_against_it_whatever_else_is_alike() -> None:
    assert likelihood_together(ALIKE, Together(*[SPEAKS_AGAINST] * 3)) >= FITS_READ_FROM
    before = Judgement(Fit.NO, 0.0, ("as it was",), 0.3, ALIKE)
    ((_, found),) = read_again("what do they owe us", [(TOTALS, before)], Read(SPEAKS_AGAINST))
    assert found == before


def test_a_goal_is_read_with_its_method_too() -> None:
    joined = ability(
        "it",
        title="Put the fee beside every member",
        method=("Put the fee beside every member", "sort: by field 2 , reads {members_file} ( sort -k 2 x )"),
        techniques=("left join of csv files", "sort lines"),
    )
    read, request = Read(SURE), "left join of two tables"
    ((_, found),) = read_again(request, [weighed(Fit.NO, 0.3, joined)], read)
    assert found.reasons == ("read together with “Put the fee beside every member”, it asks for this work",)
    whole = (
        "Put the fee beside every member "
        "(left join of csv files, sort lines; sort: by field 2 , reads members file)"
    )
    assert read.pairs == [(request, "Put the fee beside every member"), (request, whole)]


def test_what_is_in_doubt_is_read_the_other_way_round_too() -> None:
    def read(request: str, _goal: str) -> float:
        return 1.0 if request == "sum bills" else -3.0

    assert reading_of("sum bills", TOTALS, read) == Together(1.0, 1.0, -1.0)


@pytest.mark.parametrize("log_odds", [SPEAKS_FOR, SPEAKS_AGAINST])
def test_what_is_not_in_doubt_is_read_one_way_only(log_odds: float) -> None:
    read = Read(log_odds)
    assert reading_of("sum bills", TOTALS, read) == Together(log_odds, log_odds, log_odds)
    assert read.pairs == [("sum bills", "Total all invoices of March")]


def test_what_seemed_to_fit_is_refused_once_it_was_read() -> None:
    ((_, found),) = read_again("mail the invoices", [weighed(Fit.MAYBE, 0.7)], Read(NONE))
    assert found.fit is Fit.NO
    assert found.reasons == ("read together with “Total all invoices of March”, it asks for other work",)


@pytest.mark.parametrize("log_odds", [SURE, NONE])
def test_a_reason_repeats_no_more_of_a_long_goal_than_it_may(log_odds: float) -> None:
    long = ability("it", title="Total invoices", method=(("Total all invoices of the month " * 20)[:400],))
    before = weighed(Fit.NO if log_odds > 0 else Fit.MAYBE, 0.7, long)
    ((_, found),) = read_again("what do they owe us", [before], Read(log_odds))
    assert all(len(reason) <= 240 for reason in found.reasons)
    assert "…" in found.reasons[0]


def test_a_judgement_that_reading_confirms_keeps_its_reasons() -> None:
    ((_, found),) = read_again("total the invoices of May", [weighed(Fit.YES, 0.95)], Read(SURE))
    assert (found.fit, found.reasons) == (Fit.YES, ("as it was",))


@pytest.mark.parametrize("likely", [0.0, READ_FROM / 2])
def test_what_rules_decide_alone_or_is_unlikely_is_not_read(likely: float) -> None:
    before = TOTALS, Judgement(Fit.NO, 0.0, ("why",), likely, EVIDENCE if likely else None)
    read = Read(SURE)
    assert read_again("x", [before], read) == [before]
    assert read.pairs == []


def test_a_bounded_number_is_read_the_likeliest_first() -> None:
    many = [
        weighed(Fit.NO, 0.1 + number / 1000, ability(f"a{number}", title=f"Total {number}"))
        for number in range(MAX_READ + 5)
    ]
    read = Read(NONE)
    read_again("x", many, read)
    assert [goal for _, goal in read.pairs] == [f"Total {number}" for number in range(MAX_READ + 4, 4, -1)]


def index_reading(read: Callable[[str, str], float], *entries: AbilityAvailabilityEntry) -> FitIndex:
    return FitIndex(entries, Meanings(vector, WORKS, known_of(entries), together=read))


def test_a_lookup_and_a_single_judgement_agree() -> None:
    entry = taught("Total the invoices")
    for read in (Read(SURE), Read(NONE)):
        index = index_reading(read, entry)
        fitting = index.fitting(AbilityLookupQuery(user_query="faktury sum"), caller_user_id="ada")
        judged = index.judged("faktury sum", "it", caller_user_id="ada")
        assert judged is not None
        assert [one.fit for one in fitting] == ([judged.fit] if judged.fit is not Fit.NO else [])
        assert len(read.pairs) == 1


def test_rules_alone_are_not_followed_by_reading() -> None:
    read = Read(SURE)
    index_reading(read, taught("Total the invoices")).judged(
        "sum bills", "it", caller_user_id="ada", by_rules=True
    )
    assert read.pairs == []
