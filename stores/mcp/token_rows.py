"""Tokens as rows and sealed values: kept, renewed and let go within the caller's transaction.

A new token and the row that refers to it are one transaction, which drops the token before: there is no moment
at which neither is kept.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from contracts.mcp.auth_work import AuthOrder, AuthOutcome, AuthReceipt
from contracts.mcp.provider import MCPAuthState
from domain.mcp.auth_status import is_renewable
from domain.mcp.token_life import renewal_time
from stores.mcp.auth_flows import close_flows_of
from stores.mcp.auth_profiles import Entry, StoredProfile, replace_profile, tell
from stores.secret_store import SecretStore, drop_within

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
    known = stored.connection.model_copy(
        update={
            "scopes_granted": token.scopes_granted,
            "refreshable": token.refreshable,
            "token_version": stored.connection.token_version + 1,
        }
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
    known = stored.connection.model_copy(
        update={
            "scopes_granted": (),
            "scopes_needed": () if status is MCPAuthState.REVOKED else stored.connection.scopes_needed,
            "refreshable": False,
            "token_version": stored.connection.token_version + 1,
        }
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


def told(
    connection: Connection,
    stored: StoredProfile,
    order: AuthOrder,
    entry: Entry,
    now: datetime,
    outcome: AuthOutcome,
    server_id: str | None = None,
) -> AuthReceipt:
    """Writes the receipt of an order, and says what became of it."""
    receipt_id = tell(
        connection,
        stored,
        entry,
        at=now,
        correlation_id=order.correlation_id,
        actor=order.actor,
        server_id=server_id,
    )
    return stored.outcome(outcome, receipt_id)
