"""A person renames, retypes and describes what the demonstrations have shown to differ."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import ParameterType, SkillParameter
from contracts.learning.proposal import with_edits
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.comparison.parameter_edits import (
    edited_parameters,
    renames,
    respoken,
    respoken_answers,
    respoken_edits,
)
from domain.learning.comparison.parameters import parameter_schema


def parameter(name: str, *examples: str, kind: str = "text") -> SkillParameter:
    shown = " and ".join(f"“{e}”" for e in examples)
    said = f"The {name.replace('_', ' ')}: {shown} in the demonstrations"
    return SkillParameter.model_validate(
        {"name": name, "type": kind, "description": said, "examples": examples, "required": all(examples)}
    )


KNOWN = (parameter("quarter", "q3", "q4"), parameter("limit", "5", "12", kind="number"))


def edits(*entries: dict[str, Any]) -> dict[str, object]:
    return {"parameters": list(entries)}


def refused(known: tuple[SkillParameter, ...], *entries: dict[str, Any]) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        edited_parameters(known, edits(*entries))
    assert refusal.value.code is ErrorCode.REVISION_INVALID
    assert len(refusal.value.message) <= 240
    return refusal.value


def test_a_parameter_gets_another_name_type_description_and_need() -> None:
    change = {
        "name": "limit",
        "new_name": "rows",
        "type": "choice",
        "description": "How many",
        "required": False,
    }
    quarter, rows = edited_parameters(KNOWN, edits(change))

    assert quarter == KNOWN[0]
    assert rows.model_dump(mode="json") == {
        "name": "rows",
        "type": "choice",
        "description": "How many",
        "examples": ["5", "12"],
        "required": False,
    }
    assert parameter_schema([rows])["required"] == []


def test_a_drafted_description_follows_the_name_and_a_written_one_stays() -> None:
    renamed = edited_parameters(KNOWN, edits({"name": "quarter", "new_name": "fiscal_quarter"}))
    by_hand = edited_parameters(KNOWN, edits({"name": "quarter", "description": "Which quarter"}))
    again = edited_parameters(by_hand, edits({"name": "quarter", "new_name": "period"}))

    assert renamed[0].description == "The fiscal quarter: “q3” and “q4” in the demonstrations"
    assert again[0].description == "Which quarter"


@pytest.mark.parametrize(
    ("entry", "field", "said"),
    [
        ({"name": "month", "new_name": "period"}, "parameters/month/name", "there are quarter and limit"),
        ({"name": "quarter", "new_name": "limit"}, "parameters/quarter/new_name", "another parameter"),
        ({"name": "quarter", "type": "number"}, "parameters/quarter/type", "another kind"),
        ({"name": "limit", "type": "date"}, "parameters/limit/type", "another kind"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_by_name(entry: dict[str, Any], field: str, said: str) -> None:
    refusal = refused(KNOWN, entry)

    assert refusal.extra["fields"] == [field]
    assert said in refusal.message


def test_a_single_demonstration_has_no_parameter_to_edit() -> None:
    assert "showed none" in refused((), {"name": "quarter", "type": "text"}).message


def test_two_parameters_may_swap_their_names() -> None:
    swap = edits({"name": "quarter", "new_name": "limit"}, {"name": "limit", "new_name": "quarter"})
    found = edited_parameters(KNOWN, swap)

    assert [p.name for p in found] == ["limit", "quarter"]
    # What either name stands for in a text is not known: nothing is rewritten.
    assert renames(KNOWN, found) == {}


def test_a_later_edit_goes_by_the_name_that_is_seen() -> None:
    kept = with_edits({"title": "Pack"}, edits({"name": "quarter", "new_name": "period"}))
    after = with_edits(kept, edits({"name": "period", "new_name": "time", "required": False}))

    assert after == {"title": "Pack", **edits({"name": "quarter", "new_name": "time", "required": False})}
    assert edited_parameters(KNOWN, after)[0].name == "time"


def test_a_name_that_was_renamed_before_is_gone() -> None:
    kept = with_edits({}, edits({"name": "quarter", "new_name": "period"}))
    refusal = refused(KNOWN, *with_edits(kept, edits({"name": "quarter", "type": "text"}))["parameters"])  # type: ignore[misc]

    assert "there are period and limit" in refusal.message


def test_an_empty_list_takes_the_edits_of_parameters_back_and_no_others() -> None:
    kept = with_edits({"title": "Pack"}, edits({"name": "quarter", "new_name": "period"}))

    assert with_edits(kept, {"parameters": []}) == {"title": "Pack"}


def test_texts_of_a_person_follow_a_new_name() -> None:
    said = {"goal_summary": "Pack {quarter}, {other} and quarter", **edits({"name": "quarter"})}

    assert respoken_edits(said, {"quarter": "period"}) == {
        "goal_summary": "Pack {period}, {other} and quarter",
        **edits({"name": "quarter"}),
    }


NAMES = st.sampled_from(["a", "b", "c", "d"])
ENTRY = st.builds(lambda name, new: {"name": name, "new_name": new}, NAMES, NAMES)


@given(st.lists(st.lists(ENTRY, max_size=3), max_size=4))
def test_renaming_again_and_again_is_as_good_as_renaming_what_is_there(
    batches: list[list[dict[str, str]]],
) -> None:
    drafted = tuple(parameter(name, f"{name}1", f"{name}2") for name in "abc")
    kept: dict[str, object] = {}
    present = drafted
    for batch in batches:
        try:
            present_after = edited_parameters(present, edits(*batch))
        except Refusal:
            continue
        merged = with_edits(kept, edits(*batch)) if batch else kept
        assert edited_parameters(drafted, merged) == present_after
        kept, present = merged, present_after


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner), max_leaves=5))
def test_without_a_new_name_nothing_is_rewritten(value: Any) -> None:
    assert respoken(value, {}) == value


def test_what_is_renamed_to_a_version_takes_any_text() -> None:
    (new,) = edited_parameters(
        (SkillParameter(name="new", type=ParameterType.NUMBER, description="d", examples=("2.1",)),),
        edits({"name": "new", "new_name": "version"}),
    )
    assert (new.name, new.type) == ("version", ParameterType.TEXT)


def test_a_suggestion_that_was_taken_speaks_of_a_parameter_by_the_name_that_another_answer_gave_it() -> None:
    number, now = "01890000-0000-7000-8000-000000000001", datetime(2026, 5, 1, tzinfo=UTC)
    question = LearningQuestion(
        question_id=number,
        proposal_id=number,
        field=QuestionField.USE_CONDITIONS,
        prompt="When?",
        suggestion="When {new} is out",
        created_at=now,
    )
    answer = LearningAnswer(question_id=number, proposal_id=number, answer="as suggested", created_at=now)

    ((asked, _),) = respoken_answers([(question, answer)], {"new": "version"})
    assert asked.suggestion == "When {version} is out"
