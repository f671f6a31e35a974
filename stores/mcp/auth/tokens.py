"""Stores OAuth tokens: a renewed one, or the sign-in's state without one, each with its receipt.

A new token and the row that refers to it are written in one transaction, which deletes the token before.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.mcp.auth_work import AuthConnection, AuthOrder, AuthOutcome, AuthReceipt
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from domain.mcp.auth_status import (
    SIGNED_IN_BY_A_PERSON,
    is_renewable,
    missing_scopes,
    renewal_time,
    with_needed,
)
from stores.mcp.auth.flows import close_flows_of
from stores.mcp.auth.profiles import (
    Entry,
    StoredProfile,
    add_profile_receipt,
    replace_profile,
    stored_profile,
)
from stores.platform.database import Database
from stores.platform.secrets.store import SecretStore, drop_within

TOKEN = "oauth_token"  # noqa: S105
"""The kind of secret that a token is."""


@dataclass(frozen=True)
class NewToken:
    """A token to be kept: sealed as one value, and what may be known of it."""

    sealed: str
    issued_at: datetime
    expires_at: datetime | None
    scopes_granted: tuple[str, ...]
    refreshable: bool

    def __repr__(self) -> str:
        return f"NewToken(expires_at={self.expires_at})"


def with_token(
    secrets: SecretStore, connection: Connection, stored: StoredProfile, token: NewToken, now: datetime
) -> StoredProfile:
    """The sign-in with this token, which takes the place of the one before."""
    ref = secrets.put_within(connection, stored.owner, TOKEN, token.sealed, ref=stored.profile.token_ref)
    known = stored.connection.changed(
        scopes_granted=token.scopes_granted,
        refreshable=token.refreshable,
        token_version=stored.connection.token_version + 1,
    )
    renewable = is_renewable(stored.profile, known)
    renewed = stored.changed(
        now,
        known,
        token_ref=ref,
        expires_at=token.expires_at,
        refresh_at=renewal_time(token.issued_at, token.expires_at) if renewable else None,
        status=MCPAuthState.HEALTHY,
        last_auth_error_code=None,
    )
    return replace_profile(connection, renewed)


def without_token(
    connection: Connection, stored: StoredProfile, status: MCPAuthState, code: str | None, now: datetime
) -> StoredProfile:
    """The sign-in without its token, which is dropped; flows under way end too."""
    if stored.profile.token_ref is not None:
        drop_within(connection, stored.profile.token_ref, stored.owner)
    close_flows_of(connection, stored.profile.auth_profile_id, now)
    known = stored.connection.changed(
        scopes_granted=(),
        scopes_needed=() if status is MCPAuthState.REVOKED else stored.connection.scopes_needed,
        refreshable=False,
        token_version=stored.connection.token_version + 1,
    )
    gone = stored.changed(
        now,
        known,
        token_ref=None,
        expires_at=None,
        refresh_at=None,
        status=status,
        last_auth_error_code=code,
    )
    return replace_profile(connection, gone)


def record_result(
    connection: Connection,
    stored: StoredProfile,
    order: AuthOrder,
    entry: Entry,
    now: datetime,
    outcome: AuthOutcome,
    server_id: str | None = None,
) -> AuthReceipt:
    """Writes the receipt of an order; the result for its workflow."""
    receipt_id = add_profile_receipt(
        connection,
        stored,
        entry,
        at=now,
        correlation_id=order.correlation_id,
        actor=order.actor,
        server_id=server_id,
    )
    return stored.outcome(outcome, receipt_id)


_LOST = frozenset({MCPAuthState.REVOKED, MCPAuthState.CHALLENGE_REQUIRED})


class TokenRenewals:
    """The writing half of renewals. Safe to share between threads."""

    def __init__(self, database: Database, secrets: SecretStore) -> None:
        self._database = database
        self._secrets = secrets

    def take_renewed(
        self,
        order: AuthOrder,
        base: StoredProfile,
        token: NewToken,
        now: datetime,
        learned: AuthConnection | None = None,
    ) -> AuthReceipt:
        """Replaces the token that was renewed; a newer one stays."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            if stored.connection.token_version != base.connection.token_version:
                return stored.outcome(AuthOutcome.CURRENT)
            if learned is not None:
                found = ("server", "client", "scopes_requested")
                known = stored.connection.changed(**{name: getattr(learned, name) for name in found})
                stored = stored.changed(now, known)
            stored = with_token(self._secrets, connection, stored, token, now)
            entry = (MCPReceiptKind.AUTH_REFRESH, MCPReceiptStatus.OK, "The token was renewed.")
            return record_result(connection, stored, order, entry, now, AuthOutcome.DONE)

    def lose(self, order: AuthOrder, base: StoredProfile, code: str, now: datetime) -> AuthReceipt:
        """Records that the authorization server issues no more tokens: a new sign-in is required."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            if stored.connection.token_version != base.connection.token_version:
                return stored.outcome(AuthOutcome.CURRENT)
            stored = without_token(connection, stored, MCPAuthState.CHALLENGE_REQUIRED, code, now)
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.FAILED,
                f"The token cannot be renewed ({code}); sign in again.",
            )
            return record_result(connection, stored, order, entry, now, AuthOutcome.LOST)

    def decline(self, order: AuthOrder, now: datetime) -> AuthReceipt:
        """Records, once, that the token has expired and is not renewed automatically."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            renewable = is_renewable(stored.profile, stored.connection)
            state = MCPAuthState.EXPIRED if renewable else MCPAuthState.CHALLENGE_REQUIRED
            if stored.profile.token_ref is None or stored.profile.status in {state, *_LOST}:
                return stored.outcome(AuthOutcome.DECLINED)
            stored = replace_profile(connection, stored.changed(now, status=state))
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.BLOCKED,
                "The token is over and is not renewed by itself; renew it or sign in again.",
            )
            return record_result(connection, stored, order, entry, now, AuthOutcome.DECLINED)

    def note_trouble(self, order: AuthOrder, code: str, now: datetime) -> None:
        """Records a failed renewal that will be retried; one receipt for each error code."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            if stored.profile.last_auth_error_code == code:
                # Another version, so that the same command sent again is tried again.
                replace_profile(connection, stored.changed(now))
                return
            stored = replace_profile(connection, stored.changed(now, last_auth_error_code=code))
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.DEGRADED,
                f"The token could not be renewed ({code}); the sign-in is kept, and it is tried again.",
            )
            record_result(connection, stored, order, entry, now, AuthOutcome.DECLINED)

    def note_refused(self, order: AuthOrder, version: int, now: datetime) -> None:
        """Records that a server did not take the token of this version; an older one is no news."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            known = stored.connection
            if known.token_version == version and known.refused_version != version:
                replace_profile(connection, stored.changed(now, known.changed(refused_version=version)))

    def lack(self, order: AuthOrder, scopes: tuple[str, ...], now: datetime) -> AuthReceipt:
        """Records scopes that a server requires and the sign-in lacks; one receipt for each new set."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            needed = with_needed(stored.connection, scopes)
            by_a_person = stored.profile.auth_mode in SIGNED_IN_BY_A_PERSON
            if not by_a_person or needed == stored.connection.scopes_needed:
                return stored.outcome(AuthOutcome.CURRENT)
            known = stored.connection.changed(scopes_needed=needed)
            stored = replace_profile(connection, stored.changed(now, known))
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.DEGRADED,
                f"The sign-in lacks {clipped(', '.join(missing_scopes(known)), 160)}; sign in again.",
            )
            return record_result(connection, stored, order, entry, now, AuthOutcome.DONE)

    def challenge(self, order: AuthOrder, seen_version: int | None, code: str, now: datetime) -> AuthReceipt:
        """Records that a server refused the newest token: a new sign-in is required. Older tokens are ignored."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            if seen_version is not None and seen_version != stored.connection.token_version:
                return stored.outcome(AuthOutcome.CURRENT)
            if stored.profile.status is MCPAuthState.CHALLENGE_REQUIRED:
                return stored.outcome(AuthOutcome.DECLINED)
            refused = stored.changed(now, status=MCPAuthState.CHALLENGE_REQUIRED, last_auth_error_code=code)
            stored = replace_profile(connection, refused)
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.FAILED,
                f"The server refuses the sign-in ({code}); sign in again.",
            )
            return record_result(connection, stored, order, entry, now, AuthOutcome.LOST)
