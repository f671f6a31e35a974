"""``apprentice mcp call``, ``pending``, ``approve`` … against a whole running service and a real tool server."""

import json

from cli.output import ExitCode


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
