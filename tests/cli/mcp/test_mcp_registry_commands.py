"""``apprentice mcp``: servers, tools and receipts against a whole running service."""

from cli.platform.output import ExitCode

URL = "https://tickets.example.com/mcp"


def test_a_server_is_registered_edited_listed_and_removed(person) -> None:
    made = person.gets("mcp", "servers", "register", "Tickets", "--url", URL, "--disabled")
    server_id = made["server"]["registry"]["server_id"]
    shown = person.types("mcp", "servers", "list")
    assert server_id in shown.stdout
    assert "elnor-knowledge" not in shown.stdout
    assert "elnor-knowledge" in person.types("mcp", "servers", "list", "--all").stdout

    edited = person.gets("mcp", "servers", "edit", server_id, "--name", "Office", "--data-class", "internal")
    registry = edited["server"]["registry"]
    assert (registry["display_name"], registry["enabled"]) == ("Office", False)
    assert registry["data_classes"] == ["internal"]
    assert "disabled" in person.types("mcp", "servers", "list").stdout
    assert person.gets("mcp", "servers", "edit", server_id, "--no-auth-profile")["updated"] is False

    kinds = [one["receipt_kind"] for one in person.gets("mcp", "receipts")["receipts"]]
    assert {"server_create", "server_patch"} <= set(kinds)
    assert "was changed" in person.types("mcp", "receipts", "--limit", "5").stdout

    assert "is removed" in person.types("mcp", "servers", "remove", server_id).stdout
    assert "servers register" in person.types("mcp", "servers", "list").stdout


def test_a_server_whose_tools_nobody_has_seen_says_how_to_see_them(person) -> None:
    made = person.types("mcp", "servers", "register", "Tickets", "--url", URL, "--disabled")
    assert "Next: `apprentice mcp servers edit tickets-" in made.stdout
    server_id = made.stdout.split(" registered as ")[1].split(".")[0]
    assert "apprentice mcp smoke-test" in person.types("mcp", "tools", "list", server_id).stdout
    gone = person.types("mcp", "tools", "review", server_id, "find")
    assert gone.exit_code == ExitCode.USAGE
    assert f"apprentice mcp tools list {server_id}" in gone.stderr


def test_what_cannot_be_registered_is_said_with_what_to_do(person) -> None:
    neither = person.types("mcp", "servers", "register", "Tickets")
    assert (neither.exit_code, "--url or --program" in neither.stderr) == (ExitCode.USAGE, True)
    program = person.types("mcp", "servers", "register", "Shell", "--program", "sh", "--arg", "-c")
    assert (program.exit_code, "APPRENTICE_MCP_LOCAL_PROGRAMS" in program.stderr) == (ExitCode.REFUSED, True)
    inner = person.types("mcp", "servers", "register", "Here", "--url", "https://127.0.0.1/mcp")
    assert (inner.exit_code, "MCP_ADDRESS_REFUSED" in inner.stderr) == (ExitCode.REFUSED, True)
    parked = person.types("mcp", "servers", "register", "Apprentice knowledge", "--url", URL)
    assert (parked.exit_code, "parked" in parked.stderr) == (ExitCode.REFUSED, True)
    pair = person.types("mcp", "servers", "register", "T", "--program", "p", "--env", "TZ")
    assert (pair.exit_code, "NAME=WORKER_VARIABLE" in pair.stderr) == (ExitCode.USAGE, True)
    nothing = person.types("mcp", "servers", "edit", "tickets")
    assert (nothing.exit_code, "--help" in nothing.stderr) == (ExitCode.USAGE, True)
    unknown = person.types("mcp", "servers", "remove", "tickets")
    assert (unknown.exit_code, "MCP_SERVER_NOT_FOUND" in unknown.stderr) == (ExitCode.REFUSED, True)
