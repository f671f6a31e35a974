from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.memory.memory import Provenance, WorldFact
from domain.skills.filling import PreconditionUnmet, filled, has_references

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def _fact(object_: str, confidence: float = 1.0) -> WorldFact:
    source = Provenance(skill_id="x", invocation_id=str(uuid7()), at=NOW)
    return WorldFact(
        fact_id=str(uuid7()),
        owner_user_id="alice",
        subject="Anna",
        predicate="age",
        object=object_,
        confidence=confidence,
        sources=(source,),
        valid_from=NOW,
        version=1,
        updated_at=NOW,
    )


def _known(*facts: WorldFact) -> Any:
    def known(subject: str, predicate: str) -> Sequence[WorldFact]:
        return facts if (subject, predicate) == ("Anna", "age") else ()

    return known


def _reference(**fields: str) -> dict[str, Any]:
    return {"$fact": {"subject": "Anna", "predicate": "age", **fields}}


@pytest.mark.acceptance("AI-29")
def test_a_reference_is_filled_wherever_it_stands() -> None:
    given = {"a": _reference(), "b": [{"c": _reference(**{"as": "integer"})}], "d": 1}
    assert has_references(given)
    assert filled(given, _known(_fact("41"))) == {"a": "41", "b": [{"c": 41}], "d": 1}


def test_an_input_without_references_stays_as_it_is() -> None:
    given = {"a": {"b": ["$fact"]}}
    assert not has_references(given)
    assert filled(given, _known()) == given


@pytest.mark.acceptance("AI-29")
@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"a": _reference()}, ()),
        ({"a": _reference()}, (_fact("41"), _fact("42"))),
        ({"a": _reference(**{"as": "number"})}, (_fact("old"),)),
        ({"a": {**_reference(), "b": 1}}, (_fact("41"),)),
        ({"a": {"$fact": "Anna age"}}, (_fact("41"),)),
        ({"a": {"$fact": {"subject": "", "predicate": "age"}}}, (_fact("41"),)),
        ({"a": {"$fact": {"subject": "Anna\0", "predicate": "age"}}}, (_fact("41"),)),
    ],
)
def test_what_is_not_known_for_sure_is_never_guessed(
    given: dict[str, Any], facts: tuple[WorldFact, ...]
) -> None:
    with pytest.raises(PreconditionUnmet):
        filled(given, _known(*facts))


def test_of_facts_that_contradict_each_other_the_surer_is_taken() -> None:
    assert filled({"a": _reference()}, _known(_fact("41", 0.9), _fact("42", 0.5))) == {"a": "41"}
