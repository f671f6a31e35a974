"""fetch_trends against feeds on 127.0.0.1: what it gives, and each of its errors by its real cause."""

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from activities.skills.services.feeds_service import FeedsService
from clients.skills.feeds import FeedClient
from contracts.base import rfc3339
from domain.skills.retrying import attempts_allowed, may_repeat
from stores.platform.database import Database
from stores.skills.services.feed_requests import FeedRequests
from tests.fixtures.bundled_skills import bundled, refused_code, run_bundled
from tests.fixtures.databases import migrated
from tests.fixtures.model_server import ModelServer, Reply, serving

pytestmark = pytest.mark.anyio

SKILL = "fetch-trends"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    found = Database(url)
    yield found
    found.close()


@pytest.fixture
def feed() -> Iterator[ModelServer]:
    with serving() as server:
        server.replies(_feed(3))
        yield server


def _feed(number: int) -> Reply:
    now = rfc3339(datetime.now(UTC))
    trends = [
        {"trend_id": str(n), "topic": f"topic {n}", "engagement_score": 20_000 + n, "detected_at": now}
        for n in range(number)
    ]
    return Reply(body=json.dumps({"trends": trends}).encode())


def _services(
    database: Database, *sources: str, per_hour: int = 100, seconds: float = 10.0
) -> dict[str, FeedsService]:
    requests = FeedRequests(database, per_hour=per_hour)
    service = FeedsService(
        {"twitter": sources}, requests, FeedClient(), source_within_seconds=seconds, all_within_seconds=28.0
    )
    return {"feeds": service}


async def _run(services: dict[str, FeedsService], **given: Any) -> Any:
    return await run_bundled(SKILL, {"platform": "twitter", **given}, services)


def _closed() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/"


@pytest.mark.acceptance("CH-08")
async def test_trends_come_with_their_number_and_whether_there_are_more(
    database: Database, feed: ModelServer
) -> None:
    feed.replies(_feed(120))
    found = await _run(_services(database, feed.url))
    assert found.error is None, found
    assert (found.outputs["count"], len(found.outputs["trends"])) == (50, 50)
    assert (found.outputs["truncated"], found.outputs["platform"]) == (True, "twitter")


@pytest.mark.acceptance("CH-12")
async def test_the_next_source_answers_where_the_first_is_down_and_the_answer_says_so(
    database: Database, feed: ModelServer
) -> None:
    feed.replies(Reply(status=503), _feed(3))
    found = await _run(_services(database, f"{feed.url}/main", f"{feed.url}/general"))
    assert (found.status.value, found.outputs["count"]) == ("success", 3)
    assert found.warnings[0].startswith("PLATFORM_UNAVAILABLE: source 1")
    assert [asked.path for asked in feed.asked] == ["/v1/main", "/v1/general"]


@pytest.mark.acceptance("CH-13", "CH-63")
@pytest.mark.parametrize(
    ("reply", "code", "status", "attempts"),
    [
        (Reply(status=503), "PLATFORM_UNAVAILABLE", 503, 3),
        (Reply(status=429, headers={"Retry-After": "7"}), "RATE_LIMITED", 429, 3),
        (Reply(hold=True), "TIMEOUT", 504, 3),
        (None, "NETWORK_ERROR", 503, 3),
    ],
)
@pytest.mark.produces("fetch-trends", "PLATFORM_UNAVAILABLE", "RATE_LIMITED", "TIMEOUT", "NETWORK_ERROR")
async def test_each_trouble_of_a_source_has_its_code_and_is_tried_again(
    database: Database, feed: ModelServer, reply: Reply | None, code: str, status: int, attempts: int
) -> None:
    if reply is not None:
        feed.replies(reply)
    source = feed.url if reply is not None else _closed()
    found = await _run(_services(database, source, seconds=0.5 if code == "TIMEOUT" else 10.0))
    assert found.error is not None
    assert (found.error.code, found.error.http_status, found.error.retryable) == (code, status, True)
    skill = bundled(SKILL)
    assert attempts_allowed(skill, code) == attempts
    assert may_repeat(skill, skill.effect, code, acted=False)


@pytest.mark.acceptance("CH-13")
@pytest.mark.acceptance("O-12")
async def test_a_source_is_asked_a_hundred_times_an_hour_by_all_together(
    database: Database, feed: ModelServer
) -> None:
    requests = FeedRequests(database, per_hour=100)
    now = datetime.now(UTC)
    assert all(requests.admit(feed.url, now) for _ in range(100))
    found = await _run(_services(database, feed.url))
    assert found.error is not None
    assert (found.error.code, feed.asked) == ("RATE_LIMITED", [])
    other = await _run(_services(database, feed.url, f"{feed.url}/general"))
    assert other.outputs["count"] == 3


@pytest.mark.acceptance("CH-13")
@pytest.mark.parametrize("body", [b"<rss><channel>", b'<!DOCTYPE a [<!ENTITY x "y">]><rss>&x;</rss>', b"[]"])
@pytest.mark.produces("fetch-trends", "VALIDATION_FAILED")
async def test_a_malformed_source_gives_an_empty_answer_with_a_warning(
    database: Database, feed: ModelServer, body: bytes
) -> None:
    feed.replies(Reply(body=body))
    found = await _run(_services(database, feed.url))
    assert (found.status.value, found.outputs["trends"]) == ("partial", [])
    assert found.warnings[0].startswith("VALIDATION_FAILED")


@pytest.mark.acceptance("CH-13")
async def test_a_platform_without_a_source_is_not_tried_again(database: Database) -> None:
    found = await _run(_services(database))
    assert found.error is not None
    assert (found.error.code, found.error.retryable) == ("PLATFORM_UNAVAILABLE", False)
    assert "trend_sources" in found.error.message


async def test_what_may_be_a_key_of_a_source_is_in_no_message(database: Database, feed: ModelServer) -> None:
    feed.replies(Reply(status=503))
    found = await _run(_services(database, f"{feed.url}/x?key=hunter2"))
    assert "hunter2" not in found.model_dump_json()


@pytest.mark.produces("fetch-trends", "INVALID_PLATFORM")
@pytest.mark.acceptance("CH-07", "CH-13")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"platform": "myspace"}, "INVALID_PLATFORM"),
        ({"limit": 0}, "INVALID_INPUT"),
        ({"limit": 501}, "INVALID_INPUT"),
        ({"timeWindow": "24"}, "INVALID_INPUT"),
        ({"timeWindow": "24m"}, "INVALID_INPUT"),
        ({"minEngagement": -1}, "INVALID_INPUT"),
        ({"excludeTopics": ["x"] * 51}, "INVALID_INPUT"),
        ({"limit": 500, "timeWindow": "7d", "minEngagement": 0, "excludeTopics": ["x"] * 50}, None),
    ],
)
def test_the_bounds_of_the_input_hold(given: dict[str, Any], code: str | None) -> None:
    assert refused_code(SKILL, {"platform": "twitter", **given}) == code


@pytest.mark.acceptance("CH-05", "CH-10", "CH-11")
def test_time_tries_and_kept_answers_are_as_documented() -> None:
    skill = bundled(SKILL)
    assert (skill.timeout_ms, skill.max_attempts, skill.cache_ttl_ms) == (30_000, 3, 300_000)
