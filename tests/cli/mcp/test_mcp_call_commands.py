"""``apprentice mcp call``, ``pending``, ``approve`` … against a whole running service and a real tool server."""

import json

import pytest

from cli.mcp.call_commands import exit_code_of
from cli.platform.output import ExitCode
from contracts.mcp.dispatch import DispatchStatus, DispatchView


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
