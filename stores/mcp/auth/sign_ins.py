"""What a person's sign-in writes: a flow, and what came of it, each with its receipt in one transaction."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from contracts.mcp.auth_work import (
    AuthConnection,
    AuthorizationServer,
    AuthOutcome,
    AuthReceipt,
    BeginSignIn,
    FinishSignIn,
    OAuthClient,
    SignInFlow,
)
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from domain.maintenance.retention import SIGN_IN_FLOW_KEPT
from domain.mcp.auth_status import INVALID_SCOPE, missing_scopes
from stores.mcp.auth.flows import (
    add_flow,
    claim_flow,
    close_flow,
    drop_flow_secrets,
    flow_of_challenge,
    flow_of_state,
)
from stores.mcp.auth.profiles import StoredProfile, add_profile_receipt, replace_profile, stored_profile
from stores.mcp.auth.tokens import NewToken, record_result, with_token
from stores.platform.database import Database
from stores.platform.secrets.store import SecretStore, drop_within

STATE, VERIFIER, CODE, CLIENT_SECRET = (
    "oauth_state",
    "pkce_verifier",
    "authorization_code",
    "oauth_client_secret",
)
"""The kinds of secrets that a sign-in under way keeps."""


@dataclass(frozen=True)
class Opening:
    """What a new sign-in begins with; its secrets are not shown."""

    server: AuthorizationServer
    client: OAuthClient
    client_secret: str | None
    scopes: tuple[str, ...]
    state: str
    state_digest: str
    verifier: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"Opening(issuer={self.server.issuer!r})"


class SignInStore:
    """The writing half of sign-ins. Safe to share between threads."""

    def __init__(self, database: Database, secrets: SecretStore) -> None:
        self._database = database
        self._secrets = secrets

    def flow(self, challenge_id: str, owner: str) -> SignInFlow | None:
        """A flow by its challenge."""
        with self._database.read() as connection:
            kept = flow_of_challenge(connection, challenge_id, owner)
        return kept.flow if kept else None

    def open_flow(self, order: BeginSignIn, opening: Opening, now: datetime) -> AuthReceipt:
        """Keeps a new flow with its secrets; the same challenge again changes nothing."""
        owner = order.owner_user_id
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, owner, lock=True)
            if flow_of_challenge(connection, order.challenge_id, owner) is not None:
                return stored.outcome(AuthOutcome.CURRENT)
            known = stored.connection
            # A token that is still used belongs to the server and the client it came by, until there is another.
            is_its_own = stored.profile.token_ref is None or _same_party(known, opening)
            client = self._with_secret(connection, opening, owner, is_its_own)
            keep = _kept_until(self._secrets, connection, owner, opening.expires_at)
            flow = SignInFlow(
                challenge_id=order.challenge_id,
                server_id=order.server_id,
                auth_profile_id=order.auth_profile_id,
                owner_user_id=owner,
                correlation_id=order.correlation_id,
                oauth_state_ref=keep(STATE, opening.state),
                pkce_verifier_ref=keep(VERIFIER, opening.verifier),
                server=opening.server,
                client=client,
                redirect_uri=order.redirect_uri,
                scopes=opening.scopes,
                expires_at=opening.expires_at,
            )
            add_flow(connection, flow, opening.state_digest, now)
            if is_its_own:
                known = known.changed(server=opening.server, client=client)
                stored = replace_profile(connection, stored.changed(now, known))
            entry = (
                MCPReceiptKind.AUTH_START,
                MCPReceiptStatus.OK,
                f"Sign-in at {opening.server.issuer} begun.",
            )
            return record_result(connection, stored, order, entry, now, AuthOutcome.DONE, order.server_id)

    def returned(self, state_digest: str, server_id: str, now: datetime) -> SignInFlow:
        """The flow that a browser came back from; nothing is used up yet.

        Raises:
            Refusal: ``MCP_OAUTH_STATE_INVALID``.
        """
        with self._database.read() as connection:
            return flow_of_state(connection, state_digest, server_id, now)

    def claim(self, order: FinishSignIn, now: datetime) -> SignInFlow:
        """Uses the flow up, for this order alone.

        Raises:
            Refusal: ``MCP_OAUTH_STATE_INVALID``, ``MCP_OAUTH_CALLBACK_EXPIRED``.
        """
        by = f"{order.commit_key.owner_user_id}/{order.commit_key.key}"
        with self._database.write() as connection:
            return claim_flow(connection, order.challenge_id, order.owner_user_id, by, now)

    def take_tokens(
        self, order: FinishSignIn, flow: SignInFlow, token: NewToken, now: datetime
    ) -> AuthReceipt:
        """Keeps what a code was exchanged for; the sign-in is whole again."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            _let_go_of_client(connection, stored, flow.client)
            if flow.client.registered and flow.client.secret_ref is not None:
                self._secrets.keep_within(connection, flow.client.secret_ref, order.owner_user_id)
            known = stored.connection.changed(
                server=flow.server, client=flow.client, scopes_requested=flow.scopes
            )
            stored = with_token(self._secrets, connection, stored.changed(now, known), token, now)
            _drop_code(connection, order, flow)
            missing = missing_scopes(stored.connection)
            entry = (
                MCPReceiptKind.AUTH_CALLBACK,
                MCPReceiptStatus.DEGRADED if missing else MCPReceiptStatus.OK,
                f"Signed in at {flow.server.issuer}."
                + (f" Not granted: {', '.join(missing)}." if missing else ""),
            )
            return record_result(connection, stored, order, entry, now, AuthOutcome.DONE, flow.server_id)

    def fail_sign_in(self, order: FinishSignIn, flow: SignInFlow, code: str, now: datetime) -> AuthReceipt:
        """Notes why a sign-in came to nothing. One that was whole before stays as it was."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            fields: dict[str, Any] = {"last_auth_error_code": code}
            if stored.profile.token_ref is None:
                fields["status"] = MCPAuthState.CHALLENGE_REQUIRED
            known = _without_needed(stored) if code == INVALID_SCOPE else None
            stored = replace_profile(connection, stored.changed(now, known, **fields))
            _drop_code(connection, order, flow)
            entry = (MCPReceiptKind.AUTH_CALLBACK, MCPReceiptStatus.FAILED, f"Sign-in failed: {code}.")
            return record_result(connection, stored, order, entry, now, AuthOutcome.DECLINED, flow.server_id)

    def forget_needed(self, order: BeginSignIn, now: datetime) -> None:
        """Forgets the scopes that servers named: the next sign-in asks for the usual ones."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            replace_profile(connection, stored.changed(now, _without_needed(stored)))

    def deny(self, challenge_id: str, owner: str, code: str, now: datetime) -> str | None:
        """Ends an unused flow; its receipt, or none where it was used or never existed."""
        with self._database.write() as connection:
            known = flow_of_challenge(connection, challenge_id, owner)
            if known is None:
                return None
            stored = stored_profile(connection, known.flow.auth_profile_id, owner, lock=True)
            kept = flow_of_challenge(connection, challenge_id, owner, lock=True)
            if kept is None or kept.used:
                return None
            close_flow(connection, kept.flow, now)
            stored = replace_profile(connection, stored.changed(now, last_auth_error_code=code))
            entry = (MCPReceiptKind.AUTH_CALLBACK, MCPReceiptStatus.BLOCKED, f"Sign-in ended: {code}.")
            return add_profile_receipt(
                connection,
                stored,
                entry,
                at=now,
                correlation_id=kept.flow.correlation_id,
                actor=owner,
                server_id=kept.flow.server_id,
            )

    def _with_secret(
        self, connection: Connection, opening: Opening, owner: str, is_its_own: bool
    ) -> OAuthClient:
        if opening.client_secret is None:
            return opening.client
        # That of a client which comes to nothing goes with its flow.
        ends = None if is_its_own else opening.expires_at + SIGN_IN_FLOW_KEPT
        ref = self._secrets.put_within(
            connection, owner, CLIENT_SECRET, opening.client_secret, expires_at=ends
        )
        return opening.client.changed(secret_ref=ref)


def _let_go_of_client(connection: Connection, stored: StoredProfile, new: OAuthClient) -> None:
    old = stored.connection.client
    if old is None or not old.registered or old.secret_ref is None or old.secret_ref == new.secret_ref:
        return
    drop_within(connection, old.secret_ref, stored.owner)


def _drop_code(connection: Connection, order: FinishSignIn, flow: SignInFlow) -> None:
    drop_flow_secrets(connection, flow)
    if order.code_ref is not None:
        drop_within(connection, order.code_ref, order.owner_user_id)


def _kept_until(
    secrets: SecretStore, connection: Connection, owner: str, ends: datetime
) -> Callable[[str, str], str]:
    def keep(kind: str, value: str) -> str:
        return secrets.put_within(connection, owner, kind, value, expires_at=ends)

    return keep


def _same_party(known: AuthConnection, opening: Opening) -> bool:
    """Of the same issuer, for the same resource, and by the same client: a token is for one server and one client."""
    at, by, to = known.server, known.client, opening.server
    if at is None or by is None:
        return False
    return (at.issuer, at.resource, by.client_id) == (to.issuer, to.resource, opening.client.client_id)


def _without_needed(stored: StoredProfile) -> AuthConnection:
    return stored.connection.changed(scopes_needed=())
