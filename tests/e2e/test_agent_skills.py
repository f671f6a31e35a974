"""Agents through the API: made by an admin, read and changed by skills, each change seen at once."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.model_server import Reply, serving
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.startup_registration import register_agents

pytestmark = pytest.mark.anyio


async def _run(who: Learner, skill: str, given: dict[str, Any], **body: Any) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given, **body}, prefer="wait=30")


@pytest.mark.acceptance("CH-41", "CH-44")
@pytest.mark.acceptance("X-26")
async def test_a_change_of_an_agent_is_seen_by_the_next_look(stack: Stack) -> None:
    admin = stack.learner("root", ("admin",))
    made = await admin.ok("POST", "/api/agents", {"name": "Nora", "owner_user_id": "alice"})
    agent = stack.learner("alice", ("read", "call"))
    look = {"agent_id": made["agent_id"]}
    before = await _run(agent, "get_agent_profile", look)
    assert (before["outputs"]["status"], before["outputs"]["version"]) == ("active", 1)
    assert (await _run(agent, "get_agent_profile", look))["cached"]
    change = {**look, "state_updates": {"status": "busy", "pending_tasks": 2}, "expected_version": 1}
    done = await _run(agent, "update_agent_state", change)
    assert done["outputs"]["new_version"] == 2, done
    after = await _run(agent, "get_agent_profile", look)
    assert (after["cached"], after["outputs"]["status"]) == (False, "busy")
    again = await _run(agent, "update_agent_state", change)
    assert (again["error"]["code"], again["outputs"]) == ("CONCURRENCY_ERROR", {"current_version": 2})
    assert len(again["attempts"]) == 1
    balance = await _run(agent, "update_agent_state", {**look, "state_updates": {"wallet_balance": 5}})
    assert balance["requires_confirmation"], balance


@pytest.mark.acceptance("CH-61", "CH-57")
async def test_each_agent_is_registered_once_a_start(tmp_path: Path, temporal_address: str) -> None:
    client = await connect(temporal_address)
    with serving() as directory:
        entry = {"registered": True, "directory_id": "dir-1", "profile_url": "https://dir.example/1"}
        directory.replies(Reply(body=json.dumps(entry).encode()))
        settings = stack_settings(tmp_path, openclaw_gateway_url=directory.url)
        async with running_stack(settings, client) as stack:
            admin = stack.learner("root", ("admin",))
            made = await admin.ok("POST", "/api/agents", {"name": "Nora", "owner_user_id": "alice"})
            assert await register_agents(stack.client, settings, stack.database) == 1
            alice = stack.learner("alice", ("read",))
            with anyio.fail_after(30):
                while (run := await _only_run(alice))["status"] in ("queued", "running"):
                    await anyio.sleep(0.05)
    assert run["status"] == "success", run
    assert [asked.json["agent_profile"]["agent_id"] for asked in directory.asked] == [made["agent_id"]]


async def _only_run(who: Learner) -> dict[str, Any]:
    (run,) = (await who.ok("GET", "/api/skills/invocations"))["invocations"]
    return dict(run)
