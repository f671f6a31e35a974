"""Wrapped commands, launched programs and tool calls become steps like everything else that was shown."""

from typing import Any

import pytest

from contracts.learning.observation import ObservedActionEvent
from domain.learning.interpretation.noise import without_noise
from domain.learning.interpretation.steps import captured_steps


def wrapped(
    teach: Any, at: int, command: str, *produced: str, label: str = "", **how: Any
) -> ObservedActionEvent:
    event = teach.command(at, command, *produced, **how)
    changes = {"adapter_kind": "wrapper_receipt", "action_label": label or command[:240]}
    return ObservedActionEvent.model_validate(event.model_dump() | changes)


def launched(teach: Any, at: int, name: str) -> ObservedActionEvent:
    return teach.event(
        at,
        adapter_kind="process_launch",
        action_label=f"Launch {name}",
        app_family=name,
        after_state_ref="running",
    )


def called(
    teach: Any, at: int, label: str, outcome: str = "ok", *, changed: bool = True
) -> ObservedActionEvent:
    return teach.event(
        at,
        adapter_kind="mcp_receipt",
        action_label=label,
        app_family="calendar",
        target_ref=f"calendar/{label}",
        after_state_ref=outcome,
        caused_state_change=changed and outcome == "ok",
    )


def labels(*events: ObservedActionEvent) -> list[str]:
    return [step.label for step in captured_steps(events, ())]


def test_wrapped_commands_read_as_typed_ones(teach: Any) -> None:
    reports = teach.reports()
    receipts = [
        wrapped(teach, at, e.terminal.command).changed(terminal=e.terminal) for at, e in enumerate(reports, 1)
    ]
    assert labels(*receipts) == labels(*reports)


def test_a_wrapped_command_with_a_name_is_a_step_of_that_name(teach: Any) -> None:
    events = (
        wrapped(teach, 1, "mkdir out"),
        wrapped(teach, 2, "make-list > out/list.txt", "+out/list.txt", label="Fetch the list"),
        wrapped(teach, 3, "sort -o out/list.txt out/list.txt", "~out/list.txt"),
    )
    steps = captured_steps(events, ())
    assert [step.label for step in steps] == ["Prepare (mkdir)", "Fetch the list", "Sort into out/list.txt"]
    assert [step.marked for step in steps] == [False, True, False]


@pytest.mark.parametrize("label", ["sha256:0123456789abcdef", "make-list > ou…", "make-list   > out.txt"])
def test_a_label_that_is_only_the_command_names_nothing(teach: Any, label: str) -> None:
    event = wrapped(teach, 1, "make-list > out.txt", "+out.txt", label=label)
    (step,) = captured_steps([event], ())
    assert (step.label, step.marked) == ("Create out.txt", False)


def test_a_failed_wrapped_command_is_left_out_like_a_typed_one(teach: Any) -> None:
    events = (
        wrapped(teach, 1, "sort lst.txt > top.txt", exit_class="failed"),
        wrapped(teach, 2, "sort list.txt > top.txt", "+top.txt"),
    )
    assert labels(*events) == ["Sort into top.txt"]


def test_a_launched_program_belongs_to_the_command_that_left_it_running(teach: Any) -> None:
    events = (
        teach.command(1, "sort a > b", "+b"),
        teach.command(2, "player song.wav &"),
        launched(teach, 3, "player"),
        teach.command(4, "sort b > c", "+c"),
    )
    assert labels(*events) == ["Sort into b", "Launch player", "Sort into c"]


def test_a_command_that_made_something_keeps_its_name_beside_what_it_launched(teach: Any) -> None:
    events = (teach.command(1, "render > a.log", "+a.log"), launched(teach, 2, "renderd"))
    assert labels(*events) == ["Create a.log"]


def test_a_launch_that_no_command_began_is_a_step_of_its_own(teach: Any) -> None:
    assert labels(launched(teach, 1, "player")) == ["Launch player"]


def test_tool_calls_are_steps_in_their_own_words(teach: Any) -> None:
    events = (
        called(teach, 1, "Search events in calendar", changed=False),
        called(teach, 2, "Create event in calendar: Team sync"),
    )
    assert labels(*events) == ["Search events in calendar", "Create event in calendar: Team sync"]
    learned = teach.learn(events)
    assert "mcp_connector" in learned.interpretation.preferred_control_surfaces
    assert learned.interpretation.checkpoints


@pytest.mark.parametrize("outcome", ["failed", "blocked"])
def test_a_tool_call_that_changed_nothing_was_not_meant(teach: Any, outcome: str) -> None:
    events = (called(teach, 1, "Create event", outcome), called(teach, 2, "Create event"))
    assert without_noise(events) == events[1:]
