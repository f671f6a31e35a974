"""Commands on sign-ins: create, patch, set the secret, revoke, delete; each with its receipt."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile, MCPAuthProfileDeleteResponse, MCPRevokeStatus
from contracts.mcp.auth_work import AuthOutcome, AuthReceipt, ChangeProfile, ForgetProfile, RevokeSignIn
from contracts.mcp.provider import MCPAuthMode, MCPAuthState
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from domain.mcp.m365_registration import check_profile_mode
from stores.mcp.auth.flows import close_flows_of
from stores.mcp.auth.profiles import (
    StoredProfile,
    add_profile,
    add_profile_receipt,
    receipt_under,
    replace_profile,
    soft_delete_profile,
    stored_profile,
)
from stores.mcp.auth.tokens import record_result, without_token
from stores.mcp.mcp_tables import PROFILES
from stores.mcp.servers.server_rows import lock_servers, replace_server, server_of, servers_with_profile
from stores.platform.answers import remember
from stores.platform.database import Database
from stores.platform.secrets.store import SecretStore, drop_within

PROFILE_SECRET = "auth_profile_secret"  # noqa: S105
"""The kind of secret that an API key or a client secret is."""


class AuthProfileChanges:
    """The changing half of sign-ins. Safe to share between threads."""

    def __init__(self, database: Database, secrets: SecretStore) -> None:
        self._database = database
        self._secrets = secrets

    def create(self, profile: MCPAuthProfile, owner: str, correlation_id: str) -> MCPAuthProfile:
        """Keeps a new sign-in; the same one again (by its id) changes nothing.

        Raises:
            Refusal: ``M365_FORBIDDEN_AUTH_MODE``.
        """
        check_profile_mode(profile.provider, profile.auth_mode)
        with self._database.write() as connection:
            known = PROFILES.find(connection, profile.auth_profile_id, owner=owner)
            if known is not None:
                return known
            stored = add_profile(connection, profile, owner)
            entry = (
                MCPReceiptKind.AUTH_PROFILE_CREATE,
                MCPReceiptStatus.OK,
                f"Sign-in for {profile.provider.value} made, {profile.auth_mode.value}.",
            )
            add_profile_receipt(
                connection, stored, entry, at=profile.created_at, correlation_id=correlation_id, actor=owner
            )
        return profile

    def change(self, order: ChangeProfile, now: datetime) -> AuthReceipt:
        """Changes what the patch names; other scopes or another way back take effect with the next sign-in.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
        """
        fields: dict[str, Any] = {
            name: getattr(order.patch, name)
            for name in ("scopes", "redirect_uri", "refresh_policy", "shared_profile")
            if getattr(order.patch, name) is not None
        }
        if order.own_way_back:
            fields["redirect_uri"] = None
        with self._database.write() as connection:
            if (done := receipt_under(connection, order.commit_key)) is not None:
                return done
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            known = stored.connection
            if "scopes" in fields:
                # New scopes replace those that servers asked for.
                known = known.changed(scopes_needed=())
            stored = replace_profile(connection, stored.changed(now, known, **fields))
            entry = (
                MCPReceiptKind.AUTH_PROFILE_PATCH,
                MCPReceiptStatus.OK,
                f"Sign-in changed: {', '.join(sorted(fields)) or 'nothing'}.",
            )
            receipt = record_result(connection, stored, order, entry, now, AuthOutcome.DONE)
            remember(connection, order.commit_key, receipt, now)
            return receipt

    def take_secret(
        self, auth_profile_id: str, owner: str, secret: str, now: datetime, correlation_id: str
    ) -> MCPAuthProfile:
        """Keeps an API key or a client secret in the place of the one before; a token got with that goes.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
        """
        with self._database.write() as connection:
            stored = stored_profile(connection, auth_profile_id, owner, lock=True)
            ref = self._secrets.put_within(
                connection, owner, PROFILE_SECRET, secret, ref=stored.profile.secret_ref
            )
            if stored.profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS:
                stored = without_token(connection, stored, MCPAuthState.UNKNOWN, None, now)
            # A new secret is for the authorization server that is discovered next.
            known = stored.connection.changed(client=None, token_version=stored.connection.token_version + 1)
            fields: dict[str, Any] = {"secret_ref": ref, "last_auth_error_code": None}
            if stored.profile.auth_mode is MCPAuthMode.API_KEY:
                fields["status"] = MCPAuthState.HEALTHY
            if stored.profile.token_ref is not None:
                known = known.changed(client=stored.connection.client)
            stored = replace_profile(connection, stored.changed(now, known, **fields))
            entry = (
                MCPReceiptKind.AUTH_PROFILE_PATCH,
                MCPReceiptStatus.OK,
                "A secret was entered for the sign-in.",
            )
            add_profile_receipt(connection, stored, entry, at=now, correlation_id=correlation_id, actor=owner)
        return stored.profile

    def revoke(self, order: RevokeSignIn, remote_outcome: str | None, now: datetime) -> AuthReceipt:
        """Ends a sign-in here. The connection goes too where it is not to be kept and no other server uses it.

        ``remote_outcome`` is the authorization server's answer, if it was asked.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
        """
        owner = order.owner_user_id
        with self._database.write() as connection:
            if (done := receipt_under(connection, order.commit_key)) is not None:
                return done
            stored = stored_profile(connection, order.auth_profile_id, owner, lock=True)
            before = stored
            if stored.profile.status is not MCPAuthState.REVOKED:
                stored = without_token(connection, stored, MCPAuthState.REVOKED, None, now)
                stored = self._without_key(connection, stored, now)
            failed = remote_outcome is not None and remote_outcome != "revoked"
            summary = "The sign-in was revoked here."
            if remote_outcome is not None:
                summary += f" At the authorization server: {remote_outcome}."
            entry = (
                MCPReceiptKind.AUTH_REVOKE,
                MCPReceiptStatus.DEGRADED if failed else MCPReceiptStatus.OK,
                summary,
            )
            receipt = record_result(connection, stored, order, entry, now, AuthOutcome.DONE, order.server_id)
            if not order.keep_profile:
                self._forget_unused(connection, stored, order, now)
            receipt = receipt.changed(
                revoke_status=_revoked(before),
                remote_outcome=clipped(remote_outcome, 160) if remote_outcome is not None else None,
            )
            remember(connection, order.commit_key, receipt, now)
        return receipt

    def forget(self, order: ForgetProfile, now: datetime) -> AuthReceipt:
        """Removes a sign-in and all its secrets.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``; ``MCP_AUTH_PROFILE_IN_USE`` while a server uses it (DOC3
                "Shared-auth-profile delete safety rule" 4), whatever else was said.
        """
        with self._database.write() as connection:
            lock_servers(connection)
            if (done := receipt_under(connection, order.commit_key)) is not None:
                return done
            stored = stored_profile(connection, order.auth_profile_id, order.owner_user_id, lock=True)
            refuse_in_use(servers_with_profile(connection, order.auth_profile_id))
            receipt_id = self._bury(connection, stored, order.correlation_id, order.actor, now)
            receipt = stored.changed(now, refresh_at=None).outcome(AuthOutcome.DONE, receipt_id)
            remember(connection, order.commit_key, receipt, now)
        return receipt

    def _forget_unused(
        self, connection: Connection, stored: StoredProfile, order: RevokeSignIn, now: datetime
    ) -> None:
        lock_servers(connection)
        server = server_of(connection, order.server_id, order.owner_user_id)
        if set(servers_with_profile(connection, order.auth_profile_id)) - {order.server_id}:
            return
        if server.auth_profile_id == order.auth_profile_id:
            detached = server.changed(auth_profile_id=None, updated_at=now)
            replace_server(connection, detached)
        self._bury(connection, stored, order.correlation_id, order.actor, now)

    def _bury(
        self,
        connection: Connection,
        stored: StoredProfile,
        correlation_id: str,
        actor: str | None,
        now: datetime,
    ) -> str:
        close_flows_of(connection, stored.profile.auth_profile_id, now)
        client = stored.connection.client
        refs = (stored.profile.token_ref, stored.profile.secret_ref, client and client.secret_ref)
        for ref in {ref for ref in refs if ref is not None}:
            drop_within(connection, ref, stored.owner)
        soft_delete_profile(connection, stored, now)
        entry = (MCPReceiptKind.AUTH_PROFILE_DELETE, MCPReceiptStatus.OK, "The sign-in was deleted.")
        return add_profile_receipt(
            connection, stored, entry, at=now, correlation_id=correlation_id, actor=actor
        )

    def _without_key(self, connection: Connection, stored: StoredProfile, now: datetime) -> StoredProfile:
        """Without the API key, which is the sign-in itself. A client secret stays for the next one."""
        if stored.profile.auth_mode is not MCPAuthMode.API_KEY or stored.profile.secret_ref is None:
            return stored
        drop_within(connection, stored.profile.secret_ref, stored.owner)
        return replace_profile(connection, stored.changed(now, secret_ref=None))


def refuse_in_use(server_ids: tuple[str, ...]) -> None:
    """Refuses where a server still uses the sign-in.

    Raises:
        Refusal: ``MCP_AUTH_PROFILE_IN_USE``.
    """
    if server_ids:
        raise Refusal(
            ErrorCode.MCP_AUTH_PROFILE_IN_USE,
            "Servers still use this sign-in; delete them, or give them another one, first.",
            blocked_by_server_ids=list(server_ids),
        )


def deleted_answer(auth_profile_id: str, receipt: AuthReceipt) -> MCPAuthProfileDeleteResponse:
    """What a deletion is answered with."""
    return MCPAuthProfileDeleteResponse(
        auth_profile_id=auth_profile_id, deleted=True, receipt_id=receipt.receipt_id
    )


def _revoked(before: StoredProfile) -> MCPRevokeStatus:
    if before.profile.status is MCPAuthState.REVOKED:
        return MCPRevokeStatus.ALREADY_REVOKED
    if before.profile.token_ref is None and before.profile.secret_ref is None:
        return MCPRevokeStatus.NOOP
    return MCPRevokeStatus.REVOKED
