"""``apprentice mcp health`` and ``smoke-test`` against a whole running service."""

from cli.platform.output import ExitCode

NOBODY = "https://nobody.invalid/mcp"


def test_a_server_is_tried_and_its_health_shown_with_what_to_do(person) -> None:
    made = person.gets("mcp", "servers", "register", "Nobody", "--url", NOBODY, "--disabled")
    server_id = made["server"]["registry"]["server_id"]
    off = person.types("mcp", "smoke-test", server_id)
    assert (off.exit_code, "MCP_SERVER_DISABLED" in off.stdout) == (ExitCode.REFUSED, True)
    assert f"apprentice mcp servers edit {server_id}" in person.types("mcp", "health", server_id).stdout
    person.gets("mcp", "servers", "edit", server_id, "--enable")
    tried = person.types("mcp", "smoke-test", server_id, "--seconds", "5")
    assert tried.exit_code == ExitCode.REFUSED
    assert "failed" in tried.stdout
    health = person.gets("mcp", "health", server_id)
    assert health["failure_count_rolling"] >= 1
    assert health["health_status"] in ("unknown", "degraded")
    assert "unknown" in person.types("mcp", "health", server_id).stdout


def test_arguments_have_to_be_an_object(person) -> None:
    wrong = person.types("mcp", "smoke-test", "server", "--tool", "read", "--arguments", "[1]")
    assert wrong.exit_code == ExitCode.USAGE
    assert "JSON object" in wrong.stderr


def test_a_server_of_nobody_is_not_tried(person) -> None:
    refused = person.types("mcp", "health", "nothing")
    assert refused.exit_code == ExitCode.REFUSED
    assert "MCP_SERVER_NOT_FOUND" in refused.stderr
