"""What only some demonstrations showed is noted, with which ones: neither dropped nor required."""

from datetime import timedelta

import pytest

from contracts.learning.observation import ObservedActionEvent
from contracts.learning.questions import QuestionField
from domain.learning.comparison.demonstrations import (
    SharedTask,
    compared,
    further_demonstrations,
    in_some_only,
    shared_task,
    with_optional_steps,
    without_undone_effects,
)
from domain.learning.comparison.parameters import parameterised, parameters_of
from domain.learning.drafting.drafting import draft_skill
from domain.learning.interpretation.interpretation import interpret
from domain.learning.interpretation.questions import questions_for
from domain.learning.interpretation.steps import DemonstratedStep, captured_steps
from tests.domain.conftest import Learned, Teaching
from tests.fixtures.starting import state_of

T = Teaching()
Steps = tuple[DemonstratedStep, ...]


def shown(at: int, *commands: tuple[str, str]) -> Steps:
    events: list[ObservedActionEvent] = [T.command(at + n, *one) for n, one in enumerate(commands)]
    return captured_steps(events, [])


def sort(quarter: str) -> tuple[str, str]:
    return f"sort -n in/{quarter}.csv > out/{quarter}.txt", f"+out/{quarter}.txt"


def pack(quarter: str) -> tuple[str, str]:
    return f"tar czf {quarter}.tgz out/{quarter}.txt", f"+{quarter}.tgz"


def check(quarter: str) -> tuple[str, str]:
    return f"sha256sum {quarter}.tgz > {quarter}.sum", f"+{quarter}.sum"


def task_of(*demonstrations: Steps) -> SharedTask:
    comparison = compared(demonstrations)
    return shared_task(demonstrations, parameters_of(comparison) if comparison else ())


def learned(*demonstrations: Steps, goal_answered: bool = False) -> Learned:
    comparison = compared(demonstrations)
    assert comparison is not None
    parameters = parameters_of(comparison)
    task = shared_task(demonstrations, parameters)
    answers = [T.answer("success_condition", "The archive is there")] if goal_answered else []
    source = T.source([], steps=task.steps, answers=answers)
    found = without_undone_effects(interpret(source), demonstrations[0])
    found = parameterised(with_optional_steps(found, task.optional), parameters, {})
    return Learned(found, demonstrations[0], draft_skill(found, demonstrations[0], T.session()))


PLAIN = shown(1, sort("q3"), pack("q3")), shown(11, sort("q4"), pack("q4"))
IN_FIRST = shown(1, sort("q3"), pack("q3"), check("q3")), shown(11, sort("q4"), pack("q4"))
IN_SECOND = shown(1, sort("q3"), pack("q3")), shown(11, sort("q4"), pack("q4"), check("q4"))


def test_demonstrations_with_the_same_steps_have_no_optional_one() -> None:
    assert task_of(*PLAIN) == SharedTask(PLAIN[0], ())


def test_a_single_demonstration_is_the_task() -> None:
    assert task_of(PLAIN[0]) == SharedTask(PLAIN[0], ())


def test_a_step_that_only_the_first_showed_is_noted_and_required_of_nobody() -> None:
    found = learned(*IN_FIRST)
    (step,) = found.interpretation.optional_steps
    text = found.file("SKILL.md")
    required = "\n".join(
        [
            *(c.success_condition for c in found.interpretation.checkpoints),
            *found.interpretation.success_conditions,
            *(e.path for e in found.interpretation.observed_effects),
        ]
    )

    assert (step.demonstrations, step.of) == ((1,), 2)
    assert "{quarter}.sum" in step.label
    assert ".sum" not in required
    assert "## Optional steps" in text
    assert "in demonstration 1 of 2" in text
    # It is part of what is rehearsed: that is how the first demonstration went.
    assert any("sha256sum" in command.command for command in found.draft.rehearsal)


def test_a_step_that_only_the_second_showed_is_noted_too() -> None:
    found = learned(*IN_SECOND)
    (step,) = found.interpretation.optional_steps

    assert step.demonstrations == (2,)
    assert step.evidence_event_ids == (T.event_id(13),)
    assert "in demonstration 2 of 2" in found.file("SKILL.md")


def test_a_step_of_two_in_three_is_noted_once() -> None:
    third = shown(21, sort("q1"), pack("q1"), check("q1"))
    (step,) = task_of(*IN_SECOND, third).optional

    assert step.demonstrations == (2, 3)
    assert in_some_only(step) == "in demonstrations 2 and 3 of 3"


def test_another_program_that_makes_the_same_file_is_the_same_step() -> None:
    other = "awk 1 in/q4.csv > out/q4.txt", "+out/q4.txt"
    first, second = (sort("q3"), pack("q3"), check("q3")), (other, pack("q4"), check("q4"))

    assert task_of(shown(1, *first), shown(11, *second)).optional == ()


def test_what_an_optional_step_takes_away_again_is_no_effect_to_rehearse() -> None:
    clean = "rm out/q3.txt", "-out/q3.txt"
    found = learned(shown(1, sort("q3"), pack("q3"), clean), shown(11, sort("q4"), pack("q4")))

    assert [e.path for e in found.interpretation.observed_effects] == ["q3.tgz"]


def confidence(found: Learned, field: QuestionField) -> float:
    return next(c.confidence for c in found.interpretation.confidences if c.field is field)


def test_the_demonstrations_disagreeing_lowers_the_confidence_and_asks_about_it() -> None:
    sure, unsure = learned(*PLAIN), learned(*IN_SECOND)
    asked = questions_for(unsure.interpretation, new_id=lambda: T.id(9), now=T.now)
    about = next(q for q in asked if q.field is QuestionField.SUCCESS_CONDITION)

    assert confidence(unsure, QuestionField.SUCCESS_CONDITION) < 0.6
    assert confidence(sure, QuestionField.SUCCESS_CONDITION) >= 0.6
    assert confidence(unsure, QuestionField.GOAL_SUMMARY) < confidence(sure, QuestionField.GOAL_SUMMARY)
    assert "in demonstration 2 of 2" in about.prompt
    assert "does it belong to the task?" in about.prompt
    assert about.evidence_event_ids[0] == T.event_id(13)


def test_what_a_person_has_confirmed_stays_certain() -> None:
    found = learned(*IN_SECOND, goal_answered=True)

    assert confidence(found, QuestionField.SUCCESS_CONDITION) == 1.0


@pytest.mark.parametrize("personal", ["anna@example.org"])
def test_a_label_that_is_personal_is_masked(personal: str) -> None:
    extra = f"printf x > {personal}.txt", f"+{personal}.txt"
    found = task_of(PLAIN[0], shown(11, sort("q4"), pack("q4"), extra))

    assert found.optional
    assert personal not in found.optional[0].label


def test_at_most_three_demonstrations_are_kept_for_the_rehearsal_with_what_they_need() -> None:
    shows = [shown(10 * n, sort(f"q{n}"), pack(f"q{n}")) for n in range(1, 6)]
    second, third = further_demonstrations(shows)

    assert (second.number, third.number) == (2, 3)
    assert [command.command for command in second.commands] == [sort("q2")[0], pack("q2")[0]]
    assert [effect.path for effect in second.effects] == ["out/q2.txt", "q2.tgz"]
    assert second.inputs == ("in/q2.csv",)


def test_each_further_demonstration_begins_with_the_folder_that_was_kept_last_before_it() -> None:
    shows = [shown(10 * n, sort(f"q{n}"), pack(f"q{n}")) for n in range(1, 4)]
    first, other = (state_of(T.id(1), {}, taken_at=T.now + timedelta(seconds=at)).state for at in (1, 15))
    second, third = further_demonstrations(shows, [other, first])

    assert second.starting_state_id == third.starting_state_id == other.state_id
    assert further_demonstrations(shows, [first])[0].starting_state_id == first.state_id
    assert further_demonstrations(shows)[0].starting_state_id is None
