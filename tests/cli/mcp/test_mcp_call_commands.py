"""``apprentice mcp call``, ``pending``, ``approve`` … against a whole running service and a real tool server."""

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from cli.mcp.call_commands import call_view, exit_code_of, seen_code, the_one_meant, tool_seen, tool_view
from cli.platform.invocation import NothingToDo
from cli.platform.output import ExitCode
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import AskFirstStatus as Waits
from contracts.mcp.dispatch import DispatchStatus, DispatchView, MCPAskFirstDispatchRecord
from contracts.mcp.tools import MCPTool, MCPToolDefinition, MCPToolState


def test_what_is_typed_wrong_is_said_with_what_to_type(person) -> None:
    result = person.types("mcp", "call", "office", "mail_send", "--arguments", "[1]")
    assert result.exit_code == ExitCode.USAGE
    assert "JSON object" in result.stderr
    assert person.types("mcp", "call", "nowhere", "mail_send").exit_code == ExitCode.REFUSED
    assert person.types("mcp", "show", "0199aa10-7c00-7000-8000-00000000002d").exit_code == ExitCode.REFUSED


def test_without_calls_the_lists_say_so(person) -> None:
    assert "Nothing waits" in person.types("mcp", "pending").stdout
    assert "No tool calls" in person.types("mcp", "calls", "--status", "denied").stdout
    assert json.loads(person.types("mcp", "pending", "--json").stdout)["dispatches"] == []


def test_a_call_may_be_left_unnamed_where_one_alone_is_meant_and_an_approval_says_what_was_seen(
    person,
) -> None:
    blind = person.types("mcp", "approve")
    assert (blind.exit_code, "--seen" in blind.stderr) == (ExitCode.USAGE, True)
    none = person.types("mcp", "deny")
    assert (none.exit_code, "no such call waits" in none.stderr) == (ExitCode.USAGE, True)
    first, second, over = (
        MCPAskFirstDispatchRecord.model_construct(
            dispatch_id=name, arguments_digest=name * 20, tool_definition_hash=None, status=status
        )
        for name, status in (("one", Waits.PENDING), ("two", Waits.PENDING), ("old", Waits.EXPIRED))
    )
    assert the_one_meant([first, over]) == "one"
    assert the_one_meant([first, second], seen_code(second)) == "two"
    for waiting, seen in (([first, second], None), ([over], None), ([first], seen_code(second))):
        with pytest.raises(NothingToDo, match="pending"):
            the_one_meant(waiting, seen)


@pytest.mark.parametrize(
    ("state", "asked_with", "said"),
    [
        ("added", "a" * 64, "Nobody has looked at this tool yet"),
        ("changed", "a" * 64, "has changed since somebody looked at it"),
        ("changed", "b" * 64, "Without --seen an approval is refused"),
        ("pinned", "b" * 64, "Without --seen an approval is refused"),
        ("pinned", "a" * 64, None),
    ],
)
def test_a_call_that_waits_is_shown_with_what_its_tool_says_unless_somebody_looked_at_that(
    state: str, asked_with: str, said: str | None
) -> None:
    waiting = MCPAskFirstDispatchRecord.model_construct(tool_definition_hash=asked_with)
    call = DispatchView.model_construct(tool_name="mail_send", ask_first=waiting)
    definition = MCPToolDefinition(tool_name="mail_send", description="Sends \u202eylno sdaeR")
    tool = MCPTool.model_construct(
        definition=definition,
        definition_hash="a" * 64,
        state=MCPToolState(state),
        effect=ToolEffect.SEND,
        diff=None,
    )
    printed = StringIO()
    Console(file=printed, width=200).print(*tool_view(call, tool))
    shown = printed.getvalue()
    if said is None:
        assert not shown.strip()
    else:
        assert said in shown
        assert r"\u202e" in shown


def test_an_approval_names_the_tool_that_was_looked_at_and_is_for_no_other() -> None:
    waiting = MCPAskFirstDispatchRecord.model_construct(
        dispatch_id="one", arguments_digest="d" * 64, tool_definition_hash="a" * 64, status=Waits.PENDING
    )
    same = MCPTool.model_construct(definition_hash="a" * 64)
    another = MCPTool.model_construct(definition_hash="b" * 64)
    assert tool_seen(waiting, same, seen_code(waiting)) == "a" * 64
    assert tool_seen(waiting, another, seen_code(waiting, another)) == "b" * 64
    assert the_one_meant([waiting], seen_code(waiting, another)) == "one"
    with pytest.raises(NothingToDo, match="not what you looked at"):
        tool_seen(waiting, another, seen_code(waiting))


def test_a_call_that_waits_is_shown_with_the_command_that_approves_its_tool_as_it_is_now() -> None:
    waiting = MCPAskFirstDispatchRecord.model_construct(
        arguments_digest="d" * 64,
        tool_definition_hash="a" * 64,
        status=Waits.PENDING,
        expires_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    call = DispatchView.model_construct(
        dispatch_id="one",
        tool_name="mail_send",
        server_id="office",
        status=DispatchStatus.PENDING_APPROVAL,
        ask_first=waiting,
    )
    printed = StringIO()
    Console(file=printed, width=200).print(call_view(call, MCPTool.model_construct(definition_hash="b" * 64)))
    assert f"apprentice mcp approve one --seen {'d' * 12}-{'b' * 12}" in printed.getvalue()


@pytest.mark.parametrize(
    ("status", "is_error", "code"),
    [
        ("completed", False, ExitCode.OK),
        ("completed", True, ExitCode.FAILURE),
        ("failed", False, ExitCode.FAILURE),
        ("outcome_unknown", False, ExitCode.FAILURE),
        ("cancelled", False, ExitCode.FAILURE),
        ("blocked", False, ExitCode.REFUSED),
        ("denied", False, ExitCode.REFUSED),
        ("expired", False, ExitCode.REFUSED),
        ("auth_required", False, ExitCode.REFUSED),
        ("pending_approval", False, ExitCode.OK),
        ("running", False, ExitCode.OK),
    ],
)
def test_a_script_learns_from_the_exit_code_how_a_call_ended(
    status: str, is_error: bool, code: ExitCode
) -> None:
    view = DispatchView.model_construct(status=DispatchStatus(status), is_error=is_error)
    assert exit_code_of(view) is code
