"""Fetches feeds, over HTTP or as resources of tool servers, from addresses that the operator configured.

Their answers are untrusted.
"""

import asyncio
from dataclasses import dataclass

import httpx2

from clients.mcp.address_guard import guarded_client
from clients.platform.retry_after import retry_after_seconds
from clients.skills.resource_feeds import RESOURCE, ResourceFailed, read_resource

MAX_FEED_BYTES = 4 * 1024 * 1024
"""The most that is read of a feed."""

_ACCEPT = (
    "application/rss+xml, application/atom+xml, application/json, application/xml, text/xml;q=0.9, */*;q=0.5"
)


class FeedFailed(Exception):
    """There is no feed. ``code`` is one of the documents' (002 L105-113); the text holds nothing of the answer."""

    def __init__(self, code: str, text: str, retry_after_ms: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.retry_after_ms = retry_after_ms


@dataclass(frozen=True)
class FeedClient:
    """Asks one address at a time. Addresses on this machine and its network are allowed: the operator named them."""

    async def fetch(self, url: str, within_seconds: float) -> bytes:
        """The body of a feed, or the content of a tool server's resource; redirects are not followed.

        Raises:
            FeedFailed: ``NETWORK_ERROR``, ``TIMEOUT``, ``RATE_LIMITED``, ``PLATFORM_UNAVAILABLE``,
                ``VALIDATION_FAILED`` (too long).
        """
        try:
            async with asyncio.timeout(within_seconds):
                if url.startswith(RESOURCE):
                    return await read_resource(url, MAX_FEED_BYTES)
                return await _fetched(url, within_seconds)
        except ResourceFailed as failure:
            raise FeedFailed(failure.code, str(failure), failure.retry_after_ms) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise FeedFailed("TIMEOUT", f"did not answer within {within_seconds:g} s") from None
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise FeedFailed("NETWORK_ERROR", f"cannot be reached ({type(error).__name__})") from None


async def _fetched(url: str, within_seconds: float) -> bytes:
    headers = {"accept": _ACCEPT, "accept-encoding": "identity", "user-agent": "apprentice"}
    async with (
        guarded_client(allow_private=True, timeout_seconds=within_seconds, headers=headers) as http,
        http.stream("GET", url) as answer,
    ):
        if answer.status_code == 429:
            seconds = retry_after_seconds(answer.headers.get("retry-after", ""))
            wait = round(seconds * 1000) if seconds is not None else None
            raise FeedFailed("RATE_LIMITED", "answered 429: too many requests", wait)
        if not 200 <= answer.status_code < 300:
            raise FeedFailed("PLATFORM_UNAVAILABLE", f"answered {answer.status_code}")
        body = bytearray()
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > MAX_FEED_BYTES:
                raise FeedFailed("VALIDATION_FAILED", f"is longer than {MAX_FEED_BYTES // 1024 // 1024} MiB")
        return bytes(body)
