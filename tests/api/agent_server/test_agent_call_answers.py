"""The answer of the agent server to a tool call, for every status of the call."""

from datetime import UTC, datetime
from typing import Any

import pytest
from mcp_types import InputRequiredResult, TextContent
from uuid_utils import uuid7

from api.agent_server.call_tools import NO_ERROR, as_call, asks_to_open, looked_at, made
from contracts.mcp.agent_tools import AgentCall
from contracts.mcp.dispatch import DispatchCaller, DispatchStatus, DispatchView
from stores.platform.canonical import canonical_json, digest_of

CONSOLE = "https://agents.example/console"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def call_in(status: DispatchStatus, **fields: Any) -> DispatchView:
    given: dict[str, Any] = {
        "dispatch_id": str(uuid7()),
        "correlation_id": str(uuid7()),
        "status": status,
        "server_id": "lines",
        "tool_name": "append_line",
        "caller": DispatchCaller(user_id="ann", token_id=str(uuid7())),
        "request_summary": "append_line at lines",
        "arguments_digest": digest_of(canonical_json({})),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return DispatchView.model_validate(given | fields)


@pytest.mark.parametrize("status", list(DispatchStatus))
def test_every_call_has_a_next_step_and_waiting_is_no_error(status: DispatchStatus) -> None:
    result = made(call_in(status), CONSOLE)
    call = AgentCall.model_validate(result.structured_content)
    assert call.next_step
    assert result.is_error == (status not in NO_ERROR)
    assert (call.error_code is not None) == result.is_error
    assert (call.approve_url is not None) == (status is DispatchStatus.PENDING_APPROVAL)
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert call.next_step in text.text
    assert not looked_at(call_in(status), CONSOLE).is_error


@pytest.mark.parametrize("status", [DispatchStatus.PENDING_APPROVAL, DispatchStatus.OUTCOME_UNKNOWN])
def test_what_must_not_be_repeated_says_so(status: DispatchStatus) -> None:
    step = as_call(call_in(status), CONSOLE).next_step
    assert "Do not call again" in step or "Never repeat" in step


def test_what_the_funnel_advises_is_told_too() -> None:
    view = call_in(
        DispatchStatus.BLOCKED,
        error_code="MCP_SERVER_DISABLED",
        error_message="The server is switched off.",
        next_action="Switch it on.",
    )
    call = as_call(view, CONSOLE)
    assert (call.error_code, call.error_message) == ("MCP_SERVER_DISABLED", "The server is switched off.")
    assert call.next_step.endswith("Switch it on.")


@pytest.mark.parametrize(
    ("status", "advice", "step"),
    [
        (
            "denied",
            "Ask why before you make this call again.",
            "A person said no. Do not try again; tell the user.",
        ),
        (
            "expired",
            "Make the call again to be asked again.",
            "Nobody decided in time and nothing was sent. Ask the user before you call again.",
        ),
        (
            "outcome_unknown",
            "The tool may have done its work. Look at its effect before you call it again.",
            "The tool may have done its work. Never repeat this call; tell the user to look what happened.",
        ),
        ("auth_required", "Nothing was done. Sign in.", "Tell the user: Nothing was done. Sign in."),
        ("failed", "Nothing was sent. Test it.", "Tell the user what failed. Nothing was sent. Test it."),
        (
            "blocked",
            "Change that policy.",
            "This call is not allowed. Do not try again; tell the user: Change that policy.",
        ),
    ],
)
def test_an_agent_is_told_one_next_step_and_none_that_contradicts_it(
    status: str, advice: str, step: str
) -> None:
    assert as_call(call_in(DispatchStatus(status), next_action=advice), CONSOLE).next_step == step


def test_a_call_that_rests_before_it_is_tried_again_says_why_and_until_when() -> None:
    view = call_in(
        DispatchStatus.RUNNING,
        error_message="The server is degraded (not_sent); nothing was sent.",
        next_action="Sent by itself from 2026-03-01, if the server is well then.",
        waits_until=NOW,
    )
    call = as_call(view, CONSOLE)
    assert (call.waits_until, call.error_code) == (NOW, None)
    assert "Do not call again" in call.next_step
    assert "The server is degraded" in call.next_step
    assert "if the server is well" in call.next_step


def test_what_the_tool_showed_is_shown_as_it_was() -> None:
    content = [
        {"type": "text", "text": "three lines"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    result = made(call_in(DispatchStatus.COMPLETED, is_error=False, result={"content": content}), CONSOLE)
    assert [block.type for block in result.content] == ["text", "image"]
    assert not result.is_error
    failed = made(call_in(DispatchStatus.COMPLETED, is_error=True, result={"content": content}), CONSOLE)
    assert failed.is_error


def test_content_that_the_protocol_does_not_know_is_given_as_data() -> None:
    result = made(call_in(DispatchStatus.COMPLETED, result={"content": [{"type": "smell"}]}), CONSOLE)
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert "smell" in text.text


def test_a_client_is_asked_to_open_the_link_and_to_come_back_for_the_same_call() -> None:
    call = as_call(call_in(DispatchStatus.PENDING_APPROVAL), CONSOLE)
    assert call.approve_url == f"{CONSOLE}#ask-first/{call.dispatch_id}"
    asked = asks_to_open(call, call.approve_url)
    assert isinstance(asked, InputRequiredResult)
    assert asked.request_state == call.dispatch_id
    assert call.approve_url in asked.model_dump_json()
