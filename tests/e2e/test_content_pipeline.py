"""From a feed to the outbox through the API: fetch, filter, write, check, approve, publish."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contracts.base import rfc3339
from tests.fixtures.learner import Learner
from tests.fixtures.model_server import Reply, serving
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio

PERSONA = {"name": "Nora", "voice": "dry and warm"}


async def _run(who: Learner, skill: str, **given: Any) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given}, prefer="wait=60")


def _feed() -> Reply:
    now = rfc3339(datetime.now(UTC))
    topics = ("Cold brew at home", "A new phone")
    trends = [{"topic": topic, "engagement_score": 20_000, "detected_at": now} for topic in topics]
    return Reply(body=json.dumps({"trends": trends}).encode())


@pytest.mark.acceptance("CH-06", "CH-11", "CH-34", "CH-36", "CH-37", "O-6")
async def test_a_trend_becomes_approved_content_that_says_it_is_not_published(
    tmp_path: Path, temporal_address: str
) -> None:
    client = await connect(temporal_address)
    with serving() as feed:
        feed.replies(_feed())
        settings = stack_settings(tmp_path, trend_sources={"news": (feed.url,)})
        async with running_stack(settings, client) as stack:
            agent = stack.learner("alice", ("read", "call"))
            found = await _run(agent, "fetch_trends", platform="news")
            assert found["outputs"]["count"] == 2, found
            kept = await _run(agent, "fetch_trends", platform="news")
            assert (kept["cached"], kept["outputs"]["fetched_at"]) == (True, found["outputs"]["fetched_at"])
            assert len(feed.asked) == 1
            fitting = await _run(
                agent, "semantic_filter", trends=found["outputs"]["trends"], campaign_goals=["cold brew"]
            )
            (best,) = fitting["outputs"]["filtered_trends"]
            written = await _run(
                agent,
                "generate_content",
                trend=best["trend"],
                persona=PERSONA,
                platform="twitter",
                content_type="single_post",
            )
            content = written["outputs"]["content"]
            await _shows_its_card(stack, agent, content, settings.api_url)
            checked = await _run(agent, "validate_content", content=content)
            assert checked["outputs"]["valid"], checked
            await _publishes(stack, agent, content)


async def _shows_its_card(stack: Stack, agent: Learner, content: dict[str, Any], api_url: str) -> None:
    (address,) = content["media_urls"]
    path = address.removeprefix(api_url)
    card = await agent.call("GET", path)
    assert (card.status_code, card.headers["content-type"]) == (200, "image/svg+xml")
    assert card.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert card.headers["x-content-type-options"] == "nosniff"
    assert "Cold brew at home" in card.text
    mallory = stack.learner("mallory", ("read", "call"))
    assert (await mallory.refused("GET", path))[0] == 404
    assert (await stack.http.get(path)).status_code == 401


async def _publishes(stack: Stack, agent: Learner, content: dict[str, Any]) -> None:
    approval = {"content": content, "platforms": ["twitter"], "ttl": 600}
    path = "/api/skills/approval-tokens"
    assert (await agent.refused("POST", path, approval))[0] == 403
    reviewer = stack.learner("alice", ("approve",))
    token = await reviewer.ok("POST", path, approval, idempotency_key="k-1")
    assert await reviewer.ok("POST", path, approval, idempotency_key="k-1") == token
    other = {**approval, "ttl": 601}
    status, error = await reviewer.refused("POST", path, other, idempotency_key="k-1")
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    given = {"content": content, "approval_token": token["approval_token"], "platform": "twitter"}
    done = await _run(agent, "publish_content", **given)
    assert (done["status"], done["outputs"]["success"]) == ("partial", False), done
    assert done["warnings"][0].startswith("NOT_PUBLISHED")
    kept = json.loads(Path(done["outputs"]["path"]).read_text(encoding="utf-8"))
    assert kept["content"]["content_id"] == content["content_id"]
    revoked = await reviewer.ok("POST", path, {**approval, "platforms": ["youtube"]})
    await reviewer.ok("DELETE", f"{path}/{revoked['jti']}")
    refused = await _run(
        agent,
        "publish_content",
        **{**given, "approval_token": revoked["approval_token"], "platform": "youtube"},
    )
    assert (refused["error"]["code"], refused["error"]["http_status"]) == ("INVALID_TOKEN", 401)
    assert len(refused["attempts"]) == 1
    mallory = stack.learner("mallory", ("approve",))
    assert (await mallory.refused("DELETE", f"{path}/{token['jti']}"))[0] == 404
