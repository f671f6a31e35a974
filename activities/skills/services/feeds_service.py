"""The service ``feeds``: trends from the configured sources of a platform, for handlers of skills (CH-07…CH-13)."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

import structlog
from pydantic import Field, StringConstraints

from activities.skills.services.offered import Asker, Method
from clients.skills.feeds import FeedClient, FeedFailed
from contracts.base import Contract, Text80, rfc3339
from domain.skills.content.feed_reading import MalformedFeed, read_feed
from domain.skills.content.trends import Wanted, choose, window_of
from skills.runtime.broker import BrokerRefused
from stores.skills.services.feed_requests import FeedRequests

log = structlog.get_logger(__name__)

SOURCE_WITHIN_SECONDS, ALL_WITHIN_SECONDS = 10.0, 28.0
"""How long one source may take, and all of them: within the 30 s of fetch_trends (CH-10)."""


class TrendsRequest(Contract):
    """Asks for trends, as fetch_trends does."""

    platform: Text80
    limit: int = Field(ge=1, le=500)
    window: Annotated[str, StringConstraints(pattern=r"^[0-9]+(h|d)$")]
    min_engagement: int = Field(ge=0)
    exclude: tuple[str, ...] = Field(default=(), max_length=50)


class FeedsService:
    """Asks the sources of a platform one after another, until one answers."""

    def __init__(
        self,
        sources: Mapping[str, Sequence[str]],
        requests: FeedRequests,
        client: FeedClient,
        *,
        source_within_seconds: float = SOURCE_WITHIN_SECONDS,
        all_within_seconds: float = ALL_WITHIN_SECONDS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._sources = sources
        self._requests = requests
        self._client = client
        self._each, self._all = source_within_seconds, all_within_seconds
        self._clock = clock
        self.methods: Mapping[str, Method] = {"trends": Method(TrendsRequest, self._trends, reads=True)}

    async def _trends(self, asker: Asker, asked: TrendsRequest) -> dict[str, Any]:
        """``{"trends", "truncated", "fetched_at", "source", "warnings", "malformed"}``."""
        del asker
        sources = self._sources.get(asked.platform, ())
        if not sources:
            text = f"No source is configured for {asked.platform}: set trend_sources."
            raise BrokerRefused("PLATFORM_UNAVAILABLE", text, retryable=False)
        failures = list[FeedFailed]()
        warnings = list[str]()
        until = time.monotonic() + self._all
        for number, source in enumerate(sources, start=1):
            try:
                found = await self._asked(source, asked.platform, until)
            except FeedFailed as failure:
                failures.append(failure)
                warnings.append(f"{failure.code}: source {number} ({_shown(source)}) {failure}.")
                log.warning("a feed could not be used", source=_shown(source), code=failure.code)
                continue
            return self._chosen(found, asked, _shown(source), warnings)
        if any(failure.code == "VALIDATION_FAILED" for failure in failures):
            # What is malformed is logged, and gives an empty answer (002 L111, X-32).
            return {**self._chosen((), asked, "", warnings), "malformed": True}
        first = failures[0]
        text = " ".join(warnings)[:500]
        raise BrokerRefused(first.code, text, retry_after_ms=first.retry_after_ms)

    async def _asked(self, source: str, platform: str, until: float) -> tuple[dict[str, Any], ...]:
        left = min(self._each, until - time.monotonic())
        if left <= 0:
            raise FeedFailed("TIMEOUT", "was not asked: the time was over")
        now = self._clock()
        if not await asyncio.to_thread(self._requests.admit, source, now):
            raise FeedFailed(
                "RATE_LIMITED", f"was asked {self._requests.per_hour} times within the hour already"
            )
        body = await self._client.fetch(source, left)
        try:
            return await asyncio.to_thread(read_feed, body, platform, now)
        except MalformedFeed as error:
            raise FeedFailed("VALIDATION_FAILED", f"is malformed: {error}") from None

    def _chosen(
        self, found: Sequence[dict[str, Any]], asked: TrendsRequest, source: str, warnings: list[str]
    ) -> dict[str, Any]:
        now = self._clock()
        wanted = Wanted(window_of(asked.window), asked.min_engagement, asked.exclude, asked.limit)
        chosen = choose(found, wanted, now)
        if chosen.unmeasured:
            told = (
                f"{chosen.unmeasured} items name no engagement and are left out; minEngagement 0 takes them."
            )
            warnings = [*warnings, told]
        return {
            "trends": list(chosen.trends),
            "truncated": chosen.truncated,
            "fetched_at": rfc3339(now),
            "source": source,
            "warnings": [one[:240] for one in warnings],
            "malformed": False,
        }


def _shown(source: str) -> str:
    """The host and path of a source; what stands after them may be a key."""
    parts = urlsplit(source)
    return f"{parts.hostname or ''}{parts.path}"[:120]
