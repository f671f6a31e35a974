"""``apprentice mcp policy`` and ``apprentice mcp grants`` against a whole running service."""

from cli.platform.output import ExitCode


def test_policy_is_shown_decided_tried_out_and_taken_back(person) -> None:
    shown = person.types("mcp", "policy", "show").stdout
    assert "Nothing is decided" in shown
    assert "reads, searches and lists" in shown

    held = person.gets("mcp", "policy", "set", "disabled", "--provider", "acrobat", "--hours", "2")
    assert (held["decision"]["mode"], held["target"]["provider"]) == ("disabled", "acrobat")
    assert held["decision"]["expires_at"]
    assert "every server of acrobat" in person.types("mcp", "policy", "show").stdout

    tried = person.types("mcp", "policy", "preview", "disabled")
    assert "0 of 0 calls would go otherwise" in tried.stdout
    back = person.types("mcp", "policy", "set", "inherit", "--provider", "acrobat")
    assert "The defaults hold: reads pass and changes ask first" in back.stdout
    assert "acrobat" not in person.types("mcp", "policy", "show").stdout.partition("by default")[0]


def test_the_lists_of_a_runtime_are_changed_one_by_one(person) -> None:
    told = person.types("mcp", "policy", "runtime", "openai", "--deny-tool", "mail_read").stdout
    assert "mail_read" in told
    assert "replaced the one before" in told
    denied = person.gets("mcp", "policy", "runtime", "openai", "--deny-tool", "mail_send")
    assert (denied["allow_mcp"], denied["denied_tools"]) == (True, ["mail_send"])
    off = person.gets("mcp", "policy", "runtime", "openai", "--off")
    assert (off["allow_mcp"], off["denied_tools"]) == (False, ["mail_send"])
    assert person.gets("mcp", "policy", "runtime", "openai", "--deny-tool", "")["denied_tools"] == []
    assert "not allowed" in person.types("mcp", "policy", "runtimes").stdout


def test_the_lists_of_a_runtime_are_tried_out_before_they_count(person) -> None:
    tried = person.types("mcp", "policy", "runtime", "anthropic", "--off", "--preview")
    assert "0 of 0 calls would go otherwise" in tried.stdout
    kept = person.gets("mcp", "policy", "runtimes")["policies"]
    assert next(one["allow_mcp"] for one in kept if one["provider"] == "anthropic")


def test_what_cannot_be_decided_is_said_with_what_to_type(person) -> None:
    for wrong, hint in (
        (("policy", "set", "enabled", "--tool", "x"), "--server SERVER --tool TOOL"),
        (("policy", "set", "enabled", "--server", "x", "--provider", "acrobat"), "not both"),
        (("policy", "runtime", "codex"), "--deny-tool"),
    ):
        result = person.types("mcp", *wrong)
        assert result.exit_code != ExitCode.OK
        assert hint in result.stderr
    assert person.types("mcp", "policy", "set", "enabled", "--server", "x").exit_code == ExitCode.REFUSED


def test_standing_approvals_are_listed_and_one_that_is_not_there_is_said(person) -> None:
    assert "No standing approvals" in person.types("mcp", "grants", "list").stdout
    assert person.gets("mcp", "grants", "list", "--past")["grants"] == []
    gone = person.types("mcp", "grants", "revoke", "0199aa10-7c00-7000-8000-00000000002d")
    assert gone.exit_code == ExitCode.REFUSED
    assert "GET /api/mcp/grants" in gone.stderr or "MCP_GRANT_NOT_FOUND" in gone.stderr


def test_the_way_of_a_call_is_explained_without_a_call(person) -> None:
    none = person.types("mcp", "explain-route", "search_tickets").stdout
    assert "no_route" in none
    assert "register one" in none
    server = ("--provider", "custom_remote", "--url", "https://tickets.example.com/mcp")
    person.types("mcp", "servers", "register", "Tickets", *server)
    found = person.gets("mcp", "explain-route", "--runtime", "openclaw")
    assert found["decision"] == "allow"
    assert found["score_breakdown"][0]["server_id"].startswith("tickets-")
    shown = person.types("mcp", "explain-route", "search_tickets", "--provider", "m365").stdout
    assert "left out" in shown
    assert "It is a server of custom_remote" in shown
