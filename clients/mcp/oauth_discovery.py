"""OAuth discovery and client registration for a tool server: RFC 9728, RFC 8414, OpenID Connect Discovery, RFC 7591.

Addresses are compared as they were published, letter by letter: an issuer that is nearly right is wrong.
"""

import re
from typing import Any, get_args
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    issuers_match,
)
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import ValidationError

from clients.mcp.address_guard import refusal_of_url
from clients.mcp.oauth_requests import DiscoveryFailed, ServerUnreachable, ask
from contracts.base import clipped
from contracts.mcp.auth_work import AuthorizationServer, ClientAuthentication, OAuthClient
from domain.mcp.auth_status import REGISTRATION_REFUSED, kept_scopes

CLIENT_NAME = "Apprentice"
_METADATA_PARAMETER = re.compile(r'resource_metadata=(?:"([^"]+)"|([^\s,]+))')
_LONGEST_ADDRESS = 2_000


async def discover(
    http: httpx2.AsyncClient, server_url: str, *, allow_private: bool = False
) -> AuthorizationServer:
    """The authorization server of the tool server at ``server_url``.

    Raises:
        DiscoveryFailed: nothing is published, it contradicts itself, or it does not promise PKCE with S256.
        ServerUnreachable, AddressNotAllowed: as in ``ask``.
    """
    resource = await _protected_resource(http, server_url)
    issuer, published = await _metadata(http, server_url, resource)
    try:
        metadata = OAuthMetadata.model_validate(published)
    except ValidationError as error:
        raise DiscoveryFailed("metadata_invalid", f"The metadata of {issuer} is not valid.") from error
    if "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise DiscoveryFailed(
            "pkce_not_promised",
            f"The authorization server {issuer} does not promise PKCE with S256; "
            "a sign-in there could be stolen on its way back.",
        )
    endpoints = {
        name: _endpoint(published, name, allow_private)
        for name in (
            "authorization_endpoint",
            "token_endpoint",
            "registration_endpoint",
            "revocation_endpoint",
        )
    }
    return AuthorizationServer(
        issuer=issuer,
        authorization_endpoint=endpoints["authorization_endpoint"] or "",
        token_endpoint=endpoints["token_endpoint"] or "",
        registration_endpoint=endpoints["registration_endpoint"],
        revocation_endpoint=endpoints["revocation_endpoint"],
        resource=_resource_of(server_url, resource),
        names_itself_in_callback=bool(metadata.authorization_response_iss_parameter_supported),
        authentication_methods=tuple(
            clipped(one, 160) for one in metadata.token_endpoint_auth_methods_supported or ()
        )[:20],
        scopes_supported=_scopes(metadata.scopes_supported),
        scopes_wanted=_scopes(resource.get("scopes_supported") or metadata.scopes_supported),
    )


async def register(
    http: httpx2.AsyncClient, server: AuthorizationServer, redirect_uri: str, scopes: tuple[str, ...]
) -> tuple[OAuthClient, str | None]:
    """Makes us known to an authorization server (RFC 7591); the client, and its secret if it was given one.

    Raises:
        DiscoveryFailed: it registers no clients, or not of our kind.
        ServerUnreachable, AddressNotAllowed: as in ``ask``.
    """
    if server.registration_endpoint is None:
        raise DiscoveryFailed(
            "client_id_needed",
            f"{server.issuer} registers no clients by itself: make one there and enter its client_id.",
        )
    wanted = {
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": authentication_with(server, has_secret=True, registering=True),
        "application_type": "native" if _is_loopback(redirect_uri) else "web",
    }
    if scopes:
        wanted["scope"] = " ".join(scopes)
    answer = await ask(http, "POST", server.registration_endpoint, document=wanted)
    client_id, secret = answer.document.get("client_id"), answer.document.get("client_secret")
    if answer.status not in (200, 201) or not isinstance(client_id, str) or not client_id:
        raise DiscoveryFailed(
            REGISTRATION_REFUSED, f"{server.issuer} did not register us: {answer.error_code}."
        )
    kept_secret = secret if isinstance(secret, str) and secret else None
    method = answer.document.get("token_endpoint_auth_method") or (
        "client_secret_basic" if kept_secret else "none"
    )
    if method not in get_args(ClientAuthentication) or (method != "none" and kept_secret is None):
        raise DiscoveryFailed(
            "registration_unusable", f"{server.issuer} registered us in a way that we cannot use."
        )
    client = OAuthClient(
        issuer=server.issuer,
        client_id=client_id,
        authentication=method,
        redirect_uri=redirect_uri,
        registered=True,
        scopes=_registered_scopes(answer.document.get("scope"), scopes),
    )
    return client, kept_secret


def authentication_with(
    server: AuthorizationServer, *, has_secret: bool, registering: bool = False
) -> ClientAuthentication:
    """How to prove who we are there: as the server prefers, and by RFC 8414's default where it is silent."""
    offered = server.authentication_methods
    if not has_secret or (registering and "none" in offered):
        return "none"
    if not offered or "client_secret_basic" in offered:
        return "client_secret_basic"
    return "client_secret_post"


async def _protected_resource(http: httpx2.AsyncClient, server_url: str) -> dict[str, Any]:
    """What the tool server publishes about its sign-in; empty for one of before RFC 9728."""
    for url in build_protected_resource_metadata_discovery_urls(
        await _pointed_to(http, server_url), server_url
    ):
        answer = await ask(http, "GET", url)
        if answer.status == 200:
            try:
                ProtectedResourceMetadata.model_validate(answer.document)
            except ValidationError:
                continue
            return answer.document
    return {}


async def _pointed_to(http: httpx2.AsyncClient, server_url: str) -> str | None:
    """Where the server's own 401 points to, which goes before every well-known place."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"accept": "application/json, text/event-stream"}
    answer = await ask(http, "POST", server_url, document=ping, headers=headers, with_body=False)
    if answer.status not in (401, 403):
        return None
    found = _METADATA_PARAMETER.search(answer.headers.get("www-authenticate", ""))
    return (found.group(1) or found.group(2)) if found else None


async def _metadata(
    http: httpx2.AsyncClient, server_url: str, resource: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The issuer and what it publishes; its own name in there is exactly the one it was asked by."""
    named: str | None = resource["authorization_servers"][0] if resource else None
    parts = urlsplit(server_url)
    expected = named or f"{parts.scheme}://{parts.netloc}"
    trouble: ServerUnreachable | None = None
    for url in build_oauth_authorization_server_metadata_discovery_urls(named, server_url):
        try:
            answer = await ask(http, "GET", url)
        except ServerUnreachable as error:
            trouble = error
            continue
        if answer.status != 200 or not answer.document:
            continue
        issuer = answer.document.get("issuer")
        # Without RFC 9728 the issuer was not named: then its own spelling of the origin counts.
        if issuer == expected or (named is None and issuers_match(str(issuer), expected)):
            return str(issuer), answer.document
        raise DiscoveryFailed(
            "issuer_mismatch",
            clipped(f"The metadata at {url} belongs to another issuer than {expected}.", 230),
        )
    if trouble is not None:
        raise trouble
    raise DiscoveryFailed(
        "metadata_missing", clipped(f"The authorization server {expected} publishes no metadata.", 230)
    )


def _resource_of(server_url: str, resource: dict[str, Any]) -> str:
    asked_for = resource_url_from_server_url(server_url)
    published = resource.get("resource")
    if not isinstance(published, str):
        return asked_for
    if not check_resource_allowed(requested_resource=asked_for, configured_resource=published):
        raise DiscoveryFailed(
            "resource_mismatch",
            f"The server describes another resource than itself: {clipped(published, 120)}.",
        )
    return published


def _endpoint(published: dict[str, Any], name: str, allow_private: bool) -> str | None:
    found = published.get(name)
    if found is None:
        return None
    if not isinstance(found, str) or len(found) > _LONGEST_ADDRESS:
        raise DiscoveryFailed("metadata_invalid", f"The {name} is no address.")
    refusal = refusal_of_url(found, allow_private=allow_private)
    if refusal is not None:
        raise DiscoveryFailed("endpoint_refused", f"The {name} {refusal}.")
    return found


def _scopes(found: object) -> tuple[str, ...]:
    if not isinstance(found, list):
        return ()
    texts = [str(one) for one in found]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return kept_scopes(texts)


def _is_loopback(address: str) -> bool:
    return (urlsplit(address).hostname or "") in {"127.0.0.1", "localhost", "::1"}


def _registered_scopes(said: Any, asked_for: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes that a client is registered for: a server may give others than were asked for (RFC 7591 §3.2.1)."""
    return kept_scopes(said.split()) if isinstance(said, str) else asked_for
