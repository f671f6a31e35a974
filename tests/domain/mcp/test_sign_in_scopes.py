"""Which scopes a sign-in lacks, and which the next one asks for."""

from datetime import UTC, datetime

import pytest

from contracts.mcp.auth import MOST_SCOPES, MCPAuthProfile
from contracts.mcp.auth_work import AuthConnection, AuthorizationServer
from contracts.mcp.provider import MCPAuthMode, MCPAuthState, MCPProvider
from domain.mcp.auth_status import auth_status, missing_scopes, scopes_to_ask, with_needed

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MANY = tuple(f"scope-{number}" for number in range(MOST_SCOPES + 20))


def profile(*scopes: str) -> MCPAuthProfile:
    return MCPAuthProfile(
        auth_profile_id="profile-1",
        provider=MCPProvider.CUSTOM_REMOTE,
        auth_mode=MCPAuthMode.OAUTH2_DELEGATED,
        scopes=scopes,
        created_at=NOW,
        updated_at=NOW,
    )


def test_what_a_server_needs_is_missing_until_it_is_granted() -> None:
    known = AuthConnection(scopes_requested=("a", "offline_access"), scopes_granted=("a",))
    assert missing_scopes(known) == ()
    needed = with_needed(known, ("a", "b", "b"))
    assert needed == ("b",)
    assert missing_scopes(known.changed(scopes_needed=needed)) == ("b",)


def test_a_server_that_names_scopes_without_end_is_heard_for_the_first_hundred() -> None:
    assert with_needed(AuthConnection(), MANY) == MANY[:MOST_SCOPES]


def publishing(*scopes: str, supported: tuple[str, ...] = ()) -> AuthorizationServer:
    at = "https://login.example.com"
    return AuthorizationServer(
        issuer=at,
        authorization_endpoint=f"{at}/authorize",
        token_endpoint=f"{at}/token",
        resource="https://notes.example.com/mcp",
        scopes_wanted=scopes,
        scopes_supported=supported,
    )


@pytest.mark.parametrize(
    ("chosen", "own", "needed", "asked"),
    [
        (("x",), ("own",), ("more",), ("x",)),
        (None, ("own",), (), ("own",)),
        (None, ("own",), ("more",), ("own",)),
        (None, (), (), ("open",)),
        ((), (), (), ("open",)),
        (None, (), ("more", "open"), ("open", "more")),
    ],
)
def test_what_servers_need_is_asked_for_where_no_person_chose(
    chosen: tuple[str, ...] | None, own: tuple[str, ...], needed: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    known = AuthConnection(scopes_requested=("before",), scopes_needed=needed)
    assert scopes_to_ask(chosen, profile(*own), known, publishing("open")) == asked


def test_no_more_than_a_hundred_are_asked_for_and_a_lasting_sign_in_is_one_of_them() -> None:
    known = AuthConnection(scopes_needed=MANY[:MOST_SCOPES])
    assert len(scopes_to_ask(None, profile(), known, publishing("open"))) == MOST_SCOPES
    lasting = scopes_to_ask(None, profile(), known, publishing("open", supported=("offline_access",)))
    assert (len(lasting), lasting[-1]) == (MOST_SCOPES, "offline_access")


@pytest.mark.parametrize(("own", "said"), [((), "grant b"), (("a",), "--scope"), (("a", "b"), "grant b")])
def test_whoever_chose_the_scopes_is_told_to_choose_more(own: tuple[str, ...], said: str) -> None:
    known = AuthConnection(scopes_requested=("a",), scopes_granted=("a",), scopes_needed=("b",))
    whole = profile(*own).changed(status=MCPAuthState.HEALTHY, token_ref="secret-1")
    status = auth_status("notes", whole, known, NOW)
    assert status.scopes_missing == ("b",)
    assert said in (status.next_action or "")


def test_however_long_its_names_the_step_names_the_command() -> None:
    known = AuthConnection(scopes_needed=("x" * 150, "y" * 150))
    whole = profile().changed(status=MCPAuthState.HEALTHY, token_ref="secret-1")
    assert "`apprentice mcp auth start notes`" in (auth_status("notes", whole, known, NOW).next_action or "")
