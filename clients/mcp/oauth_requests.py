"""Requests to authorization servers, bounded in time and size, never redirected; their errors.

The errors are distinguished by what may be done next. Their texts hold no secret; what an authorization server
reports is cut to its error code.
"""

import asyncio
import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

import httpx2

from clients.mcp.address_guard import AddressRefused
from clients.platform.retry_after import retry_after_seconds
from contracts.base import clipped
from contracts.mcp.auth_work import OAuthClient


class OAuthTrouble(Exception):
    """An authorization server that could not be used. ``code`` is short and stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class DiscoveryFailed(OAuthTrouble):
    """What the servers publish of themselves is missing, contradicts itself, or is not safe enough."""


class ServerUnreachable(OAuthTrouble):
    """No answer, or a server error: the same request may succeed later."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__("unreachable", message)
        self.retry_after_seconds = retry_after_seconds


class AddressNotAllowed(OAuthTrouble):
    """An address that is not connected to, by the rules of this installation."""

    def __init__(self, message: str) -> None:
        super().__init__("address_refused", message)


class TokenRefused(OAuthTrouble):
    """The token endpoint said no, and why: RFC 6749 §5.2. Only ``invalid_grant`` ends a sign-in."""

    @property
    def ends_the_sign_in(self) -> bool:
        """Whether no later attempt with the same refresh token can succeed."""
        return self.code == "invalid_grant"


class IssuerMismatch(OAuthTrouble):
    """The browser came back from another authorization server than it was sent to (RFC 9207)."""

    def __init__(self) -> None:
        super().__init__("issuer_mismatch", "The answer does not come from the server that was asked.")


MAX_ANSWER_BYTES = 262_144
"""No metadata and no token is larger."""

WHOLE_EXCHANGE_SECONDS = 10.0
"""From the first byte to the last. An activity lives longer than that, so that no two of one token overlap."""

MAX_RETRY_AFTER_SECONDS = 3_600.0

_ERROR_CODE = re.compile(r"[A-Za-z0-9._:-]{1,80}")


@dataclass(frozen=True)
class Answer:
    """What came back: the status, the headers, and the body where it is a JSON object."""

    status: int
    headers: httpx2.Headers
    document: dict[str, Any]

    @property
    def error_code(self) -> str:
        """The server's error code, or its status where it gave none that can be shown."""
        code = self.document.get("error")
        return code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else f"http_{self.status}"


async def ask(
    http: httpx2.AsyncClient,
    method: str,
    url: str,
    *,
    form: Mapping[str, str] | None = None,
    document: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    with_body: bool = True,
) -> Answer:
    """One request, its answer read whole (or only its head).

    Raises:
        ServerUnreachable: no answer in time, a broken one, a status of 5xx or 429.
        AddressNotAllowed: nothing was sent.
    """
    try:
        async with asyncio.timeout(WHOLE_EXCHANGE_SECONDS):
            answer = await _exchange(http, method, url, form, document, headers, with_body)
    except AddressRefused as error:
        raise AddressNotAllowed(str(error)) from error
    except TimeoutError as error:
        raise ServerUnreachable(
            f"{_host(url)} did not answer within {WHOLE_EXCHANGE_SECONDS:.0f} s"
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ServerUnreachable(f"{_host(url)} cannot be reached: {type(error).__name__}") from error
    if answer.status >= 500 or answer.status == 429:
        asked = retry_after_seconds(answer.headers.get("retry-after", ""))
        within = None if asked is None else min(asked, MAX_RETRY_AFTER_SECONDS)
        raise ServerUnreachable(f"{_host(url)} answered {answer.status}", within)
    return answer


async def _exchange(
    http: httpx2.AsyncClient,
    method: str,
    url: str,
    form: Mapping[str, str] | None,
    document: Mapping[str, Any] | None,
    headers: Mapping[str, str] | None,
    with_body: bool,
) -> Answer:
    given = {"accept": "application/json", **(headers or {})}
    async with http.stream(
        method, url, data=dict(form) if form else None, json=document, headers=given, follow_redirects=False
    ) as response:
        body = b""
        if with_body:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise ServerUnreachable(f"{_host(url)} sends more than {MAX_ANSWER_BYTES} bytes")
        return Answer(response.status_code, response.headers, _object(body))


def client_proof(client: OAuthClient, secret: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """What of form and headers proves who we are at a token endpoint (RFC 6749 §2.3.1)."""
    # With Basic the name is in the header too; the SDK's servers look for it in the form all the same.
    form = {"client_id": client.client_id}
    if secret is None or client.authentication == "none":
        return form, {}
    if client.authentication == "client_secret_post":
        return {**form, "client_secret": secret}, {}
    pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
    return form, {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _object(body: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _host(url: str) -> str:
    try:
        return clipped(httpx2.URL(url).host or "the server", 100)
    except httpx2.InvalidURL:
        return "the server"
