"""Trends from a resource of a real tool server (MCP) on 127.0.0.1 (CH-09)."""

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import ValidationError

from activities.skills.services.feeds_service import FeedsService
from clients.skills.feeds import MAX_FEED_BYTES, FeedClient, FeedFailed
from config.settings import Settings
from contracts.base import rfc3339
from stores.platform.database import Database
from stores.skills.services.feed_requests import FeedRequests
from tests.fixtures.bundled_skills import run_bundled
from tests.fixtures.databases import migrated
from tests.fixtures.served_tools import served_tools

pytestmark = pytest.mark.anyio


def _trends() -> str:
    now = rfc3339(datetime.now(UTC))
    trend = {"trend_id": "1", "topic": "cold brew", "engagement_score": 20_000, "detected_at": now}
    return json.dumps({"trends": [trend]})


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The source that a tool server is: its address, without a resource."""
    tools = MCPServer("trends", version="1", log_level="CRITICAL")

    @tools.resource("trends://today")
    def today() -> str:  # pyright: ignore[reportUnusedFunction]
        """What is talked about."""
        return _trends()

    @tools.resource("trends://endless")
    def endless() -> str:  # pyright: ignore[reportUnusedFunction]
        """Far too much."""
        return "x" * (2 * MAX_FEED_BYTES)

    with served_tools(tools) as address:
        yield f"mcp+{address}"


@pytest.fixture
def requests(tmp_path: Path) -> Iterator[FeedRequests]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    database = Database(url)
    yield FeedRequests(database, per_hour=100)
    database.close()


def _closed() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"mcp+http://127.0.0.1:{free.getsockname()[1]}/mcp"


async def _run(requests: FeedRequests, *sources: str) -> Any:
    feeds = FeedsService({"news": sources}, requests, FeedClient())
    return await run_bundled("fetch-trends", {"platform": "news"}, {"feeds": feeds})


@pytest.mark.acceptance("CH-09", "CH-12")
async def test_a_resource_is_a_source_of_trends_like_any_other(server: str, requests: FeedRequests) -> None:
    outcome = await _run(requests, f"{_closed()}#trends://today", f"{server}#trends://today")
    assert outcome.status == "success", outcome
    assert [one["topic"] for one in outcome.outputs["trends"]] == ["cold brew"]
    assert any("NETWORK_ERROR" in one for one in outcome.warnings)
    assert not any("trends://" in one for one in outcome.warnings)


@pytest.mark.parametrize(
    ("resource", "code"),
    [("trends://unknown", "PLATFORM_UNAVAILABLE"), ("trends://endless", "VALIDATION_FAILED")],
)
async def test_a_resource_that_cannot_be_used_fails_like_a_feed(
    server: str, resource: str, code: str
) -> None:
    with pytest.raises(FeedFailed) as failed:
        await FeedClient().fetch(f"{server}#{resource}", 10.0)
    assert failed.value.code == code


def test_a_server_without_a_resource_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="mcp\\+https://host/mcp#URI"):
        Settings(data_dir=tmp_path, trend_sources={"news": ("mcp+https://tools.example/mcp",)})
