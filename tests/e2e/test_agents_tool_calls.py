"""Apprentice as a tool server: calls that an agent makes through policy, approval and receipt, over real HTTP."""

import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import which
from typing import Any
from uuid import uuid4

import anyio
import pytest
from mcp import Client
from mcp_types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    Implementation,
)

from contracts.platform.identity import Scope
from tests.fixtures.agents import agent, agent_token, answer, refusal
from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.served import served
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


def a_key() -> dict[str, str]:
    """A key that no other test has: the id of its call is made of it."""
    return {"apprentice/idempotency-key": str(uuid4())}


@dataclass
class Tools:
    """Alice with a registered server whose tools are known, and the address of her agent."""

    stack: Stack
    alice: Learner
    server_id: str
    address: str

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What ``call_tool`` takes."""
        return {"server_id": self.server_id, "tool_name": tool, "arguments": arguments}

    async def decide(self, tool: str, mode: str) -> None:
        """Alice's policy for a tool."""
        decision = {"mode": mode, "updated_by": "user", "updated_at": datetime.now(UTC).isoformat()}
        target = {"target_kind": "tool", "server_id": self.server_id, "tool_name": tool}
        await self.alice.ok("POST", "/api/mcp/policy/update", {"target": target, "decision": decision})

    async def approve(self, dispatch_id: str, how: str = "approve_once") -> None:
        """Alice lets a call pass."""
        await self.alice.ok("POST", f"/api/mcp/ask-first/{dispatch_id}/approve", {"decision": how})

    async def over(self, client: Client, dispatch_id: str) -> dict[str, Any]:
        """How the call ended; an agent asks until it has."""
        with anyio.fail_after(30):
            while True:
                call = await answer(client, "get_call", {"dispatch_id": dispatch_id})
                if call["status"] not in ("pending_approval", "running"):
                    return call
                await anyio.sleep(0.05)


@pytest.fixture
async def tools(tmp_path: Path, temporal_address: str, tool_server: GoodServer) -> AsyncIterator[Tools]:
    client = await connect(temporal_address)
    settings = stack_settings(tmp_path, mcp_allow_private_addresses=True)
    async with running_stack(settings, client) as stack, served(stack) as address:
        alice = stack.learner(scopes=(*EVERYDAY_SCOPES, "call"))
        made = await alice.ok(
            "POST",
            "/api/mcp/servers/register",
            {
                "provider": "custom_remote",
                "display_name": "Lines",
                "endpoint_url": tool_server.url,
                "transport": "remote_http",
            },
        )
        server_id = made["server"]["registry"]["server_id"]
        await alice.ok("POST", f"/api/mcp/servers/{server_id}/smoke-test", {"server_id": server_id})
        listed = await alice.ok("GET", f"/api/mcp/servers/{server_id}/tools")
        for tool in listed["tools"]:
            await alice.ok(
                "POST",
                f"/api/mcp/servers/{server_id}/tools/{tool['definition']['tool_name']}/review",
                {"definition_hash": tool["definition_hash"]},
            )
        yield Tools(stack, alice, server_id, address)


async def test_an_agent_finds_a_tool_with_its_schema_and_calls_it(tools: Tools) -> None:
    async with agent(tools.address, agent_token(tools.stack)) as client:
        found = await answer(client, "find_tool", {"query": "read note"})
        (tool,) = [one for one in found["tools"] if one["tool_name"] == "read_note"]
        assert (tool["mode"], tool["effect"], tool["server_id"]) == ("enabled", "read", tools.server_id)
        assert tool["input_schema"]["required"] == ["name"]
        assert tool["reviewed"]
        result = await client.call_tool("call_tool", tools.call("read_note", name="plan"))
        assert isinstance(result, CallToolResult)
        assert not result.is_error
        assert "the note plan" in str(result.content[0])
        call = dict(result.structured_content)
        assert call["status"] == "completed"
        assert call["result"]["structured_content"] == {"name": "plan", "text": "the note plan"}
        assert await answer(client, "get_call", {"dispatch_id": call["dispatch_id"]}) == call
    receipts = await tools.alice.ok("GET", "/api/mcp/receipts")
    assert call["dispatch_id"] in str(receipts)


async def test_a_call_that_waits_is_told_plainly_and_runs_once_when_a_person_approves(
    tools: Tools, tool_server: GoodServer
) -> None:
    async with agent(tools.address, agent_token(tools.stack)) as client:
        pending = await answer(client, "call_tool", tools.call("append_line", line="one"))
        assert pending["status"] == "pending_approval"
        assert pending["approve_url"].endswith(f"/console#ask-first/{pending['dispatch_id']}")
        assert datetime.fromisoformat(pending["expires_at"]) > datetime.now(UTC)
        assert "Do not call again" in pending["next_step"]
        assert tool_server.effects() == []
        assert await answer(client, "get_call", {"dispatch_id": pending["dispatch_id"]}) == pending
        await tools.approve(pending["dispatch_id"])
        call = await tools.over(client, pending["dispatch_id"])
    assert (call["status"], call["approve_url"]) == ("completed", None)
    assert [effect["arguments"] for effect in tool_server.effects()] == [{"line": "one"}]


async def test_a_call_that_is_denied_is_an_error_that_says_why_and_not_to_try_again(
    tools: Tools, tool_server: GoodServer
) -> None:
    async with agent(tools.address, agent_token(tools.stack)) as client:
        asked, key = tools.call("append_line", line="one"), a_key()
        pending = await answer(client, "call_tool", asked, meta=key)
        deny = {"decision": "deny", "reason": "the list is closed"}
        await tools.alice.ok("POST", f"/api/mcp/ask-first/{pending['dispatch_id']}/deny", deny)
        call = await tools.over(client, pending["dispatch_id"])
        again = await client.call_tool("call_tool", asked, meta=key)
    assert (call["status"], "Do not try again" in call["next_step"]) == ("denied", True)
    assert call["error_message"] == "alice denied the call (the list is closed); nothing was sent."
    assert isinstance(again, CallToolResult)
    assert again.is_error
    assert again.structured_content["dispatch_id"] == pending["dispatch_id"]
    assert tool_server.effects() == []


async def test_the_same_key_makes_no_second_call(tools: Tools, tool_server: GoodServer) -> None:
    await tools.decide("append_line", "enabled")
    async with agent(tools.address, agent_token(tools.stack)) as client:
        asked, key = tools.call("append_line", line="one"), a_key()
        first = await answer(client, "call_tool", asked, meta=key)
        again = await answer(client, "call_tool", asked, meta=key)
        other = await refusal(client, "call_tool", tools.call("append_line", line="two"), meta=key)
    assert first == again
    assert other["code"] == "IDEMPOTENCY_KEY_REUSED"
    assert len(tool_server.effects()) == 1


async def test_a_forbidden_tool_is_not_listed_and_a_call_of_it_is_blocked(
    tools: Tools, tool_server: GoodServer
) -> None:
    await tools.decide("delete_lines", "disabled")
    async with agent(tools.address, agent_token(tools.stack)) as client:
        found = await answer(client, "find_tool", {"server_id": tools.server_id})
        names = {tool["tool_name"] for tool in found["tools"]}
        result = await client.call_tool("call_tool", tools.call("delete_lines"))
    assert "delete_lines" not in names
    assert "append_line" in names
    assert isinstance(result, CallToolResult)
    assert result.is_error
    assert result.structured_content["status"] == "blocked"
    assert "MCP_POLICY_BLOCKED" in str(result.content[0])
    assert "Do not try again" in result.structured_content["next_step"]
    assert tool_server.effects() == []


async def test_what_a_client_calls_itself_decides_whose_lists_it_is_judged_by(tools: Tools) -> None:
    await tools.decide("append_line", "enabled")
    lists = {"provider": "anthropic", "denied_tools": [f"{tools.server_id}/append_line"]}
    await tools.alice.ok("PUT", "/api/mcp/policy/runtimes", lists)
    seen: dict[str, tuple[bool, str]] = {}
    for name in ("claude-code", "openclaw"):
        who = Implementation(name=name, version="1")
        async with agent(tools.address, agent_token(tools.stack), client_info=who) as client:
            found = await answer(client, "find_tool", {"query": "append_line"})
            result = await client.call_tool("call_tool", tools.call("append_line", line=name))
            assert isinstance(result, CallToolResult)
            seen[name] = (bool(found["tools"]), result.structured_content["status"])
    assert seen == {"claude-code": (False, "blocked"), "openclaw": (True, "completed")}


async def test_a_client_that_opens_links_is_asked_to_and_comes_back_to_the_same_call(
    tools: Tools, tool_server: GoodServer
) -> None:
    opened: list[str] = []

    async def open_link(_context: Any, asked: ElicitRequestParams) -> ElicitResult:
        assert isinstance(asked, ElicitRequestURLParams)
        opened.append(asked.url)
        await tools.approve(asked.url.rpartition("/")[2])
        return ElicitResult(action="accept")

    async with agent(tools.address, agent_token(tools.stack), elicitation_callback=open_link) as client:
        call = await answer(client, "call_tool", tools.call("append_line", line="one"))
        assert opened == [f"{tools.stack.settings.console_url}#ask-first/{call['dispatch_id']}"]
        assert (await tools.over(client, call["dispatch_id"]))["status"] == "completed"
    assert len(tool_server.effects()) == 1


async def test_a_client_of_the_older_protocol_is_told_the_same_without_being_asked(tools: Tools) -> None:
    async def never(_context: Any, _asked: ElicitRequestParams) -> ElicitResult:
        raise AssertionError("nothing can be asked over this channel")

    token = agent_token(tools.stack)
    async with agent(tools.address, token, mode="legacy", elicitation_callback=never) as client:
        pending = await answer(client, "call_tool", tools.call("append_line", line="one"))
    assert pending["status"] == "pending_approval"


async def test_what_the_tool_itself_reports_as_an_error_is_one(tools: Tools) -> None:
    await tools.decide("fail", "enabled")
    async with agent(tools.address, agent_token(tools.stack)) as client:
        result = await client.call_tool("call_tool", tools.call("fail", reason="no paper"))
    assert isinstance(result, CallToolResult)
    assert result.is_error
    assert "Error executing tool fail" in str(result.content[0])


async def test_what_is_not_there_or_somebody_elses_is_named_with_what_to_do(tools: Tools) -> None:
    async with agent(tools.address, agent_token(tools.stack)) as client:
        pending = await answer(client, "call_tool", tools.call("append_line", line="one"))
        unknown = await refusal(client, "call_tool", tools.call("no_such_tool"))
        assert (unknown["code"], "find_tool" in unknown["next_step"]) == ("MCP_TOOL_NOT_FOUND", True)
    async with agent(tools.address, agent_token(tools.stack, "bob")) as client:
        assert (await answer(client, "find_tool", {}))["tools"] == []
        foreign = await refusal(client, "call_tool", tools.call("read_note", name="plan"))
        assert foreign["code"] == "MCP_SERVER_NOT_FOUND"
        hidden = await refusal(client, "get_call", {"dispatch_id": pending["dispatch_id"]})
        assert hidden["code"] == "MCP_DISPATCH_NOT_FOUND"


async def test_a_token_without_the_scope_calls_nothing(tools: Tools, tool_server: GoodServer) -> None:
    await tools.decide("append_line", "enabled")
    scopes = [scope for scope in Scope if scope not in (Scope.CALL, Scope.ADMIN)]
    async with agent(tools.address, agent_token(tools.stack, scopes=scopes)) as client:
        error = await refusal(client, "call_tool", tools.call("append_line", line="one"))
    assert (error["code"], error["required_scope"]) == ("FORBIDDEN", "call")
    assert tool_server.effects() == []


TYPESCRIPT_MODULES = Path(sys.prefix) / "typescript" / "node_modules"
"""Where ``.ci/run`` puts the official SDK for TypeScript; nothing of it is part of the project."""


@pytest.mark.skipif(
    which("node") is None or not TYPESCRIPT_MODULES.is_dir(),
    reason="needs Node and the official TypeScript SDK, which .ci/run installs",
)
async def test_the_official_typescript_client_reads_answers_refusals_and_calls_that_wait(
    tools: Tools,
) -> None:
    await tools.decide("append_line", "ask_first")
    order = {
        "modules": str(TYPESCRIPT_MODULES),
        "address": f"{tools.address}/mcp",
        "token": agent_token(tools.stack),
        "calls": [
            {"name": "find_tool", "arguments": {"query": "read note"}},
            {"name": "call_tool", "arguments": tools.call("read_note", name="plan")},
            {"name": "call_tool", "arguments": tools.call("no_such_tool")},
            {"name": "get_call", "arguments": {"dispatch_id": str(uuid4())}},
            {"name": "call_tool", "arguments": {"server_id": tools.server_id}},
            {"name": "call_tool", "arguments": tools.call("append_line", line="hello")},
        ],
    }
    with anyio.fail_after(120):
        ran = await anyio.run_process(
            ["node", str(Path(__file__).with_name("typescript_client.mjs")), json.dumps(order)], check=False
        )
    assert ran.returncode == 0, ran.stderr.decode()
    told = json.loads(ran.stdout)
    assert {"find_tool", "call_tool", "get_call"} <= set(told["tools"])
    found, called, *refused, waits = told["answers"]
    assert [one for one in told["answers"] if "thrown" in one] == []
    assert found["structuredContent"]["tools"][0]["tool_name"] == "read_note"
    assert called["structuredContent"]["status"] == "completed"
    assert all(one["isError"] and one["content"][0]["text"] for one in refused)
    assert waits["structuredContent"]["status"] == "pending_approval"
