"""``apprentice tokens`` against a whole running service."""

import pytest

from cli.platform.output import ExitCode

pytestmark = pytest.mark.thorough


def test_a_token_works_until_it_is_revoked(person) -> None:
    made = person.gets("tokens", "create", "recorder", "--scope", "observe", "--scope", "read")
    assert set(made["token"]["scopes"]) == {"observe", "read"}
    assert person.types("learn", "list", "--token", made["secret"]).exit_code == ExitCode.OK

    revoked = person.types("tokens", "revoke", made["token"]["token_id"])
    assert revoked.exit_code == ExitCode.OK
    assert person.types("learn", "list", "--token", made["secret"]).exit_code == ExitCode.REFUSED


def test_a_secret_is_shown_once_and_never_listed(person) -> None:
    shown = person.types("tokens", "create", "laptop", "--scope", "read").stdout
    secret = shown.splitlines()[-1]
    assert secret.startswith("apr_")
    listed = person.types("tokens", "list").stdout
    assert "laptop" in listed
    assert secret not in listed


def test_a_list_without_entries_says_why(person) -> None:
    person.gets("tokens", "create", "second", "--scope", "read")
    assert "Nothing matches" in person.types("tokens", "list", "--search", "no-such-name").stdout
    assert "Nothing on this page" in person.types("tokens", "list", "--page", "99", "--page-size", "2").stdout
    assert "--page 2" in person.types("tokens", "list", "--page-size", "1").stdout


def test_a_right_that_one_lacks_cannot_be_given_away(person) -> None:
    refused = person.types("tokens", "create", "root", "--scope", "admin")
    assert refused.exit_code == ExitCode.REFUSED
    assert "FORBIDDEN" in refused.stderr


def test_a_token_that_is_bound_to_a_runtime_is_listed_with_it(person) -> None:
    made = person.gets("tokens", "create", "agent", "--scope", "read", "--runtime", "codex")
    assert made["token"]["runtime"] == "codex"
    assert "codex" in person.types("tokens", "list").stdout
    assert (
        person.types("tokens", "create", "x", "--scope", "read", "--runtime", "a b").exit_code != ExitCode.OK
    )


def test_the_token_in_use_is_revoked_only_where_that_is_confirmed(person) -> None:
    own = person.gets("tokens", "list")["tokens"][-1]["token_id"]
    refused = person.types("tokens", "revoke", own, "--json")
    assert refused.exit_code == ExitCode.USAGE
    assert "The token that you use now" in refused.stderr
    assert person.types("tokens", "list").exit_code == ExitCode.OK
