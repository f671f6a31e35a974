"""Registers signed profiles of agents at the OpenClaw directory, through the gateway (CH-57…CH-60)."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import quote

import httpx2

from clients.mcp.address_guard import guarded_client
from clients.platform.key_reference import KeyUnavailable

MAX_ANSWER_BYTES = 65_536
WITHIN_SECONDS = 8.0
"""How long one request may take: within the 10 s of register_openclaw_profile."""

_FIELDS = ("profile_url", "directory_id", "registered_at")


class DirectoryFailed(Exception):
    """The profile is not known to be registered; ``code`` is one of the documents' (002 L677-682)."""

    def __init__(self, code: str, text: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.code = code
        self.retryable = retryable


class OpenClawDirectory:
    """Puts a profile under its agent's id: the same id again is an update, and never a second entry."""

    def __init__(
        self, gateway_url: str, token: Callable[[], str | None], *, within_seconds: float = WITHIN_SECONDS
    ) -> None:
        """``token`` is read at each use."""
        self._url = f"{gateway_url.rstrip('/')}/directory/agents"
        self._token = token
        self._within = within_seconds

    async def register(self, profile: dict[str, Any], signature: str, key: str) -> dict[str, Any]:
        """What the directory answers: ``registered``, ``profile_url``, ``directory_id``, ``registered_at``.

        Raises:
            DirectoryFailed: ``NETWORK_ERROR``, ``REGISTRATION_FAILED``, ``INVALID_PROFILE``.
        """
        headers = {"content-type": "application/json", "idempotency-key": key}
        try:
            if token := self._token():
                headers["authorization"] = f"Bearer {token}"
        except KeyUnavailable as error:
            raise DirectoryFailed("REGISTRATION_FAILED", f"The token: {error}.", retryable=False) from None
        body = json.dumps({"agent_profile": profile, "signature": signature}).encode()
        try:
            async with asyncio.timeout(self._within):
                status, answer = await self._put(profile["agent_id"], body, headers)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            text = f"The gateway did not answer ({type(error).__name__})."
            raise DirectoryFailed("NETWORK_ERROR", text) from None
        if status == 422:
            raise DirectoryFailed("INVALID_PROFILE", "The directory refuses the profile.", retryable=False)
        if not 200 <= status < 300:
            again = status >= 500 or status in (408, 425, 429)
            text = f"The gateway answered {status}."
            raise DirectoryFailed("REGISTRATION_FAILED", text, retryable=again)
        return _entry_in(answer)

    async def _put(self, agent_id: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        async with (
            guarded_client(allow_private=True, timeout_seconds=self._within, headers=headers) as http,
            http.stream("POST", f"{self._url}/{quote(agent_id)}", content=body) as answer,
        ):
            taken = bytearray()
            async for part in answer.aiter_bytes():
                taken += part
                if len(taken) > MAX_ANSWER_BYTES:
                    raise DirectoryFailed("REGISTRATION_FAILED", "The gateway's answer is too long.")
            return answer.status_code, bytes(taken)


def _entry_in(answer: bytes) -> dict[str, Any]:
    try:
        given: object = json.loads(answer)
    except (ValueError, RecursionError):
        given = None
    entry = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if entry.get("registered") is not True or not isinstance(entry.get("directory_id"), str):
        raise DirectoryFailed("REGISTRATION_FAILED", "The directory does not say that it registered it.")
    return {"registered": True, **{name: entry[name] for name in _FIELDS if isinstance(entry.get(name), str)}}
