"""Values that a demonstration leaves open are asked about, and an answer makes each fixed or a parameter."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.learning.interpretation import SkillParameter
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.comparison.doubtful import DoubtfulValue, doubtful_values, value_note, with_answers
from domain.learning.comparison.parameter_edits import edited_parameters
from domain.learning.comparison.single_demonstration import shown_parameters

ID = "01890000-0000-7000-8000-000000000001"
NOW = datetime(2026, 5, 1, tzinfo=UTC)

CASES: dict[str, tuple[str, tuple[str, ...], list[tuple[str, str]]]] = {
    "a width": ("Shrink the photos", ("mogrify -path small -resize 800 photos/*.jpg",), [("800", "width")]),
    "a size": ("Shrink the photos", ("convert in.png -resize 800x600 out.png",), [("800x600", "size")]),
    "a quality": ("Shrink", ("convert in.png -quality 85 out.jpg",), [("85", "quality")]),
    "a count that became a parameter": ("Make parts", ("head -n 40 a.csv > b.csv",), [("40", "count")]),
    "the lines of a piece": ("Make parts", ("split -l 500 big.csv part_",), [("500", "lines")]),
    "an option of an unknown program": ("Clean it", ("python clean.py --limit 20",), [("20", "limit")]),
    "a rate": ("Convert the sound", ("ffmpeg -i a.wav -b:a 128k b.mp3",), [("128k", "sound rate")]),
    "a text": ("Pack it", ("tar --exclude='*.tmp' -czf b.tgz docs",), [("*.tmp", "pattern left out")]),
    "numbers before texts": (
        "Pack it",
        ("tar --exclude='*.tmp' -czf b.tgz docs", "split -l 500 b.tgz part_"),
        [("500", "lines"), ("*.tmp", "pattern left out")],
    ),
    "a number of commits": ("Log it", ("git log -n 5 --oneline > log",), [("5", "commits")]),
    "a single one": ("Find it", ("git log -1 --format=%H > found", "tail -1 a > b"), []),
    "where lines are split": ("Add a title", ("{ head -2 a; echo x; tail -n +3 a; } > b",), []),
    "in the goal": ("Shrink to 800 pixels", ("mogrify -resize 800 photos/*.jpg",), []),
    "in the goal as a word": ("List the three largest", ("sort -n a | head -n 3 > b",), []),
    "shown twice": ("Shrink", ("convert a.png -resize 800 b.png", "convert c.png -resize 800 d.png"), []),
    "a sort key and a separator": ("Sort it", ("sort -t, -k2,2nr a.csv > b.csv",), []),
    "an input and an output": ("Sort it", ("sort -o b.csv a.csv",), []),
    "a flag": ("Pack it", ("zip -9 -r out.zip docs",), []),
    "a date": ("Report", ("python report.py --since 2026-01-31",), []),
    "what cannot be read": ("Merge", ("merge 'a.csv b.csv",), []),
}


def drafted(goal: str, lines: tuple[str, ...]) -> tuple[SkillParameter, ...]:
    return shown_parameters(goal, [(line, ".") for line in lines], (), ())


@pytest.mark.parametrize("case", CASES)
def test_numbers_and_texts_that_neither_the_goal_nor_a_second_use_settles_are_doubtful(case: str) -> None:
    goal, lines, expected = CASES[case]

    found = doubtful_values(goal, [(ID, line) for line in lines], drafted(goal, lines))

    assert [(one.value, one.noun) for one in found] == expected


def test_the_question_names_the_value_and_what_it_is() -> None:
    def asked(line: str) -> str:
        (doubt,) = doubtful_values("Do it", [(ID, line)], ())
        return doubt.prompt.partition("?")[0]

    assert asked("mogrify -resize 800 photos/*.jpg") == (
        "Is 800 always the width in “mogrify -resize 800 photos/*.jpg” (mogrify: resized to 800)"
    )
    assert asked("cat a > b; split -l 500 big.csv part_").startswith(
        "Is 500 always the number of lines in “split -l 500 big.csv part_” (split: "
    )
    assert asked("{ head -1 a; tail -n +3 a; } > b") == (
        "Is +3 always the first line in “tail -n +3 a” (tail: from line 3 on)"
    )


def test_a_limit_that_a_field_is_compared_with_is_doubtful_and_an_answer_makes_it_a_parameter() -> None:
    line = "awk -F';' '$2<20{print $1}' stock.csv > short.txt"
    (doubt,) = doubtful_values("Report what runs short", [(ID, line)], ())
    assert (doubt.value, doubt.noun) == ("20", "limit")
    assert doubt.prompt.startswith("Is 20 always the limit in “awk -F';' '$2<20")
    assert "(awk: $2 is below 20)" in doubt.prompt
    assert answered("No, call it least", line) == {"least": "20"}


def asked_and_said(
    text: str, line: str
) -> tuple[
    list[tuple[LearningQuestion, LearningAnswer]], tuple[DoubtfulValue, ...], tuple[SkillParameter, ...]
]:
    """The question about the line's value answered with ``text``, what was asked about, and what was drafted."""
    parameters = drafted("Do it", (line,))
    doubts = doubtful_values("Do it", [(ID, line)], parameters)
    (doubt,) = doubts
    question = LearningQuestion(
        question_id=ID,
        proposal_id=ID,
        field=QuestionField.PARAMETER,
        prompt=doubt.prompt,
        about=doubt.value,
        suggestion=doubt.suggestion,
        created_at=NOW,
    )
    answer = LearningAnswer(question_id=ID, proposal_id=ID, answer=text, created_at=NOW)
    return [(question, answer)], doubts, parameters


def answered(text: str, line: str, **edits: Any) -> dict[str, str]:
    """The parameters, name to value, after the question about the line's value was answered with ``text``."""
    answers, doubts, parameters = asked_and_said(text, line)
    said = with_answers(edits, answers, doubts, parameters)
    return {p.name: p.examples[0] for p in edited_parameters(parameters, said, [line])}


LITERAL = "convert in.png -resize 800 out.png"
DRAFTED = "python clean.py --limit 20"


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        (LITERAL, "yes", {}),
        (LITERAL, "Yes, always 800", {}),
        (LITERAL, "as suggested", {}),
        (LITERAL, "no", {"width": "800"}),
        (LITERAL, "No, call it pixels", {"pixels": "800"}),
        (LITERAL, "no: max width", {"width": "800"}),
        (LITERAL, "pixels", {"pixels": "800"}),
        (LITERAL, "a parameter called `max width`", {"max_width": "800"}),
        (LITERAL, "no, call it Größe", {"groesse": "800"}),
        (LITERAL, "Übergröße", {"uebergroesse": "800"}),
        (LITERAL, "It varies", {"width": "800"}),
        (LITERAL, "It never changes", {}),
        (LITERAL, "no parameter", {}),
        (LITERAL, "yes, it does not change", {}),
        (DRAFTED, "yes", {}),
        (DRAFTED, "always", {}),
        (DRAFTED, "no", {"limit": "20"}),
        (DRAFTED, "No, it may change; call it limit", {"limit": "20"}),
        (DRAFTED, "as suggested", {"limit": "20"}),
        (DRAFTED, "no, call it rows", {"rows": "20"}),
        (DRAFTED, "it stays the same", {}),
        (DRAFTED, "It is not a parameter", {}),
    ],
)
def test_an_answer_makes_the_value_fixed_or_a_parameter_by_its_name(
    line: str, text: str, expected: dict[str, str]
) -> None:
    assert answered(text, line) == expected


def test_a_later_edit_of_what_an_answer_made_wins() -> None:
    renamed = {"parameters": [{"name": "pixels", "new_name": "edge"}]}
    assert answered("no, call it pixels", LITERAL, **renamed) == {"edge": "800"}
    fixed = {"parameters": [{"name": "rows", "fixed": True}]}
    assert answered("no, call it rows", DRAFTED, **fixed) == {}
    by_drafted_name = {"parameters": [{"name": "limit", "fixed": True}]}
    assert answered("no, call it rows", DRAFTED, **by_drafted_name) == {}


UNCLEAR = (
    "I would have to ask somebody",
    "hm",
    "maybe",
    "What do you mean?",
    "dunno",
    "yes, but it may change",
    "always another one",
    "Yes, call it pixels",
    "No, always the same",
    "no, keep it",
    "no, 1200 for posters",
    "no changes",
    "?",
    "later",
)


@pytest.mark.parametrize("text", UNCLEAR)
def test_an_unclear_answer_changes_nothing_and_is_told_with_how_to_say_it(text: str) -> None:
    answers, doubts, parameters = asked_and_said(text, LITERAL)

    assert with_answers({}, answers, doubts, parameters) == {}
    assert value_note(answers, doubts, {}) == (
        f"“{text}” does not say whether 800 is always the width: it stays 800. "
        "If it may change, revise: make 800 a parameter called NAME."
    )


@pytest.mark.parametrize("text", UNCLEAR)
def test_an_unclear_answer_about_a_drafted_parameter_leaves_it_and_is_told(text: str) -> None:
    answers, doubts, parameters = asked_and_said(text, DRAFTED)

    assert with_answers({}, answers, doubts, parameters) == {}
    assert value_note(answers, doubts, {}) == (
        f"“{text}” does not say whether 20 is always the limit: it stays the parameter limit. "
        "If it is always 20, revise: make limit fixed."
    )


@pytest.mark.parametrize("text", ["yes", "no", "No, call it pixels", "pixels", "as suggested", "It varies"])
def test_nothing_is_told_of_an_answer_that_is_clear(text: str) -> None:
    answers, doubts, _ = asked_and_said(text, LITERAL)

    assert value_note(answers, doubts, {}) == ""


def test_nothing_is_told_any_more_once_a_revision_has_settled_the_value() -> None:
    answers, doubts, _ = asked_and_said("hm", LITERAL)
    made = {"parameters": [{"name": "pixels", "value": "800", "fixed": False}]}
    assert value_note(answers, doubts, made) == ""

    answers, doubts, _ = asked_and_said("hm", DRAFTED)
    assert value_note(answers, doubts, {"parameters": [{"name": "limit", "fixed": True}]}) == ""


def test_an_answer_about_a_value_that_is_in_no_command_any_more_is_told() -> None:
    answers, _, _ = asked_and_said("no, call it pixels", LITERAL)

    assert (
        value_note(answers, (), {}) == "“no, call it pixels” is about 800, which no command shows any more."
    )
