"""A capture holds one demonstration for each start mark; marks, pauses and trims belong to theirs."""

import pytest

from contracts.errors import Refusal
from contracts.learning.observation import ObservedActionEvent, WorkflowBoundary
from contracts.learning.validation import SafetyClass
from domain.learning.comparison.demonstrations import (
    compared,
    shown_demonstrations,
    unrehearsed_actions,
    with_further_runs,
)
from domain.learning.interpretation.steps import all_events
from tests.domain.conftest import Teaching

T = Teaching()


def made(at: int, name: str) -> ObservedActionEvent:
    return T.command(at, f"sort in/{name}.csv > out/{name}.txt", f"+out/{name}.txt")


def shown(events: list[ObservedActionEvent], marks: list[WorkflowBoundary]) -> list[list[int]]:
    """The seconds at which the events of each demonstration happened."""
    return [
        [round((event.created_at - T.now).total_seconds()) for event in all_events(steps)]
        for steps in shown_demonstrations(events, marks)
    ]


EVENTS = [made(1, "a"), made(2, "b"), made(11, "c"), made(12, "d")]
STARTS = [T.mark("start", 0), T.mark("pause", 5), T.mark("start", 10)]


def test_without_a_second_start_there_is_one_demonstration() -> None:
    assert shown(EVENTS, [T.mark("start", 0)]) == [[1, 2, 11, 12]]


def test_a_second_start_begins_a_second_demonstration() -> None:
    assert shown(EVENTS, STARTS) == [[1, 2], [11, 12]]


def test_what_happens_between_two_demonstrations_counts_in_neither() -> None:
    assert shown([*EVENTS, made(7, "reset")], STARTS) == [[1, 2], [11, 12]]


def test_a_trim_cuts_only_the_demonstration_of_its_event() -> None:
    marks = [*STARTS, T.mark("trim_start", 20, to_event=12), T.mark("trim_end", 21, to_event=1)]

    assert shown(EVENTS, marks) == [[1], [12]]


def test_a_step_marked_in_the_first_demonstration_does_not_label_the_second() -> None:
    marks = [*STARTS, T.mark("mark_step", 0.5, "Collect everything")]
    first, second = shown_demonstrations(EVENTS, marks)

    assert [step.label for step in first] == ["Collect everything"]
    assert "Collect everything" not in [step.label for step in second]


def test_a_demonstration_without_anything_in_it_is_left_out() -> None:
    assert shown(EVENTS[:2], STARTS) == [[1, 2]]


def test_start_marks_that_name_their_events_part_a_capture_whose_times_overlap() -> None:
    events = [made(1, "a"), made(30, "b"), made(2, "c"), made(31, "d")]
    marks = [T.mark("start", 1, to_event=1), T.mark("start", 2, to_event=2)]

    assert shown(events, marks) == [[1, 30], [2, 31]]


def test_a_single_demonstration_is_compared_with_nothing() -> None:
    assert compared(shown_demonstrations(EVENTS, [T.mark("start", 0)])) is None


def test_demonstrations_of_different_tasks_are_refused() -> None:
    events = [made(1, "a"), T.command(11, "pandoc a.md -o a.pdf", "+a.pdf")]
    with pytest.raises(Refusal) as refused:
        compared(shown_demonstrations(events, STARTS))

    assert refused.value.code == "INCOMPATIBLE_TRACES"
    assert refused.value.extra["share"] == 0.0


def run(at: int, name: str, safety: str) -> ObservedActionEvent:
    """A run of an executable skill."""
    skill = {"adapter_kind": "wrapper_receipt", "app_family": "skills", "target_ref": f"skills/{name}"}
    return T.event(at, action_label=f"{name} in skills", tool={"safety_class": safety}, **skill)


@pytest.mark.acceptance("X-34")
def test_a_skill_that_was_run_beside_commands_of_its_step_is_told_with_its_class() -> None:
    events = [made(1, "a"), run(2, "Sign-off", "high"), made(3, "b")]
    (steps,) = shown_demonstrations(events, [T.mark("start", 0), T.mark("mark_step", 0.5, "Sign the report")])
    assert [step.label for step in steps] == ["Sign the report"]
    (told,) = unrehearsed_actions(steps, [])
    assert (told.command, told.safety_class) == ("Sign-off in skills", SafetyClass.HIGH)


@pytest.mark.acceptance("X-34")
def test_a_skill_that_was_run_in_a_further_demonstration_alone_is_told_once() -> None:
    events = [made(1, "a"), run(2, "Sign-off", "medium"), made(11, "c"), run(12, "Sign-off", "medium")]
    events += [run(13, "Debit", "high"), run(14, "Debit", "high")]
    demonstrations = shown_demonstrations(events, [T.mark("start", 0), T.mark("start", 10)])
    told = with_further_runs(unrehearsed_actions(demonstrations[0], []), demonstrations)
    assert [(one.command, one.safety_class) for one in told] == [
        ("Sign-off in skills", SafetyClass.MEDIUM),
        ("Debit in skills", SafetyClass.HIGH),
    ]
