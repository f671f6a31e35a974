"""Publishes content over HTTP at the configured publisher, under an idempotency key (CH-34, CH-38)."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import httpx2

from clients.mcp.address_guard import guarded_client
from clients.platform.key_reference import KeyUnavailable

MAX_ANSWER_BYTES = 262_144
WITHIN_SECONDS = 12.0
"""How long one request may take: within the 15 s of publish_content."""

_FIELDS = ("post_id", "post_url", "published_at", "engagement_snapshot")


class PublisherFailed(Exception):
    """It is not known to be published; ``code`` is PUBLISH_FAILED or PLATFORM_ERROR."""

    def __init__(self, code: str, text: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.code = code
        self.retryable = retryable


class HttpPublisher:
    """Posts ``{"content", "platform"}`` with an ``Idempotency-Key``: one post, however often it is sent."""

    def __init__(
        self, url: str, token: Callable[[], str | None], *, within_seconds: float = WITHIN_SECONDS
    ) -> None:
        """``token`` is read at each use."""
        self._url = url
        self._token = token
        self._within = within_seconds

    async def publish(self, content: dict[str, Any], platform: str, key: str) -> dict[str, Any]:
        """The post: ``post_id``, ``post_url``, ``published_at``, ``engagement_snapshot``.

        Raises:
            PublisherFailed: with whether it may be tried again.
        """
        headers = {"content-type": "application/json", "idempotency-key": key}
        try:
            if token := self._token():
                headers["authorization"] = f"Bearer {token}"
        except KeyUnavailable as error:
            raise PublisherFailed(
                "PUBLISH_FAILED", f"The publisher's key: {error}.", retryable=False
            ) from None
        body = json.dumps({"content": content, "platform": platform}).encode()
        try:
            async with asyncio.timeout(self._within):
                status, answer = await self._post(body, headers)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise PublisherFailed(
                "PUBLISH_FAILED", f"The publisher did not answer ({type(error).__name__})."
            ) from None
        if status == 503:
            raise PublisherFailed("PLATFORM_ERROR", f"{platform} is not available (503).")
        if not 200 <= status < 300:
            again = status >= 500 or status in (408, 425, 429)
            raise PublisherFailed("PUBLISH_FAILED", f"The publisher answered {status}.", retryable=again)
        return _post_in(answer)

    async def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        async with (
            guarded_client(allow_private=True, timeout_seconds=self._within, headers=headers) as http,
            http.stream("POST", self._url, content=body) as answer,
        ):
            taken = bytearray()
            async for part in answer.aiter_bytes():
                taken += part
                if len(taken) > MAX_ANSWER_BYTES:
                    raise PublisherFailed("PUBLISH_FAILED", "The publisher's answer is too long.")
            return answer.status_code, bytes(taken)


def _post_in(answer: bytes) -> dict[str, Any]:
    try:
        given: object = json.loads(answer)
    except (ValueError, RecursionError):
        given = None
    post = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if post.get("success") is False:
        raise PublisherFailed("PUBLISH_FAILED", "The publisher says that it did not publish it.")
    if not isinstance(post.get("post_id"), str) or not post["post_id"]:
        raise PublisherFailed("PUBLISH_FAILED", "The publisher's answer names no post.")
    return {name: post[name] for name in _FIELDS if post.get(name) is not None}
