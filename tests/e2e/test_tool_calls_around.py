"""What lies around a call: the session that watches, the ability it is for, who is told that it waits."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from temporalio.client import (
    Client,
    Interceptor,
    OutboundInterceptor,
    StartWorkflowUpdateInput,
    WorkflowUpdateHandle,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)

from tests.fixtures.importing import Importer, zipped
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.stack import connect
from tests.fixtures.tool_calls import ToolUser, tool_stack, tool_user
from tests.fixtures.webhooks import listening

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}


async def test_a_watching_session_sees_the_names_and_the_outcome_of_a_call(agent: ToolUser) -> None:
    person = agent.person
    await person.create(observation_mode="inside_agent")
    await person.act("start")
    view = await agent.ask("read_note", {"name": "shopping"}, learn_session_id=person.session_id)
    assert view["status"] == "completed"
    path = f"/api/learn/sessions/{person.session_id}/observations"
    seen = (await person.ok("GET", path))["observations"]
    assert [one["target_ref"] for one in seen] == [f"{agent.server_id}/read_note"]
    assert (seen[0]["adapter_kind"], seen[0]["after_state_ref"]) == ("mcp_receipt", "ok")
    assert "shopping" not in json.dumps(seen)


async def test_a_session_that_watches_the_agent_sees_its_calls_though_nobody_names_it(
    agent: ToolUser,
) -> None:
    person = agent.person
    path = "/api/learn/sessions/{}/observations"
    for mode, sees in (("inside_agent", 1), ("outside_agent", 0)):
        await agent.ask("read_note", {"name": "before it"})
        await person.create(observation_mode=mode)
        await person.act("start")
        await agent.ask("read_note", {"name": "shopping"})
        await person.act("stop")
        await agent.ask("read_note", {"name": "after it"})
        seen = (await person.ok("GET", path.format(person.session_id)))["observations"]
        assert len(seen) == sees
        await person.act("cancel")


async def test_a_session_that_does_not_watch_sees_nothing_and_the_call_goes_on(agent: ToolUser) -> None:
    person = agent.person
    await person.create(observation_mode="outside_agent")
    view = await agent.ask("read_note", {"name": "shopping"}, learn_session_id=person.session_id)
    assert view["status"] == "completed"
    path = f"/api/learn/sessions/{person.session_id}/observations"
    assert (await person.ok("GET", path))["observations"] == []


async def installed(agent: ToolUser) -> str:
    await agent.person.teach(allow_private_install=True)
    done = await agent.person.propose_act("install", {"install_lane": "experimental_private"})
    return str(done["ability_id"])


@pytest.mark.parametrize(
    ("command", "body"),
    [("quarantine", {"reason": "It looks wrong"}), ("deactivate", None), ("archive", None)],
)
async def test_the_open_calls_of_an_ability_that_goes_out_of_use_are_given_up(
    agent: ToolUser, tool_server: GoodServer, command: str, body: Any
) -> None:
    ability_id = await installed(agent)
    asked = await agent.ask("append_line", MILK, ability_id=ability_id)
    other = await agent.ask("append_line", MILK)
    await agent.person.ok("POST", f"/api/abilities/{ability_id}/{command}", body)
    assert (await agent.ended(asked["dispatch_id"]))["status"] == "cancelled"
    assert (await agent.view(other["dispatch_id"]))["status"] == "pending_approval"
    after = await agent.ask("read_note", {"name": "x"}, ability_id=ability_id)
    assert (after["status"], after["error_code"]) == ("blocked", "MCP_POLICY_BLOCKED")
    assert tool_server.effects() == []


async def test_another_token_gives_up_a_call_only_where_it_may_approve_it(agent: ToolUser) -> None:
    asked = await agent.ask("append_line", MILK)
    path = f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel"
    lesser = agent.stack.learner(agent.person.user, ["read", "call"])
    status, error = await lesser.refused("POST", path, {})
    assert (status, error["code"], error["required_scope"]) == (403, "FORBIDDEN", "approve")
    assert (await agent.view(asked["dispatch_id"]))["status"] == "pending_approval"
    greater = agent.stack.learner(agent.person.user, ["read", "call", "approve"])
    assert (await greater.ok("POST", path, {}))["status"] == "cancelled"


async def test_the_use_of_an_ability_counts_for_its_health(agent: ToolUser) -> None:
    ability_id = await installed(agent)
    await agent.ask("read_note", {"name": "x"}, ability_id=ability_id)
    stats = (await agent.person.ok("GET", "/api/capabilities/stats"))["capabilities"]
    assert [one["uses"] for one in stats] == [1]


async def test_an_ability_that_is_not_there_is_not_called_for(agent: ToolUser) -> None:
    body = {"server_id": agent.server_id, "tool_name": "read_note", "arguments": {}, "ability_id": "nowhere"}
    status, error = await agent.person.refused("POST", "/api/mcp/dispatches", body)
    assert (status, error["code"]) == (404, "ABILITY_NOT_FOUND")


async def test_somebody_is_told_that_a_call_waits_signed_and_without_values(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    key = tmp_path / "hook.key"
    key.write_text("s3cret")
    key.chmod(0o600)
    with listening(refusals=1) as (url, seen):
        settings = {"ask_first_webhook_url": url, "ask_first_webhook_secret_ref": f"file:{key}"}
        async with tool_stack(tmp_path, await connect(temporal_address), **settings) as stack:
            agent = tool_user(stack)
            await agent.register(tool_server)
            asked = await agent.ask("append_line", {"line": "a secret line"})
            with anyio.fail_after(30):
                while len(seen) < 2:
                    await anyio.sleep(0.05)
            await agent.approve(asked["dispatch_id"])
            assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
    headers, body = seen[1]
    notice = json.loads(body)
    assert (notice["dispatch_id"], notice["correlation_id"]) == (
        asked["dispatch_id"],
        asked["correlation_id"],
    )
    assert notice["console_url"].endswith(asked["dispatch_id"])
    assert b"a secret line" not in body
    at, _, digest = headers["x-apprentice-signature"].partition(",v1=")
    signed = at.removeprefix("t=").encode() + b"." + body
    assert hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest() == digest


async def test_a_webhook_that_nobody_answers_is_not_in_the_way(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    settings = {"ask_first_webhook_url": "http://127.0.0.1:9/hook"}
    async with tool_stack(tmp_path, await connect(temporal_address), **settings) as stack:
        agent = tool_user(stack)
        await agent.register(tool_server)
        asked = await agent.ask("append_line", MILK)
        await agent.approve(asked["dispatch_id"])
        assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
        handle = stack.client.get_workflow_handle(f"mcp-dispatch/{asked['dispatch_id']}")
        assert (await handle.result())["status"] == "completed"


class _FirstCancelLost(Interceptor):
    """A client whose first cancel of a call is never answered: the worker is busy for longer than anybody waits."""

    def __init__(self) -> None:
        self.sent = 0

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        counts = self

        class Losing(OutboundInterceptor):
            async def start_workflow_update(
                self, input: StartWorkflowUpdateInput
            ) -> WorkflowUpdateHandle[Any]:
                if input.update == "cancel":
                    counts.sent += 1
                    if counts.sent == 1:
                        raise WorkflowUpdateRPCTimeoutOrCancelledError
                return await super().start_workflow_update(input)

        return Losing(next)


async def test_a_cancel_that_a_busy_worker_did_not_answer_is_sent_again(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    lost = _FirstCancelLost()
    client = await connect(temporal_address)
    config = client.config()
    config["interceptors"] = [*config["interceptors"], lost]
    async with tool_stack(tmp_path, Client(**config)) as stack:
        user = tool_user(stack)
        await user.register(tool_server)
        waiting = await user.ask("append_line", MILK)
        done = await user.person.ok("POST", f"/api/mcp/dispatches/{waiting['dispatch_id']}/cancel", {})
        assert (done["status"], lost.sent) == ("cancelled", 2)
    assert tool_server.effects() == []


READS_NOTES = """---
name: read-notes
description: Reads a note aloud. Use when asked to read a note. Not for writing notes.
allowed-tools: {tool}
---

# Read notes

1. Read the note that was named.
"""


async def test_an_imported_skill_calls_the_tools_that_its_allowed_tools_name_and_no_other(
    agent: ToolUser,
) -> None:
    importer = Importer(agent.person)
    named = f"{agent.server_id}/read_note"
    await importer.upload(zipped({"read-notes/SKILL.md": READS_NOTES.format(tool=named)}))
    await importer.scan()
    await importer.act("stage")
    await importer.act("install-private", accept_unproved=True)
    ability = (await importer.detail())["ability_id"]
    passed = await agent.ask("read_note", {"name": "shopping"}, ability_id=ability)
    assert passed["status"] == "completed"
    refused = await agent.ask("count_lines", {}, ability_id=ability)
    assert (refused["status"], refused["error_code"]) == ("blocked", "ABILITY_TOOL_NOT_ALLOWED")
    assert named in refused["error_message"]
    # What names no ability is the agent's own call: policy alone judges it.
    assert (await agent.ask("count_lines", {}))["status"] == "completed"
