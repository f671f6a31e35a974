"""Authorization requests and tokens: OAuth 2.1 code with PKCE, refresh, client credentials, revocation."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import httpx2

from clients.mcp.oauth_requests import DiscoveryFailed, IssuerMismatch, TokenRefused, ask, client_proof
from contracts.base import rfc3339
from contracts.mcp.auth_work import AuthorizationServer, OAuthClient

_LONGEST_LIFE = timedelta(days=3_650)


@dataclass(frozen=True)
class TokenSet:
    """What a token endpoint answered. Its text shows nothing of it; ``sealed`` goes to the secret store alone."""

    access_token: str
    refresh_token: str | None
    issued_at: datetime
    expires_at: datetime | None
    scope: str | None

    def __repr__(self) -> str:
        return f"TokenSet(expires_at={self.expires_at})"

    def sealed(self) -> str:
        """As the one value that the secret store keeps."""
        return json.dumps(
            {
                "access_token": self.access_token,
                "refresh_token": self.refresh_token,
                "issued_at": rfc3339(self.issued_at),
                "expires_at": rfc3339(self.expires_at) if self.expires_at else None,
                "scope": self.scope,
            }
        )

    @classmethod
    def opened(cls, sealed: str) -> "TokenSet":
        """What ``sealed`` made."""
        kept: dict[str, Any] = json.loads(sealed)
        ends = kept["expires_at"]
        return cls(
            access_token=kept["access_token"],
            refresh_token=kept["refresh_token"],
            issued_at=datetime.fromisoformat(kept["issued_at"]),
            expires_at=datetime.fromisoformat(ends) if ends else None,
            scope=kept["scope"],
        )


@dataclass(frozen=True)
class Proof:
    """Who asks a token endpoint: the client and its secret, which is not shown."""

    client: OAuthClient
    secret: str | None = None

    def __repr__(self) -> str:
        return f"Proof(client_id={self.client.client_id!r})"


def new_state() -> str:
    """An unguessable state: 256 random bits."""
    return secrets.token_urlsafe(32)


def state_digest(state: str) -> str:
    """What is kept of a state."""
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()


def new_verifier() -> str:
    """A PKCE verifier (RFC 7636 §4.1): 384 bits as 64 letters."""
    return secrets.token_urlsafe(48)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def authorization_url(
    server: AuthorizationServer,
    client: OAuthClient,
    *,
    redirect_uri: str,
    state: str,
    challenge: str,
    scopes: tuple[str, ...],
) -> str:
    """Where the person goes. Only a web address: anything else could start a program.

    Raises:
        DiscoveryFailed: the server's page is no web address.
    """
    parts = urlsplit(server.authorization_endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise DiscoveryFailed("endpoint_refused", "The sign-in page is no web address.")
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "resource": server.resource,
    }
    if scopes:
        query["scope"] = " ".join(scopes)
    if "offline_access" in scopes:
        # OpenID Connect gives a refresh token only to those who were asked for it.
        query["prompt"] = "consent"
    joined = "&".join(part for part in (parts.query, urlencode(query)) if part)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, joined, ""))


def check_issuer(server: AuthorizationServer, iss: str | None) -> None:
    """Whether the browser comes from the server it was sent to (RFC 9207); before any code is sent.

    Raises:
        IssuerMismatch: another issuer, or none where one was promised.
    """
    if iss != server.issuer and (iss is not None or server.names_itself_in_callback):
        raise IssuerMismatch


async def exchange_code(
    http: httpx2.AsyncClient,
    server: AuthorizationServer,
    proof: Proof,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
) -> TokenSet:
    """The tokens for a code.

    Raises:
        TokenRefused, ServerUnreachable, AddressNotAllowed.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    return await _tokens(http, server, proof, form)


async def refresh(
    http: httpx2.AsyncClient, server: AuthorizationServer, proof: Proof, held: TokenSet
) -> TokenSet:
    """New tokens for a refresh token; the old one stays where the answer brings no other.

    Raises:
        TokenRefused, ServerUnreachable, AddressNotAllowed.
    """
    if held.refresh_token is None:
        raise TokenRefused("invalid_grant", "There is no refresh token.")
    form = {"grant_type": "refresh_token", "refresh_token": held.refresh_token}
    return await _tokens(http, server, proof, form, held)


async def client_credentials(
    http: httpx2.AsyncClient, server: AuthorizationServer, proof: Proof, scopes: tuple[str, ...]
) -> TokenSet:
    """A token for us as a client of our own, without a person.

    Raises:
        TokenRefused, ServerUnreachable, AddressNotAllowed.
    """
    form = {"grant_type": "client_credentials"}
    if scopes:
        form["scope"] = " ".join(scopes)
    return await _tokens(http, server, proof, form)


async def revoke(http: httpx2.AsyncClient, server: AuthorizationServer, proof: Proof, held: TokenSet) -> None:
    """Ends the tokens at the authorization server (RFC 7009), the refresh token first.

    Raises:
        DiscoveryFailed: it has no place for that.
        TokenRefused, ServerUnreachable, AddressNotAllowed.
    """
    if server.revocation_endpoint is None:
        raise DiscoveryFailed("no_revocation", f"{server.issuer} has no address to revoke tokens at.")
    known, headers = client_proof(proof.client, proof.secret)
    for hint, token in (("refresh_token", held.refresh_token), ("access_token", held.access_token)):
        if token is None:
            continue
        # The SDK's servers want the member there; without a value it is as if left out (RFC 6749 §3.1).
        form = {"client_secret": "", **known, "token": token, "token_type_hint": hint}
        answer = await ask(http, "POST", server.revocation_endpoint, form=form, headers=headers)
        if answer.status != 200:
            raise TokenRefused(answer.error_code, "The authorization server did not revoke the token.")


async def _tokens(
    http: httpx2.AsyncClient,
    server: AuthorizationServer,
    proof: Proof,
    form: dict[str, str],
    held: TokenSet | None = None,
) -> TokenSet:
    known, headers = client_proof(proof.client, proof.secret)
    asked_at = datetime.now(UTC)
    answer = await ask(
        http,
        "POST",
        server.token_endpoint,
        form={**known, **form, "resource": server.resource},
        headers=headers,
    )
    document = answer.document
    token = document.get("access_token")
    if answer.status != 200 or not isinstance(token, str) or not token:
        code = answer.error_code if answer.status != 200 else "token_answer_invalid"
        raise TokenRefused(code, f"The authorization server gave no token: {code}.")
    if str(document.get("token_type", "Bearer")).lower() != "bearer":
        raise TokenRefused("token_type_unsupported", "The authorization server gave a token we cannot use.")
    renewed, scope = document.get("refresh_token"), document.get("scope")
    return TokenSet(
        access_token=token,
        refresh_token=renewed if isinstance(renewed, str) and renewed else held and held.refresh_token,
        issued_at=asked_at,
        expires_at=_end(asked_at, document.get("expires_in")),
        # RFC 6749 §5.1: left out, it is what was asked for.
        scope=scope if isinstance(scope, str) else held and held.scope,
    )


def _end(issued_at: datetime, expires_in: object) -> datetime | None:
    try:
        seconds = float(str(expires_in))
    except ValueError:
        return None
    if not seconds > 0:
        return None
    return issued_at + min(timedelta(seconds=min(seconds, 1e9)), _LONGEST_LIFE)
