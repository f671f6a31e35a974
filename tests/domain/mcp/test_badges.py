"""Badges and actions of a server's card: each holds exactly when the fields say so."""

from itertools import product

import pytest

from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.health import MCPHealthStatus as Health
from contracts.mcp.policy import MCPPolicyMode as Mode
from contracts.mcp.provider import MCPAuthState, MCPInteractionMode
from contracts.mcp.servers import MCPBadgeState as Badge
from contracts.mcp.servers import MCPServerAction as Action
from domain.mcp.registration import available_actions, badge_states
from tests.domain.mcp.server_cards import NOW, auth, entry, health, policy

NEEDS = {"challenge_required", "expired", "revoked"}
ALWAYS = {Action.EDIT, Action.DELETE, Action.POLICY_UPDATE}


@pytest.mark.acceptance("mcp_server_list_badge_truth")
def test_every_badge_is_there_exactly_when_its_field_says_so() -> None:
    states = product(
        (True, False), (True, False), MCPInteractionMode, Health, MCPAuthState, MCPAuthState, Mode
    )
    for enabled, active, mode, healthy, told, signed, decided in states:
        registry = entry(enabled=enabled, active_build_surface=active, interaction_mode=mode)
        found = badge_states(registry, health(healthy, auth=told), auth(signed), policy(decided))
        wanted = {
            Badge.AUTH_REQUIRED: told.value in NEEDS or signed.value in NEEDS,
            Badge.APPROVAL_REQUIRED: decided is Mode.ASK_FIRST,
            Badge.DEGRADED: healthy is Health.DEGRADED,
            Badge.DISABLED: not enabled,
            Badge.DEFERRED: not active,
            Badge.BACKGROUND_ONLY: mode is MCPInteractionMode.BACKGROUND_SERVICE,
        }
        wanted[Badge.CONNECTED] = (
            enabled and active and healthy is Health.HEALTHY and not wanted[Badge.AUTH_REQUIRED]
        )
        assert {badge: badge in found for badge in Badge} == wanted
        assert list(found) == [badge for badge in Badge if badge in found]


def sign_in(**fields: object) -> MCPAuthProfile:
    usual = {"auth_profile_id": "office", "provider": "custom_remote", "created_at": NOW, "updated_at": NOW}
    return MCPAuthProfile.model_validate({**usual, **fields})


@pytest.mark.parametrize(
    ("profile", "state", "actions"),
    [
        (None, None, set()),
        (sign_in(), "unknown", {Action.CONNECT_AUTH}),
        (
            sign_in(token_ref="t", refresh_policy="manual"),
            "healthy",
            {Action.CONNECT_AUTH, Action.REFRESH_AUTH, Action.REVOKE_AUTH},
        ),
        (
            sign_in(token_ref="t", refresh_policy="deny"),
            "expired",
            {Action.CONNECT_AUTH, Action.REVOKE_AUTH},
        ),
        (sign_in(token_ref="t"), "revoked", {Action.CONNECT_AUTH}),
        (sign_in(auth_mode="api_key", secret_ref="s"), "healthy", set()),
    ],
)
def test_what_can_be_done_about_a_sign_in_follows_its_mode_policy_and_token(profile, state, actions) -> None:
    status = None if state is None else auth(MCPAuthState(state))
    assert set(available_actions(entry(), profile, status)) == ALWAYS | {Action.SMOKE_TEST} | actions


def test_a_server_that_is_off_is_not_tested_and_a_deferred_one_offers_nothing() -> None:
    assert set(available_actions(entry(enabled=False), None, None)) == ALWAYS
    assert set(available_actions(entry(supports_smoke_test=False), None, None)) == ALWAYS
    assert available_actions(entry(active_build_surface=False), sign_in(), None) == ()
