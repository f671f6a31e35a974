"""publish_content at a later time: waits over restarts, goes out once, and is given up until then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client
from temporalio.testing import TimeSkipper

from contracts.workflow_ids import skill_invocation_id
from tests.fixtures.learner import Learner
from tests.fixtures.model_server import ModelServer, Reply, serving
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.recovery import recover_invocations

pytestmark = pytest.mark.anyio

PERSON = ("read", "call", "approve")
WEEK = timedelta(days=7)
POSTED = b'{"success": true, "post_id": "p-1", "post_url": "https://posts.example/1", "platform": "twitter", '
POSTED += b'"published_at": "2026-11-20T12:00:00Z", "engagement_snapshot": {"likes": 0, "comments": 0, "shares": 0}}'


@asynccontextmanager
async def opened(folder: Path, client: Client, publisher: ModelServer) -> AsyncIterator[Stack]:
    async with running_stack(stack_settings(folder, publisher_url=publisher.url), client) as stack:
        yield stack


def later(ahead: timedelta) -> str:
    return (datetime.now(UTC) + ahead).isoformat()


async def publish(
    who: Learner, content: dict[str, Any], token: str, at: str | None = None, **headers: str
) -> dict[str, Any]:
    given = {"content": content, "approval_token": token, "platform": "twitter"}
    if at is not None:
        given["schedule_time"] = at
    path = "/api/skills/publish_content/invocations"
    return await who.ok("POST", path, {"input": given}, prefer="wait=30", **headers)


async def approved(who: Learner) -> tuple[dict[str, Any], str]:
    content = {"content_id": str(uuid4()), "script": "We tried three coffee shops."}
    asked = {"content": content, "platforms": ["twitter"]}
    token = await who.ok("POST", "/api/skills/approval-tokens", asked)
    return content, token["approval_token"]


@pytest.mark.everyday
@pytest.mark.acceptance("CH-39")
async def test_content_is_published_once_at_its_time_and_not_before(
    tmp_path: Path, skipping_env: TimeSkipper
) -> None:
    with serving() as publisher:
        publisher.replies(Reply(body=POSTED))
        async with opened(tmp_path, skipping_env.client, publisher) as stack:
            alice = stack.learner("alice", PERSON)
            content, token = await approved(alice)
            waits = await publish(alice, content, token, later(WEEK))
            assert (waits["status"], waits["outputs"]) == ("queued", None), waits
            assert waits["due_at"] in waits["next_action"]
            again = await publish(alice, content, token)
            assert again["error"]["code"] == "DUPLICATE_CONTENT"
            assert waits["invocation_id"] in again["error"]["message"]
            handle = stack.client.get_workflow_handle(skill_invocation_id(waits["invocation_id"]))
            await skipping_env.fast_forward(handle, WEEK - timedelta(hours=1))
            assert publisher.asked == []
            await skipping_env.fast_forward(handle, timedelta(hours=2))
            await handle.result()
            done = await alice.ok("GET", f"/api/skills/invocations/{waits['invocation_id']}")
            assert (done["status"], done["outputs"]["post_id"], done["due_at"]) == ("success", "p-1", None)
            assert done["record"]["retry_count"] == 0
            assert len(publisher.asked) == 1


@pytest.mark.acceptance("CH-39")
async def test_what_waits_for_its_time_goes_out_once_by_a_worker_that_starts_meanwhile(
    tmp_path: Path, temporal_address: str
) -> None:
    client = await connect(temporal_address)
    with serving() as publisher:
        publisher.replies(Reply(body=POSTED))
        settings = stack_settings(tmp_path, publisher_url=publisher.url)
        async with running_stack(settings, client) as stack:
            alice = stack.learner("alice", PERSON)
            waits = await publish(alice, *await approved(alice), later(timedelta(seconds=4)))
            assert waits["status"] == "queued"
        async with running_stack(settings, client) as stack:
            await recover_invocations(client, settings, stack.database)
            handle = stack.client.get_workflow_handle(skill_invocation_id(waits["invocation_id"]))
            await handle.result()
            alice = stack.learner("alice", PERSON)
            done = await alice.ok("GET", f"/api/skills/invocations/{waits['invocation_id']}")
            assert (done["status"], len(publisher.asked)) == ("success", 1)


@pytest.mark.acceptance("CH-39")
async def test_what_is_cancelled_before_its_time_is_not_published_and_frees_its_approval(
    tmp_path: Path, temporal_address: str
) -> None:
    with serving() as publisher:
        publisher.replies(Reply(body=POSTED))
        async with opened(tmp_path, await connect(temporal_address), publisher) as stack:
            alice = stack.learner("alice", PERSON)
            content, token = await approved(alice)
            waits = await publish(alice, content, token, later(WEEK))
            path = f"/api/skills/invocations/{waits['invocation_id']}/cancel"
            given_up = await alice.ok("POST", path, {})
            assert (given_up["status"], given_up["due_at"]) == ("cancelled", None)
            assert publisher.asked == []
            assert (await publish(alice, content, token))["status"] == "success"


@pytest.mark.acceptance("CH-39")
async def test_what_waits_for_its_time_takes_no_place_of_the_calls_at_once(
    tmp_path: Path, temporal_address: str
) -> None:
    with serving() as publisher:
        publisher.replies(Reply(body=POSTED))
        async with opened(tmp_path, await connect(temporal_address), publisher) as stack:
            alice = stack.learner("alice", PERSON)
            for _ in range(stack.settings.skill_calls_at_once):
                assert (await publish(alice, *await approved(alice), later(WEEK)))["status"] == "queued"
            assert (await publish(alice, *await approved(alice)))["status"] == "success"
