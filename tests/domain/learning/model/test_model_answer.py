import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.model_draft import ModelDraftEdits
from domain.learning.model.answer import MAX_ANSWER_CHARS, UnusableAnswer, read_answer


def edits_in(answer: str) -> ModelDraftEdits:
    return read_answer(answer, ModelDraftEdits)


GOOD: dict[str, Any] = {
    "title": "Sort the sales",
    "goal_summary": "Sort the sales by amount",
    "use_conditions": ["When sales are due"],
    "non_use_conditions": [],
    "checkpoints": [
        {"checkpoint_id": "cp-01", "goal": "The list is there", "success_condition": "It exists"}
    ],
    "trigger_phrases": ["sort the sales"],
    "negative_triggers": [],
}
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        f"\n  {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"Here it is:\n```\n{TEXT}\n```\nDo you like it?",
        f"Sure! {TEXT} I hope this helps.",
        f"<think>A set {{of things}} to do</think>{TEXT}",
    ],
    ids=["plain", "spaced", "fenced", "fenced in prose", "in prose", "after thoughts"],
)
def test_one_object_is_found_whatever_stands_around_it(answer: str) -> None:
    assert edits_in(answer).model_dump(mode="json") == GOOD


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot do that.",
        "[]",
        '"text"',
        "null",
        TEXT[:-1],
        f"{TEXT}\n{TEXT}",
        f"```json\n{TEXT}\n```\nor\n```json\n{TEXT}\n```",
        TEXT[:-1] + ', "title": "Twice"}',
        TEXT.replace("[]", "NaN", 1),
        "[" * 20_000,
        '{"a":' * 20_000,
        "9" * 10_000,
        " " * (MAX_ANSWER_CHARS + 1) + TEXT,
    ],
    ids=lambda answer: answer[:12] or "empty",
)
def test_an_answer_without_exactly_one_object_is_unusable(answer: str) -> None:
    with pytest.raises(UnusableAnswer):
        edits_in(answer)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"commands": ["rm -rf ~"]}, "the answer does not fit: extra forbidden"),
        ({"permissions": ["files.write"]}, "the answer does not fit: extra forbidden"),
        ({"title": "t" * 161}, "title"),
        ({"title": None}, "title"),
        ({"title": 7}, "title"),
        ({"use_conditions": []}, "use_conditions"),
        ({"use_conditions": "When"}, "use_conditions"),
        ({"trigger_phrases": ["a phrase"] * 9}, "trigger_phrases"),
        ({"trigger_phrases": ["p" * 121]}, "trigger_phrases/0"),
        ({"checkpoints": []}, "checkpoints"),
        ({"checkpoints": [{"checkpoint_id": "x", "goal": "g", "success_condition": "s"}]}, "checkpoints/0/"),
        (
            {
                "checkpoints": [
                    {"checkpoint_id": "cp-01", "goal": "g", "success_condition": "s", "command": "curl x"}
                ]
            },
            "checkpoints/0 does not fit: extra forbidden",
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_unusable_and_the_reason_names_the_field(
    changes: dict[str, object], where: str
) -> None:
    with pytest.raises(UnusableAnswer, match=where):
        edits_in(json.dumps(GOOD | changes))


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(UnusableAnswer, match="negative_triggers does not fit: missing"):
        edits_in(json.dumps({k: v for k, v in GOOD.items() if k != "negative_triggers"}))


@given(st.dictionaries(st.text(min_size=6), st.text(min_size=6), min_size=1))
def test_nothing_of_what_an_unusable_answer_holds_is_in_the_reason(extra: dict[str, str]) -> None:
    noted = {f"§{name}": f"§{value}" for name, value in extra.items()}
    with pytest.raises(UnusableAnswer) as unusable:
        edits_in(json.dumps(GOOD | noted))
    assert "§" not in str(unusable.value)


@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_any_text_is_edits_or_unusable(answer: str) -> None:
    with pytest.raises(UnusableAnswer):
        edits_in(answer)
