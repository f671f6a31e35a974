"""The catalog as one registry: what is told at the start, filters, restarts, and a workflow for each call."""

import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contracts.workflow_ids import skill_invocation_id
from tests.e2e.skill_calling import ASKER, opened, run
from tests.fixtures.learner import Learner
from tests.fixtures.stack import connect

pytestmark = pytest.mark.anyio

WALLET = "0x" + "ab" * 20


async def _catalog(who: Learner, **query: str) -> list[dict[str, Any]]:
    asked = "".join(f"&{name}={value}" for name, value in query.items())
    found = await who.ok("GET", f"/api/skills?page_size=100{asked}")
    assert found["total"] == len(found["skills"])
    return found["skills"]


@pytest.mark.acceptance("AM-30", "AI-01", "AI-03", "AI-04", "AI-09")
@pytest.mark.acceptance("X-31")
async def test_the_catalog_is_told_at_the_start_kept_over_a_restart_and_run_by_workflows_alone(
    tmp_path: Path, temporal_address: str
) -> None:
    with capture_logs() as lines:
        async with opened(tmp_path, temporal_address) as stack:
            alice = stack.learner("alice", ASKER)
            listed = await _catalog(alice)
            (told,) = [line for line in lines if line["event"] == "skills were loaded"]
            assert told["tools"] == len(listed) == len(told["skills"])
            assert {one["name"] for one in listed} == set(told["skills"])
            social = {one["name"] for one in await _catalog(alice, category="social")}
            assert {"schedule-check-in", "log-social-event"} <= social
            assert not social & {one["name"] for one in await _catalog(alice, category="memory")}
            senders = {one["name"] for one in await _catalog(alice, tag="sends_external_message")}
            assert "send-message" in senders
            assert "calendar" not in senders
            fact = {"subject": "Ada", "predicate": "likes", "object": "chess"}
            assert (await run(alice, "upsert_world_fact", fact))["status"] == "success"
            (kept,) = (await alice.ok("GET", "/api/memory/facts"))["facts"]
            assert '"skill_id": "upsert_world_fact"' in json.dumps(kept)
            done = await run(alice, "fetch_wallet_balance", {"wallet_address": WALLET})
            client = await connect(temporal_address)
            ran = await client.get_workflow_handle(skill_invocation_id(done["invocation_id"])).describe()
            assert ran.workflow_type == "SkillInvocationWorkflow"
            exported = await alice.ok("GET", "/api/skills/openai-tools")
    async with opened(tmp_path, temporal_address) as stack:
        alice = stack.learner("alice", ASKER)
        assert await _catalog(alice) == listed
        assert await alice.ok("GET", "/api/skills/openai-tools") == exported
