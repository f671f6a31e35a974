"""Tokens between the secret store and authorization servers: what is got is kept at once.

A rotated refresh token is lost only where the worker, the machine or the database dies between the server's answer
and the one transaction that keeps it. The next attempt then shows the spent one; a server that allows that for a
while gives another token, one that takes it for a theft answers ``invalid_grant``, and a new sign-in is needed.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2

from clients.mcp.oauth_discovery import authentication_with, discover, register
from clients.mcp.oauth_requests import DiscoveryFailed
from clients.mcp.oauth_tokens import Proof, TokenSet, client_credentials, exchange_code, refresh, revoke
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_work import (
    AuthConnection,
    AuthorizationServer,
    AuthReceipt,
    FinishSignIn,
    OAuthClient,
    RenewToken,
    RevokeSignIn,
    SignInFlow,
)
from contracts.mcp.provider import MCPAuthMode
from domain.mcp.auth_status import is_good, kept_scopes
from stores.mcp.auth.profiles import AuthProfileStore, StoredProfile, stored_profile
from stores.mcp.auth.sign_ins import SignInStore
from stores.mcp.auth.tokens import NewToken, TokenRenewals
from stores.platform.database import Database
from stores.platform.secrets.store import SecretStore


@dataclass(frozen=True)
class HeldToken:
    """The token that is kept, and its version; not shown."""

    tokens: TokenSet
    version: int

    def __repr__(self) -> str:
        return f"HeldToken(version={self.version})"

    def is_good(self, now: datetime) -> bool:
        """Whether it may still be sent."""
        return is_good(self.tokens.expires_at, self.tokens.issued_at, now)


class TokenExchange:
    """Exchanges at token endpoints. A new token is written in the first step after it is there."""

    def __init__(
        self,
        database: Database,
        secrets: SecretStore,
        open_http: Callable[[], httpx2.AsyncClient],
        *,
        allow_private: bool,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._open_http = open_http
        self._allow_private = allow_private
        self._profiles = AuthProfileStore(database)
        self._sign_ins = SignInStore(database, secrets)
        self._renewals = TokenRenewals(database, secrets)

    def held(self, auth_profile_id: str, owner: str) -> tuple[StoredProfile, HeldToken | None]:
        """A sign-in and its token, as they belong together.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``.
        """
        with self._database.read() as connection:
            stored = stored_profile(connection, auth_profile_id, owner)
            if stored.profile.token_ref is None:
                return stored, None
            sealed = self._secrets.reveal_within(connection, stored.profile.token_ref, owner)
        return stored, HeldToken(TokenSet.opened(sealed.value), stored.connection.token_version)

    async def client_at(
        self,
        http: httpx2.AsyncClient,
        server: AuthorizationServer,
        stored: StoredProfile,
        redirect_uri: str,
        scopes: tuple[str, ...],
    ) -> tuple[OAuthClient, str | None]:
        """Who we are at ``server``: as a person entered it, as we registered before, or registered now.

        Raises:
            DiscoveryFailed: the credentials belong to another issuer, or none can be had.
        """
        profile, known = stored.profile, stored.connection.client
        if profile.client_id is not None:
            _refuse_other_issuer(known, server, profile.client_id)
            client = OAuthClient(
                issuer=server.issuer,
                client_id=profile.client_id,
                secret_ref=profile.secret_ref,
                authentication=authentication_with(server, has_secret=profile.secret_ref is not None),
                redirect_uri=redirect_uri,
            )
            return client, None
        if (
            known is not None
            and known.registered
            and (known.issuer, known.redirect_uri) == (server.issuer, redirect_uri)
            and _is_registered_for(known, scopes, stored.connection)
        ):
            return known, None
        # With all that it may ever ask for: some servers let a client ask for no more than it registered.
        known_scopes = kept_scopes(dict.fromkeys((*scopes, *server.scopes_supported)))
        return await register(http, server, redirect_uri, known_scopes)

    async def code(self, order: FinishSignIn, flow: SignInFlow, code_ref: str) -> AuthReceipt:
        """Exchanges a code and keeps the tokens.

        Raises:
            SecretNotFound: the code or its verifier is gone.
            TokenRefused, ServerUnreachable, AddressNotAllowed.
        """
        owner = order.owner_user_id
        code = (await asyncio.to_thread(self._secrets.reveal, code_ref, owner)).value
        verifier = (await asyncio.to_thread(self._secrets.reveal, flow.pkce_verifier_ref, owner)).value
        proof = await self._proof(flow.client, owner)
        async with self._open_http() as http:
            tokens = await exchange_code(
                http, flow.server, proof, code=code, verifier=verifier, redirect_uri=flow.redirect_uri
            )
            taken = _new_token(tokens, flow.scopes)
            return await asyncio.to_thread(self._sign_ins.take_tokens, order, flow, taken, datetime.now(UTC))

    async def renewal(self, order: RenewToken, base: StoredProfile, held: HeldToken | None) -> AuthReceipt:
        """Renews a token and keeps the new one.

        Raises:
            TokenRefused, ServerUnreachable, AddressNotAllowed, DiscoveryFailed.
        """
        async with self._open_http() as http:
            if base.profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS:
                known = await self._own_connection(http, order, base)
                server, client = _whole(known)
                proof = await self._proof(client, order.owner_user_id)
                tokens = await client_credentials(http, server, proof, known.scopes_requested)
            else:
                known = base.connection
                server, client = _whole(known)
                if held is None:
                    raise Refusal(ErrorCode.MCP_OAUTH_REFRESH_NOT_ALLOWED, "There is no token to renew.")
                proof = await self._proof(client, order.owner_user_id)
                tokens = await refresh(http, server, proof, held.tokens)
            # A renewal that names no scope gives what there was (RFC 6749 §6).
            taken = _new_token(tokens, known.scopes_granted or known.scopes_requested)
            return await asyncio.to_thread(
                self._renewals.take_renewed, order, base, taken, datetime.now(UTC), known
            )

    async def revocation(self, order: RevokeSignIn) -> str | None:
        """Ends the tokens at the authorization server; none where there is nothing to end.

        Raises:
            DiscoveryFailed, TokenRefused, ServerUnreachable, AddressNotAllowed.
        """
        stored, held = await asyncio.to_thread(self.held, order.auth_profile_id, order.owner_user_id)
        if held is None:
            return None
        server, client = _whole(stored.connection)
        proof = await self._proof(client, order.owner_user_id)
        async with self._open_http() as http:
            await revoke(http, server, proof, held.tokens)
        return "revoked"

    async def _own_connection(
        self, http: httpx2.AsyncClient, order: RenewToken, base: StoredProfile
    ) -> AuthConnection:
        """Client credentials need no browser: the first use discovers the server."""
        known = base.connection
        if known.server is not None and known.client is not None:
            return known
        if base.profile.client_id is None or base.profile.secret_ref is None:
            raise DiscoveryFailed("client_id_needed", "Client credentials need a client_id and its secret.")
        server_id = order.server_id or next(
            iter(await asyncio.to_thread(self._profiles.used_by, order.auth_profile_id)), None
        )
        if server_id is None:
            raise DiscoveryFailed("no_server", "No server uses this sign-in, so it is for nobody.")
        url, _ = await asyncio.to_thread(self._profiles.of_server, server_id, order.owner_user_id)
        server = await discover(http, url, allow_private=self._allow_private)
        client, _ = await self.client_at(http, server, base, "", ())
        scopes = base.profile.scopes or server.scopes_wanted
        return known.changed(server=server, client=client, scopes_requested=scopes)

    async def _proof(self, client: OAuthClient, owner: str) -> Proof:
        if client.secret_ref is None:
            return Proof(client)
        secret = await asyncio.to_thread(self._secrets.reveal, client.secret_ref, owner)
        return Proof(client, secret.value)


def _new_token(tokens: TokenSet, asked_for: tuple[str, ...]) -> NewToken:
    return NewToken(
        sealed=tokens.sealed(),
        issued_at=tokens.issued_at,
        expires_at=tokens.expires_at,
        scopes_granted=kept_scopes(tokens.scope.split()) if tokens.scope is not None else asked_for,
        refreshable=tokens.refresh_token is not None,
    )


def _is_registered_for(client: OAuthClient, scopes: tuple[str, ...], known: AuthConnection) -> bool:
    """Whether a client may ask for these scopes. One of which that is not known will do until more is needed."""
    if not client.scopes:
        return known.scopes_needed == ()
    return set(scopes) <= set(client.scopes)


def _whole(known: AuthConnection) -> tuple[AuthorizationServer, OAuthClient]:
    if known.server is None or known.client is None:
        raise DiscoveryFailed("not_signed_in", "Nobody has signed in yet.")
    return known.server, known.client


def _refuse_other_issuer(known: OAuthClient | None, server: AuthorizationServer, client_id: str) -> None:
    """A secret is sent to the issuer it was first used with, never to one that took its place."""
    if known is None or known.client_id != client_id or known.issuer == server.issuer:
        return
    raise DiscoveryFailed(
        "issuer_changed",
        f"The server names another issuer than before ({server.issuer}); if that is right, enter the client's "
        "secret again.",
    )
