from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.memory.memory import FactAssertion, Provenance, WorldFact
from domain.memory.facts import affirmed, contradicting, key_of, new_fact, same_fact

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
INVOCATION = "018f0000-0000-7000-8000-000000000001"
FACT = "018f0000-0000-7000-8000-000000000002"


def _source(said: str | None = None) -> Provenance:
    return Provenance(skill_id="upsert_world_fact", invocation_id=INVOCATION, said=said, at=NOW)


def _says(object_: str, **fields: Any) -> FactAssertion:
    given: dict[str, Any] = {"valid_from": NOW, **fields}
    return FactAssertion(subject="Anna", predicate="lives_in", object=object_, **given)


def _fact(object_: str, **fields: Any) -> WorldFact:
    return new_fact(_says(object_, **fields), FACT, "alice", _source())


@pytest.mark.parametrize(
    ("one", "other"), [("Lives_In", "lives in"), ("  Anna  B ", "anna b"), ("ﬁnance", "finance")]
)
def test_spellings_of_one_name_are_one(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.acceptance("AI-35")
def test_another_object_at_the_same_time_contradicts() -> None:
    assert contradicting([_fact("Paris")], _says("Lisbon"))


def test_the_same_object_does_not_contradict_and_is_the_same() -> None:
    assert same_fact(_fact("Paris"), _says("  PARIS "))
    assert not contradicting([_fact("Paris")], _says("paris"))


def test_times_that_do_not_overlap_do_not_contradict() -> None:
    before = _fact("Paris", valid_from=NOW - timedelta(days=9), valid_to=NOW)
    assert not contradicting([before], _says("Lisbon"))
    assert not same_fact(before, _says("Paris"))


def test_of_several_that_may_hold_at_once_none_contradicts() -> None:
    assert not contradicting([_fact("tea", many=True)], _says("coffee"))
    assert not contradicting([_fact("tea")], _says("coffee", many=True))


def test_the_same_source_again_changes_nothing_and_another_is_added() -> None:
    known = _fact("Paris")
    assert affirmed(known, _says("Paris"), _source()) == known
    told = affirmed(known, _says("Paris"), _source("a letter"))
    assert (told.version, len(told.sources)) == (2, 2)


def test_of_very_many_sources_the_first_and_the_newest_stay() -> None:
    known = _fact("Paris")
    for number in range(60):
        known = affirmed(known, _says("Paris"), _source(f"letter {number}"))
    assert known.sources[0] == _source()
    assert known.sources[-1].said == "letter 59"
    assert len(known.sources) == 20
