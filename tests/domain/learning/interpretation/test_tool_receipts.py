"""The receipt of a tool call becomes an observation of a session that watches the agent from inside."""

from typing import Any

import pytest

from contracts.learning.observation import ObservedActionEvent, ToolCallReceipt
from domain.learning.interpretation.meaningful import observed_tool_call, went_wrong


def receipt(teach: Any, **changes: object) -> ToolCallReceipt:
    values: dict[str, object] = {
        "receipt_id": teach.id(77),
        "server_id": "team-calendar",
        "tool_name": "create_event",
        "effect": "create",
        "outcome": "ok",
        "argument_names": ["title", "starts_at"],
        "resource_ref": "Team sync",
        "finished_at": teach.now,
    }
    return ToolCallReceipt.model_validate(values | changes)


def observed(teach: Any, **changes: object) -> ObservedActionEvent:
    session = teach.session(state="capturing", observation_mode="inside_agent")
    event = observed_tool_call(receipt(teach, **changes), session)
    assert event is not None
    return event


def test_the_event_names_tool_arguments_and_outcome(teach: Any) -> None:
    event = observed(teach)
    assert event.action_label == "Create event in team calendar: Team sync"
    assert (event.adapter_kind, event.app_family) == ("mcp_receipt", "team-calendar")
    assert event.target_ref == "team-calendar/create_event"
    assert event.before_state_ref == "with title, starts_at"
    assert (event.after_state_ref, event.control_surface) == ("ok", "mcp_server")
    assert (event.caused_state_change, event.created_at) == (True, teach.now)


@pytest.mark.parametrize(
    ("name", "title", "label"),
    [
        ("listEvents", None, "List Events in team calendar"),
        ("files/read-all", None, "Files read all in team calendar"),
        ("x", "Find a free slot", "Find a free slot in team calendar"),
    ],
)
def test_a_tool_is_named_for_people(teach: Any, name: str, title: str | None, label: str) -> None:
    assert observed(teach, tool_name=name, tool_title=title, resource_ref=None).action_label == label


@pytest.mark.parametrize(
    ("effect", "outcome", "changed"),
    [("read", "ok", False), ("send", "ok", True), ("update", "failed", False), ("delete", "blocked", False)],
)
def test_only_a_change_that_went_well_changed_something(
    teach: Any, effect: str, outcome: str, changed: bool
) -> None:
    event = observed(teach, effect=effect, outcome=outcome)
    assert event.caused_state_change is changed
    assert went_wrong(event) is (outcome != "ok")


@pytest.mark.parametrize(
    ("mode", "state", "watched"),
    [
        ("inside_agent", "armed", True),
        ("mixed", "capturing", True),
        ("outside_agent", "capturing", False),
        ("none", "capturing", False),
        ("inside_agent", "paused", False),
        ("inside_agent", "stopped", False),
    ],
)
def test_only_a_session_that_watches_the_agent_now_sees_it(
    teach: Any, mode: str, state: str, watched: bool
) -> None:
    session = teach.session(state=state, observation_mode=mode)
    assert (observed_tool_call(receipt(teach), session) is not None) is watched


def test_one_call_is_one_event_however_often_it_is_told(teach: Any) -> None:
    assert observed(teach) == observed(teach)
    assert observed(teach).event_id != observed(teach, receipt_id=teach.id(78)).event_id


def test_a_secret_in_what_was_acted_on_is_masked(teach: Any) -> None:
    event = observed(teach, resource_ref="https://me:hunter2@db.example/x?token=hunter3")
    assert "hunter" not in event.model_dump_json()
