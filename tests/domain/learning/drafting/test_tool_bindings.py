"""A skill that was shown with tools of a tool server names that server, so that its health and routes are known."""

import json
from typing import Any

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.learning.observation import (
    ObservedActionEvent,
    ToolCallReceipt,
    ToolEffect,
    ToolObservation,
    ToolOutcome,
)
from domain.learning.interpretation.meaningful import observed_tool_call
from domain.mcp.route_scoring import servers_required


def called(
    teach: Any,
    number: int,
    server: str,
    tool: str,
    outcome: ToolOutcome = ToolOutcome.OK,
    effect: ToolEffect = ToolEffect.CREATE,
    definition: str = "a",
) -> ObservedActionEvent:
    receipt = ToolCallReceipt(
        receipt_id=teach.event_id(number),
        server_id=server,
        tool_name=tool,
        effect=effect,
        outcome=outcome,
        tool=ToolObservation(definition_hash=definition * 64, scopes=("calendar.write",)),
        finished_at=teach.now,
    )
    session = teach.session(state="capturing", observation_mode="inside_agent")
    event = observed_tool_call(receipt, session)
    assert event is not None
    return event.changed(created_at=teach.event(number).created_at)


def manifest(learned: Any) -> CapabilityManifest:
    return CapabilityManifest.model_validate_json(
        learned.file(f"capabilities/{learned.draft.capability_id}.json")
    )


def test_a_draft_from_tool_calls_is_bound_to_their_servers(teach: Any) -> None:
    events = [
        *teach.reports(),
        called(teach, 70, "team-calendar", "create_event"),
        called(teach, 71, "tickets", "find_ticket", effect=ToolEffect.READ),
        called(teach, 72, "team-calendar", "invite"),
        called(teach, 73, "team-calendar", "create_event", definition="b"),
        called(teach, 74, "broken", "create_event", outcome=ToolOutcome.FAILED),
    ]
    learned = teach.learn(events)
    found = manifest(learned)
    assert servers_required(found) == ["team-calendar", "tickets"]
    bound = [
        (one.server_id, one.tool_name, one.ask_first, one.definition_hash) for one in found.tool_bindings
    ]
    assert bound == [
        ("team-calendar", "create_event", True, "b" * 64),
        ("tickets", "find_ticket", False, "a" * 64),
        ("team-calendar", "invite", True, "a" * 64),
    ]
    assert {one.scopes for one in found.tool_bindings} == {("calendar.write",)}
    assert {one.capability_id for one in found.tool_bindings} == {found.capability_id}
    assert json.loads(learned.file("mcp-bindings.json")) == {
        "schema_version": 1,
        "bindings": [one.model_dump(mode="json") for one in found.tool_bindings],
    }


def test_a_draft_without_tool_calls_is_bound_to_none(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    assert servers_required(manifest(learned)) == []
    assert "mcp-bindings.json" not in {one.path for one in learned.draft.files}
