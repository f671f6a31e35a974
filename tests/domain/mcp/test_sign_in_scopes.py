"""Which scopes a sign-in lacks, and which the next one asks for."""

from datetime import UTC, datetime

import pytest

from contracts.mcp.auth_profile import MOST_SCOPES, MCPAuthProfile
from contracts.mcp.auth_work import AuthConnection
from contracts.mcp.provider import MCPAuthMode, MCPProvider
from domain.mcp.auth_status import missing_scopes, scopes_to_ask, with_needed

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
    assert missing_scopes(known.model_copy(update={"scopes_needed": needed})) == ("b",)


def test_a_server_that_names_scopes_without_end_is_heard_for_the_first_hundred() -> None:
    assert with_needed(AuthConnection(), MANY) == MANY[:MOST_SCOPES]


@pytest.mark.parametrize(
    ("chosen", "own", "published", "needed", "asked"),
    [
        (("x",), ("own",), ("open",), ("more",), ("x",)),
        (None, ("own",), ("open",), (), ("own",)),
        (None, (), ("open",), (), ("open",)),
        ((), (), ("open",), (), ("open",)),
        (None, (), ("open",), ("more",), ("open", "before", "more")),
        (None, ("own",), ("open",), ("more", "own"), ("own", "before", "more")),
    ],
)
def test_a_choice_wins_and_what_is_needed_comes_on_top_of_what_was_asked_for(
    chosen: tuple[str, ...] | None,
    own: tuple[str, ...],
    published: tuple[str, ...],
    needed: tuple[str, ...],
    asked: tuple[str, ...],
) -> None:
    known = AuthConnection(scopes_requested=("before",), scopes_needed=needed)
    assert scopes_to_ask(chosen, profile(*own), known, published) == asked


def test_no_more_than_a_hundred_are_asked_for() -> None:
    known = AuthConnection(scopes_needed=MANY[:MOST_SCOPES])
    assert len(scopes_to_ask(None, profile("own"), known, ())) == MOST_SCOPES
