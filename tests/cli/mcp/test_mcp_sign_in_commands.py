"""``apprentice mcp profiles`` and ``apprentice mcp auth`` against a whole running service."""

from cli.platform.output import ExitCode


def test_a_sign_in_is_made_given_its_secret_and_removed(person) -> None:
    assert "apprentice mcp profiles create" in person.types("mcp", "profiles", "list").stdout
    made = person.gets("mcp", "profiles", "create", "--mode", "api_key", "--provider", "acrobat")
    profile = made["auth_profile_id"]
    assert made["status"] == "unknown"

    entered = person.types("mcp", "profiles", "secret", profile, answers="key-1234567\n")
    assert entered.exit_code == 0, entered.stderr
    assert "key-1234567" not in entered.stdout
    listed = person.types("mcp", "profiles", "list").stdout
    assert "healthy" in listed
    assert "key-1234567" not in listed

    assert person.types("mcp", "profiles", "remove", profile).exit_code == 0
    assert person.gets("mcp", "profiles", "list")["auth_profiles"] == []


def test_a_secret_is_no_argument_and_not_nothing(person) -> None:
    profile = person.gets("mcp", "profiles", "create", "--mode", "api_key")["auth_profile_id"]
    assert person.types("mcp", "profiles", "secret", profile, "typed").exit_code == ExitCode.USAGE
    empty = person.types("mcp", "profiles", "secret", profile, answers="")
    assert (empty.exit_code, "standard input" in empty.stderr) == (ExitCode.USAGE, True)
    person.types("mcp", "profiles", "remove", profile)


def test_the_sign_in_of_a_server_is_shown_with_what_to_do(person) -> None:
    profile = person.gets("mcp", "profiles", "create")["auth_profile_id"]
    made = person.gets(
        "mcp", "servers", "register", "Files", "--url", "https://files.invalid/mcp", "--auth-profile", profile
    )
    server = made["server"]["registry"]["server_id"]
    shown = person.types("mcp", "auth", "status", server).stdout
    assert "unknown" in shown
    assert f"apprentice mcp auth start {server}" in shown
    started = person.types("mcp", "auth", "start", server)
    assert (started.exit_code, "cannot be reached" in started.stderr) == (ExitCode.REFUSED, True)
    assert "no refresh token" in person.types("mcp", "auth", "refresh", server, "--force").stderr
    assert "nothing to end" in person.types("mcp", "auth", "revoke", server).stdout
    assert person.types("mcp", "auth", "status", "nowhere").exit_code == ExitCode.REFUSED
    assert person.types("mcp", "profiles", "remove", profile).exit_code == ExitCode.REFUSED
