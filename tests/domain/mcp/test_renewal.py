"""Whether a token is renewed: policy, what there is to renew with, and who asks."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile, MCPRefreshPolicy
from contracts.mcp.auth_work import AuthConnection, RenewToken
from contracts.mcp.provider import MCPAuthMode, MCPAuthState, MCPProvider
from contracts.platform.commands import CommitKey
from domain.mcp.auth_status import RenewalStep, next_step

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICIES = tuple(MCPRefreshPolicy)


def step(
    *,
    mode: MCPAuthMode = MCPAuthMode.OAUTH2_DELEGATED,
    policy: MCPRefreshPolicy = MCPRefreshPolicy.AUTO_IF_REFRESH_TOKEN,
    status: MCPAuthState = MCPAuthState.HEALTHY,
    refreshable: bool = True,
    version: int = 3,
    due: bool = False,
    good: bool = True,
    **asked: object,
) -> RenewalStep:
    """What an order comes to in this situation."""
    profile = MCPAuthProfile(
        auth_profile_id="p",
        provider=MCPProvider.CUSTOM_REMOTE,
        auth_mode=mode,
        refresh_policy=policy,
        status=status,
        token_ref="t",
        refresh_at=NOW - timedelta(seconds=1) if due else NOW + timedelta(minutes=1),
        created_at=NOW,
        updated_at=NOW,
    )
    order = RenewToken.model_validate(
        {
            "commit_key": CommitKey(owner_user_id="a", key="k", request_digest="0" * 64),
            "correlation_id": "c",
            "auth_profile_id": "p",
            "owner_user_id": "a",
            **asked,
        }
    )
    known = AuthConnection(refreshable=refreshable, token_version=version)
    return next_step(order, profile, known, NOW, good=good)


def test_a_token_that_is_good_and_not_due_is_left() -> None:
    assert step() is RenewalStep.CURRENT
    assert step(automatic=True) is RenewalStep.CURRENT


def test_a_token_is_renewed_when_it_is_due_over_refused_or_forced() -> None:
    assert step(due=True) is RenewalStep.RENEW
    assert step(good=False, automatic=True) is RenewalStep.RENEW
    assert step(seen_version=3, automatic=True) is RenewalStep.RENEW
    assert step(force=True) is RenewalStep.RENEW


def test_who_saw_an_older_token_is_served_by_the_newer_one_even_with_force() -> None:
    assert step(seen_version=2, automatic=True, force=True) is RenewalStep.CURRENT
    assert step(seen_version=2, automatic=True, good=False) is RenewalStep.RENEW


@pytest.mark.parametrize("policy", [MCPRefreshPolicy.MANUAL, MCPRefreshPolicy.DENY])
def test_nothing_is_renewed_by_itself_against_policy(policy: MCPRefreshPolicy) -> None:
    assert step(policy=policy, automatic=True, good=False) is RenewalStep.DECLINE
    assert step(policy=policy, automatic=True, seen_version=3) is RenewalStep.DECLINE
    assert step(policy=policy, automatic=True, ahead=True, seen_version=3) is RenewalStep.CURRENT


def test_a_person_may_renew_by_hand_unless_policy_denies_it() -> None:
    assert step(policy=MCPRefreshPolicy.MANUAL, force=True) is RenewalStep.RENEW
    with pytest.raises(Refusal) as refused:
        step(policy=MCPRefreshPolicy.DENY, force=True)
    assert refused.value.code is ErrorCode.MCP_OAUTH_REFRESH_NOT_ALLOWED


@pytest.mark.parametrize(
    ("mode", "policy"), tuple(product((MCPAuthMode.API_KEY, MCPAuthMode.NONE), POLICIES))
)
def test_what_has_no_token_is_never_renewed(mode: MCPAuthMode, policy: MCPRefreshPolicy) -> None:
    with pytest.raises(Refusal):
        step(mode=mode, policy=policy, force=True)
    assert step(mode=mode, policy=policy, automatic=True, good=False) is RenewalStep.DECLINE


@pytest.mark.parametrize("policy", POLICIES)
def test_without_a_refresh_token_a_person_has_to_sign_in(policy: MCPRefreshPolicy) -> None:
    with pytest.raises(Refusal):
        step(policy=policy, refreshable=False, force=True)
    assert step(policy=policy, refreshable=False, automatic=True, good=False) is RenewalStep.DECLINE


def test_a_revoked_sign_in_stays_revoked() -> None:
    with pytest.raises(Refusal):
        step(status=MCPAuthState.REVOKED, force=True)
    assert step(status=MCPAuthState.REVOKED, automatic=True, good=False) is RenewalStep.DECLINE


def test_a_client_of_its_own_needs_no_refresh_token() -> None:
    own = MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS
    for policy in (MCPRefreshPolicy.MANUAL, MCPRefreshPolicy.AUTO_IF_REFRESH_TOKEN):
        found = step(mode=own, policy=policy, refreshable=False, automatic=True, good=False)
        assert found is RenewalStep.RENEW
