from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.m365 import M365ConnectorRegistration
from contracts.mcp.m365_operations import M365OperationFamily as F
from contracts.mcp.m365_operations import M365TeamsTarget
from contracts.mcp.provider import MCPAuthMode, MCPInteractionMode, MCPProvider, MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from domain.mcp.m365_registration import (
    SCOPE_MATRIX,
    check_connector,
    check_profile_mode,
    registration_errors,
    rules_of,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
EVERY_SCOPE = tuple(
    sorted({s for r in SCOPE_MATRIX for s in (*r.minimum_delegated_scopes, *r.optional_delegated_scopes)})
)
SCOPES_OF = {
    F.SEARCH: {"User.Read", "Files.Read.All", "Sites.Read.All"},
    F.SHAREPOINT_LIST_DOCUMENTS: {"Sites.Read.All", "Files.Read.All"},
    F.ONEDRIVE_FETCH_FILE: {"Files.Read.All"},
    F.PROJECT_GET_LATEST_DOCUMENT: {"Sites.Read.All", "Files.Read.All"},
    F.OUTLOOK_MAIL_SEARCH: {"Mail.Read"},
    F.OUTLOOK_GET_THREAD: {"Mail.Read"},
    F.OUTLOOK_DRAFT_REPLY: {"Mail.ReadWrite"},
    F.CALENDAR_CHECK_AVAILABILITY: {"Calendars.Read"},
    F.CALENDAR_CREATE_EVENT: {"Calendars.ReadWrite"},
    F.CALENDAR_UPDATE_EVENT: {"Calendars.ReadWrite"},
    F.WORD_FETCH_CONTENT: {"Files.Read.All", "Sites.Read.All"},
    F.WORD_FETCH_COMMENTS: {"Files.Read.All", "Sites.Read.All"},
    F.TEAMS_GET_CHANNEL_CONTEXT: {"Team.ReadBasic.All", "Channel.ReadBasic.All"},
}
FORBIDDEN = "M365_FORBIDDEN_AUTH_MODE"


def connector(**fields: Any) -> M365ConnectorRegistration:
    given_: dict[str, Any] = {
        "server_id": "office",
        "display_name": "Office",
        "operation_families": (F.SEARCH,),
        "auth_profile_id": "profile",
        "requested_scopes": EVERY_SCOPE,
        "client_id": "app",
        "redirect_uri": "https://apprentice.example/callback",
    }
    return M365ConnectorRegistration.model_validate(given_ | fields)


def profile(mode: MCPAuthMode = MCPAuthMode.OAUTH2_DELEGATED, **fields: Any) -> MCPAuthProfile:
    given_: dict[str, Any] = {
        "auth_profile_id": "profile",
        "provider": MCPProvider.M365,
        "auth_mode": mode,
        "client_id": "app",
        "created_at": AT,
        "updated_at": AT,
    }
    return MCPAuthProfile.model_validate(given_ | fields)


def entry(**m365: Any) -> MCPServerRegistryEntry:
    options = {"operation_families": ["search"], "requested_scopes": EVERY_SCOPE} | m365
    return MCPServerRegistryEntry.model_validate(
        {
            "server_id": "office",
            "provider": MCPProvider.M365,
            "display_name": "Office",
            "transport": MCPTransport.REMOTE_HTTP,
            "m365": options,
            "created_at": AT,
            "updated_at": AT,
        }
    )


def test_the_matrix_is_that_of_the_document() -> None:
    assert {r.operation_family for r in SCOPE_MATRIX} == set(F)
    for family, scopes in SCOPES_OF.items():
        (rule,) = rules_of([family])
        assert set(rule.minimum_delegated_scopes) == scopes
        assert not rule.delegated_only
    posts = {r.target_kind: r for r in rules_of([F.TEAMS_POST_MESSAGE])}
    assert posts[M365TeamsTarget.CHANNEL].minimum_delegated_scopes == ("ChannelMessage.Send",)
    assert posts[M365TeamsTarget.CHAT].minimum_delegated_scopes == ("Chat.ReadWrite",)
    assert all(rule.delegated_only for rule in posts.values())


@pytest.mark.parametrize("mode", MCPAuthMode)
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("verified", [False, True])
def test_each_way_to_sign_in_is_judged_as_the_prose_says(
    mode: MCPAuthMode, background: bool, allowed: bool, verified: bool
) -> None:
    registration = connector(
        interaction_mode=MCPInteractionMode.BACKGROUND_SERVICE
        if background
        else MCPInteractionMode.INTERACTIVE_USER,
        allow_background_service_ops=allowed,
        verified_obo_chain=verified,
    )
    expected: list[str] = []
    if mode in (MCPAuthMode.API_KEY, MCPAuthMode.NONE) or (
        mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS and not (background and allowed)
    ):
        expected = [FORBIDDEN]
    if mode is MCPAuthMode.OAUTH2_ON_BEHALF_OF and not verified:
        expected = ["M365_OBO_CHAIN_UNVERIFIED"]
    assert registration_errors(registration, profile(mode)) == expected


def test_people_need_a_way_back_and_services_do_not() -> None:
    assert registration_errors(connector(redirect_uri=None), profile()) == [
        "M365_INTERACTIVE_REDIRECT_URI_REQUIRED"
    ]
    alone = connector(redirect_uri=None, interaction_mode=MCPInteractionMode.BACKGROUND_SERVICE)
    assert registration_errors(alone, profile()) == []


def test_a_background_service_cannot_declare_what_needs_a_person() -> None:
    registration = connector(
        operation_families=(F.SEARCH, F.TEAMS_POST_MESSAGE),
        interaction_mode=MCPInteractionMode.BACKGROUND_SERVICE,
    )
    assert registration_errors(registration, profile()) == [
        "M365_DELEGATED_ONLY_OPERATION:teams_post_message"
    ]


@given(
    st.sets(st.sampled_from(sorted(SCOPES_OF)), min_size=1),
    st.sets(st.sampled_from(EVERY_SCOPE), min_size=1),
    st.sets(st.sampled_from(EVERY_SCOPE)),
)
def test_the_scopes_of_connector_and_sign_in_together_cover_every_declared_family(
    families: set[F], requested: set[str], of_profile: set[str]
) -> None:
    registration = connector(
        operation_families=tuple(sorted(families)), requested_scopes=tuple(sorted(requested))
    )
    errors = registration_errors(registration, profile(scopes=tuple(sorted(of_profile))))
    needed = set[str]().union(*(SCOPES_OF[family] for family in families))
    missing = needed - requested - of_profile
    assert set(errors) == {f"M365_SCOPE_MISSING:{scope}" for scope in missing}
    assert len(errors) == len(missing)


@pytest.mark.parametrize(
    ("scopes", "missing"),
    [(["ChannelMessage.Send"], []), (["Chat.ReadWrite"], []), (["User.Read"], ["ChannelMessage.Send"])],
)
def test_posting_to_teams_may_be_declared_for_either_of_its_targets(
    scopes: list[str], missing: list[str]
) -> None:
    registration = connector(operation_families=(F.TEAMS_POST_MESSAGE,), requested_scopes=tuple(scopes))
    assert registration_errors(registration, profile()) == [f"M365_SCOPE_MISSING:{s}" for s in missing]


@pytest.mark.acceptance("R11.2-39")
def test_a_connector_with_an_api_key_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        check_connector(entry(), profile(MCPAuthMode.API_KEY))
    assert refused.value.code is ErrorCode.M365_FORBIDDEN_AUTH_MODE
    with pytest.raises(Refusal) as refused:
        check_profile_mode(MCPProvider.M365, MCPAuthMode.NONE)
    assert refused.value.code is ErrorCode.M365_FORBIDDEN_AUTH_MODE
    check_profile_mode(MCPProvider.CUSTOM_REMOTE, MCPAuthMode.API_KEY)


def test_a_server_of_microsoft_365_without_typed_operations_is_not_signed_in_to_by_a_service_alone() -> None:
    plain = entry().changed(m365=None)
    with pytest.raises(Refusal) as refused:
        check_connector(plain, profile(MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS))
    assert refused.value.code is ErrorCode.M365_FORBIDDEN_AUTH_MODE
    check_connector(plain, profile())
    other = plain.changed(provider=MCPProvider.CUSTOM_REMOTE)
    check_connector(other, profile(MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS))


def test_a_refusal_names_everything_that_is_wrong() -> None:
    with pytest.raises(Refusal) as refused:
        check_connector(entry(requested_scopes=["Mail.Read"]), profile())
    assert refused.value.code is ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED
    assert refused.value.extra["errors"] == [
        "M365_INTERACTIVE_REDIRECT_URI_REQUIRED",
        "M365_SCOPE_MISSING:User.Read",
        "M365_SCOPE_MISSING:Files.Read.All",
        "M365_SCOPE_MISSING:Sites.Read.All",
    ]


def test_a_connector_needs_a_sign_in_of_an_app_and_may_take_its_way_back_from_it() -> None:
    with pytest.raises(Refusal) as refused:
        check_connector(entry(), None)
    assert refused.value.extra == {"fields": ["auth_profile_id"]}
    with pytest.raises(Refusal):
        check_connector(entry(), profile(client_id=None, redirect_uri="https://apprentice.example/callback"))
    check_connector(entry(), profile(redirect_uri="https://apprentice.example/callback"))
