"""Sign-ins as rows, on both databases: a state is used once, one token takes the place of another, the late learn."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Barrier
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from sqlalchemy import select
from uuid_utils import uuid7

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfilePatchRequest
from contracts.mcp.auth_work import (
    AuthOrder,
    AuthorizationServer,
    AuthOutcome,
    AuthReceipt,
    BeginSignIn,
    ChangeProfile,
    FinishSignIn,
    OAuthClient,
    RevokeSignIn,
)
from contracts.mcp.provider import MCPAuthMode, MCPAuthState
from contracts.mcp.receipts import MCPReceiptKind
from stores.mcp.auth.profile_changes import AuthProfileChanges
from stores.mcp.auth.profiles import StoredProfile, replace_profile, stored_profile
from stores.mcp.auth.sign_ins import CODE, Opening, SignInStore
from stores.mcp.auth.tokens import NewToken, TokenRenewals
from stores.mcp.receipts import ReceiptReads
from stores.platform.database import Database
from stores.platform.secrets.key_places import SecretNotFound
from stores.platform.secrets.store import SecretStore, open_secret_store
from stores.platform.tables import secrets
from tests.stores.mcp.registrations import NOW, key, registered, signed_in

AT_ONCE = 8
PROFILE = "profile-1"
SERVER = AuthorizationServer(
    issuer="https://login.example.com",
    authorization_endpoint="https://login.example.com/authorize",
    token_endpoint="https://login.example.com/token",
    resource="https://tickets.example.com/mcp",
)
LATER = NOW + timedelta(minutes=1)

_T = TypeVar("_T")


class Desk:
    """One sign-in of alice's, with a server."""

    def __init__(self, store: Database, folder: Path) -> None:
        self.store = store
        self.secrets: SecretStore = open_secret_store(store, folder, "file", "apprentice")
        self.sign_ins = SignInStore(store, self.secrets)
        self.renewals = TokenRenewals(store, self.secrets)
        signed_in(store, PROFILE)
        self.server_id = registered(store, auth_profile_id=PROFILE).server_id

    def begun(self, state: str = "state-1") -> str:
        """A sign-in under way; its challenge."""
        challenge = str(uuid7())
        order = BeginSignIn(
            **order_fields(),
            server_id=self.server_id,
            challenge_id=challenge,
            redirect_uri="http://here/back",
        )
        self.sign_ins.open_flow(order, opening(state), NOW)
        return challenge

    def finish(self, challenge: str, **fields: Any) -> FinishSignIn:
        """The browser is back; each of these orders is somebody's own."""
        return FinishSignIn(**order_fields(), challenge_id=challenge, **fields)

    def signed_in(self) -> AuthReceipt:
        """Alice has signed in; her token is ``token-0``."""
        order = self.finish(self.begun())
        return self.sign_ins.take_tokens(order, self.sign_ins.claim(order, NOW), token("token-0"), NOW)

    def order(self) -> AuthOrder:
        """Something to be done with the sign-in."""
        return AuthOrder(**order_fields())

    def stored(self) -> StoredProfile:
        """The sign-in as it stands."""
        with self.store.read() as connection:
            return stored_profile(connection, PROFILE, "alice")

    def token(self) -> str:
        """The token that is kept."""
        ref = self.stored().profile.token_ref
        assert ref is not None
        return self.secrets.reveal(ref, "alice").value

    def receipts(self, kind: MCPReceiptKind) -> int:
        """How many of a kind there are."""
        found = ReceiptReads(self.store).newest("alice", 200).receipts
        return sum(one.receipt_kind is kind for one in found)


def order_fields() -> dict[str, Any]:
    return {
        "commit_key": key(),
        "correlation_id": "request-1",
        "auth_profile_id": PROFILE,
        "owner_user_id": "alice",
    }


def opening(state: str) -> Opening:
    """What a sign-in begins with."""
    return Opening(
        server=SERVER,
        client=OAuthClient(issuer=SERVER.issuer, client_id="us"),
        client_secret=None,
        scopes=("read",),
        state=state,
        state_digest=digest(state),
        verifier="verifier",
        expires_at=NOW + timedelta(minutes=10),
    )


def digest(state: str) -> str:
    return sha256(state.encode()).hexdigest()


def token(value: str) -> NewToken:
    return NewToken(value, NOW, NOW + timedelta(hours=1), ("read",), refreshable=True)


def at_once(*acts: Callable[[], _T]) -> Sequence[_T | Refusal]:
    """What each of these came to, all begun together."""
    ready = Barrier(len(acts))

    def one(act: Callable[[], _T]) -> _T | Refusal:
        ready.wait()
        try:
            return act()
        except Refusal as refusal:
            return refusal

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(one, acts))


@pytest.fixture
def desk(store: Database, tmp_path: Path) -> Desk:
    return Desk(store, tmp_path)


def refused(act: Callable[[], object]) -> ErrorCode:
    with pytest.raises(Refusal) as raised:
        act()
    return raised.value.code


def test_a_state_leads_back_to_its_sign_in_until_it_is_used_or_its_time_is_over(desk: Desk) -> None:
    challenge = desk.begun("state-1")
    back = desk.sign_ins.returned
    assert back(digest("state-1"), desk.server_id, LATER).challenge_id == challenge
    assert (
        refused(lambda: back(digest("another"), desk.server_id, LATER)) is ErrorCode.MCP_OAUTH_STATE_INVALID
    )
    assert refused(lambda: back(digest("state-1"), "another", LATER)) is ErrorCode.MCP_OAUTH_STATE_INVALID
    late = NOW + timedelta(minutes=10)
    assert refused(lambda: back(digest("state-1"), desk.server_id, late)) is ErrorCode.MCP_OAUTH_STATE_INVALID
    too_late = ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED
    assert refused(lambda: desk.sign_ins.claim(desk.finish(challenge), late)) is too_late
    desk.sign_ins.claim(desk.finish(challenge), LATER)
    assert (
        refused(lambda: back(digest("state-1"), desk.server_id, LATER)) is ErrorCode.MCP_OAUTH_STATE_INVALID
    )


def test_of_many_who_come_back_at_once_one_uses_the_state_up(desk: Desk) -> None:
    challenge = desk.begun()
    orders = [desk.finish(challenge) for _ in range(AT_ONCE)]
    found = at_once(*(lambda order=order: desk.sign_ins.claim(order, LATER) for order in orders))
    (winner,) = [order for order, one in zip(orders, found, strict=True) if not isinstance(one, Refusal)]
    assert [one.code for one in found if isinstance(one, Refusal)] == [ErrorCode.MCP_OAUTH_STATE_INVALID] * 7
    # An attempt of the winner's may have been cut off.
    assert desk.sign_ins.claim(winner, LATER).challenge_id == challenge


def test_a_sign_in_is_used_or_ended_and_never_both(desk: Desk) -> None:
    for challenge in [desk.begun(str(uuid4())) for _ in range(5)]:
        claim = partial(desk.sign_ins.claim, desk.finish(challenge), LATER)
        deny = partial(desk.sign_ins.deny, challenge, "alice", "access_denied", LATER)
        claimed, denied = at_once(claim, deny)
        assert isinstance(claimed, Refusal) is (denied is not None)


def test_somebody_elses_sign_in_is_not_there(desk: Desk) -> None:
    challenge = desk.begun()
    order = desk.finish(challenge).changed(owner_user_id="mallory")
    assert refused(lambda: desk.sign_ins.claim(order, LATER)) is ErrorCode.MCP_OAUTH_STATE_INVALID
    assert desk.sign_ins.flow(challenge, "mallory") is None
    assert desk.sign_ins.deny(challenge, "mallory", "no", LATER) is None


def test_a_sign_in_that_came_back_has_its_token_and_nothing_else_is_left_of_it(desk: Desk) -> None:
    with desk.store.write() as connection:
        code = desk.secrets.put_within(connection, "alice", CODE, "code-1")
    order = desk.finish(desk.begun(), code_ref=code)
    flow = desk.sign_ins.claim(order, LATER)
    receipt = desk.sign_ins.take_tokens(order, flow, token("token-0"), LATER)
    assert (receipt.outcome, receipt.state) == (AuthOutcome.DONE, MCPAuthState.HEALTHY)
    assert (desk.token(), desk.stored().connection.token_version) == ("token-0", 1)
    for ref in (code, flow.oauth_state_ref, flow.pkce_verifier_ref):
        with pytest.raises(SecretNotFound):
            desk.secrets.reveal(ref, "alice")


def test_a_sign_in_that_fails_leaves_the_token_that_is_there(desk: Desk) -> None:
    desk.signed_in()
    order = desk.finish(desk.begun("state-2"))
    flow = desk.sign_ins.claim(order, LATER)
    receipt = desk.sign_ins.fail_sign_in(order, flow, "access_denied", LATER)
    assert (receipt.outcome, receipt.state) == (AuthOutcome.DECLINED, MCPAuthState.HEALTHY)
    assert desk.token() == "token-0"


def test_of_many_renewals_of_one_token_one_is_kept_with_one_receipt(desk: Desk) -> None:
    desk.signed_in()
    base, values = desk.stored(), [f"token-{number}" for number in range(1, AT_ONCE + 1)]
    found = at_once(
        *(
            lambda value=value: desk.renewals.take_renewed(desk.order(), base, token(value), LATER)
            for value in values
        )
    )
    outcomes = [one.outcome for one in found if isinstance(one, AuthReceipt)]
    assert sorted(outcomes) == [AuthOutcome.CURRENT] * 7 + [AuthOutcome.DONE]
    assert desk.token() == values[outcomes.index(AuthOutcome.DONE)]
    assert desk.stored().connection.token_version == 2
    assert desk.receipts(MCPReceiptKind.AUTH_REFRESH) == 1


def test_a_token_is_lost_or_renewed_and_never_lost_after_it_was_renewed(desk: Desk) -> None:
    desk.signed_in()
    base = desk.stored()
    lost, renewed = at_once(
        lambda: desk.renewals.lose(desk.order(), base, "invalid_grant", LATER),
        lambda: desk.renewals.take_renewed(desk.order(), base, token("token-1"), LATER),
    )
    assert isinstance(lost, AuthReceipt)
    assert isinstance(renewed, AuthReceipt)
    assert {lost.outcome, renewed.outcome} in (
        {AuthOutcome.LOST, AuthOutcome.CURRENT},
        {AuthOutcome.CURRENT, AuthOutcome.DONE},
    )
    assert (desk.stored().profile.token_ref is None) is (lost.outcome is AuthOutcome.LOST)


def test_what_a_server_has_against_an_older_token_says_nothing_of_the_newest(desk: Desk) -> None:
    desk.signed_in()
    old = desk.stored()
    desk.renewals.take_renewed(desk.order(), old, token("token-1"), LATER)
    challenge = desk.renewals.challenge
    said = challenge(desk.order(), old.connection.token_version, "invalid_token", LATER)
    assert (said.outcome, said.state) == (AuthOutcome.CURRENT, MCPAuthState.HEALTHY)
    said = challenge(desk.order(), desk.stored().connection.token_version, "invalid_token", LATER)
    assert (said.outcome, said.state) == (AuthOutcome.LOST, MCPAuthState.CHALLENGE_REQUIRED)


def test_trouble_that_stays_the_same_is_told_once(desk: Desk) -> None:
    desk.signed_in()
    for code in ("timeout", "timeout", "server_error"):
        desk.renewals.note_trouble(desk.order(), code, LATER)
    assert desk.receipts(MCPReceiptKind.AUTH_REFRESH) == 2
    assert (desk.token(), desk.stored().profile.status) == ("token-0", MCPAuthState.HEALTHY)


def by_a_person(desk: Desk, mode: MCPAuthMode = MCPAuthMode.OAUTH2_DELEGATED) -> None:
    with desk.store.write() as connection:
        stored = stored_profile(connection, PROFILE, "alice", lock=True)
        replace_profile(connection, stored.changed(NOW, auth_mode=mode))


def test_scopes_that_servers_need_are_told_once_and_known_to_every_later_sign_in(desk: Desk) -> None:
    by_a_person(desk)
    desk.signed_in()
    for scopes in (("write",), ("read", "write"), ("write", "share"), ()):
        desk.renewals.lack(desk.order(), scopes, LATER)
    assert desk.stored().connection.scopes_needed == ("write", "share")
    assert desk.receipts(MCPReceiptKind.AUTH_REFRESH) == 2
    order = desk.finish(desk.begun("state-2"))
    desk.sign_ins.take_tokens(order, desk.sign_ins.claim(order, LATER), token("token-2"), LATER)
    assert desk.stored().connection.scopes_needed == ("write", "share")


def refused_for_it(desk: Desk) -> None:
    order = desk.finish(desk.begun("state-2"))
    desk.sign_ins.fail_sign_in(order, desk.sign_ins.claim(order, LATER), "invalid_scope", LATER)


def not_registered_for_it(desk: Desk) -> None:
    order = BeginSignIn(
        **order_fields(), server_id=desk.server_id, challenge_id=str(uuid7()), redirect_uri="http://here"
    )
    desk.sign_ins.forget_needed(order, LATER)


def chosen_anew(desk: Desk) -> None:
    patch = MCPAuthProfilePatchRequest(scopes=("read",))
    AuthProfileChanges(desk.store, desk.secrets).change(ChangeProfile(**order_fields(), patch=patch), LATER)


def revoked(desk: Desk) -> None:
    order = RevokeSignIn(**order_fields(), server_id=desk.server_id)
    AuthProfileChanges(desk.store, desk.secrets).revoke(order, None, LATER)


@pytest.mark.parametrize("act", [refused_for_it, not_registered_for_it, chosen_anew, revoked])
def test_scopes_that_servers_named_are_forgotten_where_they_stand_in_the_way(
    desk: Desk, act: Callable[[Desk], None]
) -> None:
    by_a_person(desk)
    desk.signed_in()
    desk.renewals.lack(desk.order(), ("write",), LATER)
    act(desk)
    assert desk.stored().connection.scopes_needed == ()


def test_a_token_stays_with_the_client_it_came_by_until_there_is_another(desk: Desk) -> None:
    desk.signed_in()
    before = desk.stored().connection
    another = replace(
        opening("state-2"),
        client=OAuthClient(issuer=SERVER.issuer, client_id="us-again", registered=True),
        client_secret="s3cret",
    )
    challenge = str(uuid7())
    begun = BeginSignIn(
        **order_fields(), server_id=desk.server_id, challenge_id=challenge, redirect_uri="http://here/back"
    )
    desk.sign_ins.open_flow(begun, another, NOW)
    assert desk.stored().connection == before
    order = desk.finish(challenge)
    desk.sign_ins.take_tokens(order, desk.sign_ins.claim(order, LATER), token("token-2"), LATER)
    client = desk.stored().connection.client
    assert client is not None
    assert client.client_id == "us-again"
    assert client.secret_ref is not None
    assert desk.secrets.reveal(client.secret_ref, "alice").value == "s3cret"
    assert ends_of(desk, client.secret_ref) is None


def test_the_secret_of_a_client_that_came_to_nothing_ends_with_its_sign_in(desk: Desk) -> None:
    desk.signed_in()
    another = replace(
        opening("state-2"),
        client=OAuthClient(issuer=SERVER.issuer, client_id="us-again", registered=True),
        client_secret="s3cret",
    )
    begun = BeginSignIn(
        **order_fields(), server_id=desk.server_id, challenge_id=str(uuid7()), redirect_uri="http://here/back"
    )
    desk.sign_ins.open_flow(begun, another, NOW)
    flow = desk.sign_ins.flow(begun.challenge_id, "alice")
    assert flow is not None
    assert flow.client.secret_ref is not None
    assert ends_of(desk, flow.client.secret_ref) is not None


def ends_of(desk: Desk, ref: str) -> str | None:
    with desk.store.read() as connection:
        return connection.scalar(select(secrets.c.expires_at).where(secrets.c.ref == ref))


def test_a_renewal_keeps_what_was_found_to_be_needed_meanwhile(desk: Desk) -> None:
    by_a_person(desk)
    desk.signed_in()
    base = desk.stored()
    desk.renewals.lack(desk.order(), ("write",), LATER)
    desk.renewals.take_renewed(desk.order(), base, token("token-1"), LATER, base.connection)
    assert desk.stored().connection.scopes_needed == ("write",)


@pytest.mark.parametrize("mode", [MCPAuthMode.API_KEY, MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS])
def test_a_sign_in_that_no_person_makes_cannot_be_made_with_more_scopes(
    desk: Desk, mode: MCPAuthMode
) -> None:
    by_a_person(desk, mode)
    desk.renewals.lack(desk.order(), ("write",), LATER)
    assert desk.stored().connection.scopes_needed == ()
