"""What renewing a token writes: the new one, or how the sign-in stands without, each with its receipt."""

from datetime import datetime

from contracts.base import clipped
from contracts.mcp.auth_work import AuthConnection, AuthOrder, AuthOutcome, AuthReceipt
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from domain.mcp.auth_status import SIGNED_IN_BY_A_PERSON, is_renewable, missing_scopes, with_needed
from stores.database import Database
from stores.mcp.auth_profiles import StoredProfile, replace_profile, stored_profile
from stores.mcp.token_rows import NewToken, told, with_token, without_token
from stores.secret_store import SecretStore

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
        """Keeps a renewed token in the place of the one it was got with; a newer one is left alone."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            if stored.connection.token_version != base.connection.token_version:
                return stored.outcome(AuthOutcome.CURRENT)
            if learned is not None:
                found = ("server", "client", "scopes_requested")
                known = stored.connection.model_copy(update={name: getattr(learned, name) for name in found})
                stored = stored.changed(now, known)
            stored = with_token(self._secrets, connection, stored, token, now)
            entry = (MCPReceiptKind.AUTH_REFRESH, MCPReceiptStatus.OK, "The token was renewed.")
            return told(connection, stored, order, entry, now, AuthOutcome.DONE)

    def lose(self, order: AuthOrder, base: StoredProfile, code: str, now: datetime) -> AuthReceipt:
        """The authorization server gives no more tokens for this sign-in: somebody has to sign in again."""
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
            return told(connection, stored, order, entry, now, AuthOutcome.LOST)

    def decline(self, order: AuthOrder, now: datetime) -> AuthReceipt:
        """The token is over and may not be renewed by itself: that is shown, and told once."""
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
            return told(connection, stored, order, entry, now, AuthOutcome.DECLINED)

    def note_trouble(self, order: AuthOrder, code: str, now: datetime) -> None:
        """A renewal that failed and will be tried again; the first of a kind is told."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            if stored.profile.last_auth_error_code == code:
                return
            stored = replace_profile(connection, stored.changed(now, last_auth_error_code=code))
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.DEGRADED,
                f"The token could not be renewed ({code}); the sign-in is kept, and it is tried again.",
            )
            told(connection, stored, order, entry, now, AuthOutcome.DECLINED)

    def lack(self, order: AuthOrder, scopes: tuple[str, ...], now: datetime) -> AuthReceipt:
        """A server named scopes that a person's sign-in does not have. What is new is told once."""
        with self._database.write() as connection:
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            needed = with_needed(stored.connection, scopes)
            by_a_person = stored.profile.auth_mode in SIGNED_IN_BY_A_PERSON
            if not by_a_person or needed == stored.connection.scopes_needed:
                return stored.outcome(AuthOutcome.CURRENT)
            known = stored.connection.model_copy(update={"scopes_needed": needed})
            stored = replace_profile(connection, stored.changed(now, known))
            entry = (
                MCPReceiptKind.AUTH_REFRESH,
                MCPReceiptStatus.DEGRADED,
                f"The sign-in lacks {clipped(', '.join(missing_scopes(known)), 160)}; sign in again.",
            )
            return told(connection, stored, order, entry, now, AuthOutcome.DONE)

    def challenge(self, order: AuthOrder, seen_version: int | None, code: str, now: datetime) -> AuthReceipt:
        """A server refused the newest token: somebody has to sign in again. An older one's refusal says nothing."""
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
            return told(connection, stored, order, entry, now, AuthOutcome.LOST)
