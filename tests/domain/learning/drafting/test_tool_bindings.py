"""A skill that was shown with tools of a tool server names that server, so that its health and routes are known."""

import json
from typing import Any

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.learning.observation import ObservedActionEvent, ToolCallReceipt, ToolEffect, ToolOutcome
from domain.learning.interpretation.meaningful import observed_tool_call
from domain.mcp.route_scoring import servers_required


def called(
    teach: Any, number: int, server: str, tool: str, outcome: ToolOutcome = ToolOutcome.OK
) -> ObservedActionEvent:
    receipt = ToolCallReceipt(
        receipt_id=teach.event_id(number),
        server_id=server,
        tool_name=tool,
        effect=ToolEffect.CREATE,
        outcome=outcome,
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
        called(teach, 71, "tickets", "close_ticket"),
        called(teach, 72, "team-calendar", "invite"),
        called(teach, 73, "team-calendar", "create_event"),
        called(teach, 74, "broken", "create_event", outcome=ToolOutcome.FAILED),
    ]
    learned = teach.learn(events)
    assert servers_required(manifest(learned)) == ["team-calendar", "tickets"]
    assert json.loads(learned.file("mcp-bindings.json")) == {
        "schema_version": 1,
        "servers": [
            {"server_id": "team-calendar", "tools": ["create_event", "invite"]},
            {"server_id": "tickets", "tools": ["close_ticket"]},
        ],
    }


def test_a_draft_without_tool_calls_is_bound_to_none(teach: Any) -> None:
    learned = teach.learn(teach.reports())
    assert servers_required(manifest(learned)) == []
    assert "mcp-bindings.json" not in {one.path for one in learned.draft.files}
