from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from domain.learning.drafting.revision import check_edits


def refused_fields(edits: dict[str, Any]) -> list[str]:
    with pytest.raises(Refusal) as refusal:
        check_edits(edits)
    assert refusal.value.code is ErrorCode.REVISION_INVALID
    assert len(refusal.value.message) <= 240
    fields = refusal.value.extra["fields"]
    assert isinstance(fields, list)
    return [str(f) for f in fields]


def test_good_edits_come_back_as_plain_values() -> None:
    edits = {
        "title": "  Weekly \n pack ",
        "proposed_skill_slug": "weekly-pack",
        "goal_summary": "Pack the week",
        "use_conditions": ("On Mondays", "On Mondays", "When asked"),
        "non_use_conditions": [],
        "success_conditions": ["The pack exists"],
        "trigger_phrases": ["pack the week"],
        "negative_triggers": ["unpack"],
        "project_scope": "global",
        "checkpoints": [{"goal": "Packed", "success_condition": "The pack exists"}],
        "parameters": [{"name": "week", "new_name": "period", "type": "text", "required": False}],
    }
    checked = check_edits(edits)
    assert checked["title"] == "Weekly pack"
    assert checked["use_conditions"] == ["On Mondays", "When asked"]
    assert checked["checkpoints"] == [
        {"checkpoint_id": "cp-01", "goal": "Packed", "success_condition": "The pack exists", "order_hint": 1}
    ]
    assert check_edits(checked) == checked


@pytest.mark.parametrize(
    ("edits", "field"),
    [
        ({"state": "approved"}, "state"),
        ({"title": ""}, "title"),
        ({"title": 7}, "title"),
        ({"title": "x" * 161}, "title"),
        ({"title": "a\u202eb"}, "title"),
        ({"goal_summary": "x" * 601}, "goal_summary"),
        ({"proposed_skill_slug": "Weekly"}, "proposed_skill_slug"),
        ({"proposed_skill_slug": "a--b"}, "proposed_skill_slug"),
        ({"proposed_skill_slug": "a" * 65}, "proposed_skill_slug"),
        ({"proposed_skill_slug": "../up"}, "proposed_skill_slug"),
        ({"use_conditions": "On Mondays"}, "use_conditions"),
        ({"use_conditions": []}, "use_conditions"),
        ({"use_conditions": ["ok", " "]}, "use_conditions/1"),
        ({"use_conditions": ["ok"] * 21}, "use_conditions"),
        ({"trigger_phrases": ["x" * 121]}, "trigger_phrases/0"),
        ({"project_scope": "everywhere"}, "project_scope"),
        ({"project_scope": ["global"]}, "project_scope"),
        ({"checkpoints": []}, "checkpoints"),
        ({"checkpoints": ["x"]}, "checkpoints/0"),
        ({"checkpoints": [{"goal": "A"}]}, "checkpoints/0/success_condition"),
        ({"checkpoints": [{"goal": "A", "success_condition": "B", "x": 1}]}, "checkpoints/0/x"),
        ({"checkpoints": [{"goal": "A", "success_condition": "B", "checkpoint_id": "1"}]},
         "checkpoints/0/checkpoint_id"),
        ({"checkpoints": [{"goal": "A", "success_condition": "B", "checkpoint_id": "cp-02"},
                          {"goal": "C", "success_condition": "D"}]}, "checkpoints/1/checkpoint_id"),
        ({"parameters": {"quarter": "period"}}, "parameters"),
        ({"parameters": ["quarter"]}, "parameters/0"),
        ({"parameters": [{"new_name": "period"}]}, "parameters/0/name"),
        ({"parameters": [{"name": "quarter"}]}, "parameters/0"),
        ({"parameters": [{"name": "quarter", "new_name": "The Period"}]}, "parameters/0/new_name"),
        ({"parameters": [{"name": "quarter", "type": "colour"}]}, "parameters/0/type"),
        ({"parameters": [{"name": "quarter", "type": ["text"]}]}, "parameters/0/type"),
        ({"parameters": [{"name": "quarter", "required": "yes"}]}, "parameters/0/required"),
        ({"parameters": [{"name": "quarter", "description": " "}]}, "parameters/0/description"),
        ({"parameters": [{"name": "quarter", "examples": ["q1"]}]}, "parameters/0/examples"),
        ({"parameters": [{"name": "q", "type": "text"}] * 21}, "parameters"),
        ({"trigger_phrases": ["Pack the week"], "negative_triggers": ["the WEEK"]}, "negative_triggers/0"),
    ],
)  # fmt: skip
def test_a_wrong_edit_is_named(edits: dict[str, Any], field: str) -> None:
    assert refused_fields(edits) == [field]


def test_all_wrong_fields_are_named_at_once() -> None:
    assert refused_fields({"title": "", "goal_summary": "", "nonsense": 1}) == [
        "goal_summary",
        "nonsense",
        "title",
    ]


def test_no_edits_are_fine() -> None:
    assert check_edits({}) == {}


def checked_or_code(edits: dict[str, Any]) -> Any:
    try:
        return check_edits(edits)
    except Refusal as refusal:
        return refusal.code


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ["title", "checkpoints", "use_conditions", "project_scope", "proposed_skill_slug", "parameters", "other"]
)


@given(st.dictionaries(FIELDS, VALUES, max_size=4))
def test_any_json_is_either_checked_for_good_or_refused(edits: dict[str, Any]) -> None:
    checked = checked_or_code(edits)
    assert checked is ErrorCode.REVISION_INVALID or check_edits(checked) == checked
