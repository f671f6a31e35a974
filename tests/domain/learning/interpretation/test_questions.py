from itertools import count
from typing import Any

import pytest

from contracts.learning.questions import LearningQuestion
from domain.learning.comparison.doubtful import DoubtfulValue
from domain.learning.interpretation.interpretation import interpret
from domain.learning.interpretation.questions import questions_for, weakest_required


def ask(teach: Any, source: Any, **limits: Any) -> tuple[LearningQuestion, ...]:
    numbers = count(7000)
    return questions_for(interpret(source), **limits, new_id=lambda: teach.id(next(numbers)), now=teach.now)


def test_the_least_certain_field_is_asked_first(teach: Any) -> None:
    questions = ask(teach, teach.source(teach.reports()))
    assert [(q.field.value, q.required) for q in questions] == [
        ("non_use_conditions", False),
        ("use_conditions", True),
        ("name", True),
    ]


def test_a_required_field_comes_before_another_of_the_same_confidence(teach: Any) -> None:
    events = [
        teach.event(1, action_label="Open the dialog"),
        teach.command(2, "cp /etc/hosts h", exit_class="ok"),
    ]
    questions = ask(teach, teach.source(events))
    assert [q.required for q in questions] == [True, True, True, False, False]
    assert len(questions) == 5


def test_each_question_carries_its_best_guess_and_its_evidence(teach: Any) -> None:
    name = next(q for q in ask(teach, teach.source(teach.reports())) if q.field == "name")
    assert name.suggestion == "Sort, archive and checksum reports"
    assert name.suggestion in name.prompt
    assert name.evidence_event_ids[0] == teach.event_id(4)
    assert name.proposal_id == teach.id(3)


def test_confirmed_and_certain_fields_are_not_asked(teach: Any) -> None:
    answers = [teach.answer("non_use_conditions", "none"), teach.answer("use_conditions", "On Mondays")]
    marks = [teach.mark("mark_goal", 1, "Publish the figures")]
    assert ask(teach, teach.source(teach.reports(), marks, answers=answers)) == ()


def test_threshold_and_limit_bound_the_questions(teach: Any) -> None:
    source = teach.source(teach.reports())
    assert len(ask(teach, source, ask_below=1.0)) == 5
    assert len(ask(teach, source, ask_below=1.0, limit=2)) == 2
    assert ask(teach, source, limit=0) == ()
    assert ask(teach, source, ask_below=0.4) == ()


def test_the_weakest_required_field_decides(teach: Any) -> None:
    assert weakest_required(interpret(teach.source(teach.reports()))) == 0.45
    answered = teach.source(teach.reports(), answers=[teach.answer("use_conditions", "On Mondays")])
    assert weakest_required(interpret(answered)) == 0.55
    unjudged = interpret(teach.source(teach.reports())).changed(confidences=())
    assert weakest_required(unjudged) == 0.0


def test_nothing_can_be_asked_without_a_proposal(teach: Any) -> None:
    with pytest.raises(ValueError, match="no proposal"):
        ask(teach, teach.source(teach.reports(), proposal_id=None))


def test_a_command_that_cannot_be_read_is_asked_about(teach: Any) -> None:
    source = teach.source([*teach.reports(), teach.command(30, "merge 'a.csv b.csv", "+all.csv")])
    command = "merge 'a.csv b.csv"

    asked = {q.field.value: q for q in ask(teach, source, unreadable=[command])}

    assert {"name", "goal_summary", "success_condition"} <= asked.keys()
    assert asked["success_condition"].evidence_event_ids[0] == teach.event_id(30)
    assert f"cannot be read, so say what it leaves behind: {command}" in asked["success_condition"].prompt


def test_doubtful_values_come_first_and_leave_room_for_the_required_fields(teach: Any) -> None:
    event_id = teach.event_id(10)
    doubts = [DoubtfulValue(str(n), "width", event_id) for n in range(100, 110)]
    source = teach.source(teach.reports())
    required = sum(q.required for q in ask(teach, source))

    asked = ask(teach, source, doubts=doubts)

    assert len(asked) == 5
    assert [q.about for q in asked[: 5 - required]] == [str(n) for n in range(100, 105 - required)]
    assert asked[0].prompt.startswith("Is 100 always the width?")
    assert asked[0].suggestion == "Yes, always 100"
    assert asked[0].evidence_event_ids == (event_id,)
    assert sum(q.required for q in asked) == required
