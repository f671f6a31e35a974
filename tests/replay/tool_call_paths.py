"""The ways a tool call can go, each walked through the API against a real tool server."""

from datetime import timedelta
from typing import Any

import anyio
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import MisbehavingServer, started
from tests.fixtures.stack import Stack
from tests.fixtures.tool_calls import ToolUser, tool_user

MILK = {"line": "milk"}
EXPIRY = timedelta(minutes=31)


async def call_tools(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """Calls that passed, were approved, denied, given up, forgotten, released by another's approval, throttled
    once, and of which nobody knows what became of them.
    """
    agent = tool_user(stack, "tools_called")
    with started(stack.settings.data_dir / "tool-server", MisbehavingServer) as server:
        await agent.register(server)
        await agent.ask("read_line", MILK)
        approved = await agent.ask("append_line", MILK)
        await agent.approve(approved["dispatch_id"], arguments={"line": "oat milk"})
        await agent.ended(approved["dispatch_id"])
        denied = await agent.ask("append_line", MILK)
        await agent.deny(denied["dispatch_id"], reason="not now")
        await _given_up(agent)
        forgotten = await agent.ask("append_line", MILK)
        await env.fast_forward(_handle(env, forgotten["dispatch_id"]), EXPIRY)
        await agent.ended(forgotten["dispatch_id"])
        await _released(agent)
        await _throttled(agent, env, server)
        server.order("drop_after", times=1)
        unknown = await agent.ask("append_line", MILK, session_ref="s1")
        assert unknown["status"] == "outcome_unknown"
    await agent.person.create()
    await agent.person.act("cancel", {"reason": "seen enough"})
    return agent.person


async def _given_up(agent: ToolUser) -> None:
    asked = await agent.ask("append_line", MILK)
    await agent.person.ok("POST", f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel", {})


async def _released(agent: ToolUser) -> None:
    asked = [await agent.ask("append_line", MILK, session_ref="s1") for _ in range(2)]
    await agent.approve(asked[0]["dispatch_id"], "approve_for_session")
    for one in asked:
        await agent.ended(one["dispatch_id"])


async def _throttled(agent: ToolUser, env: WorkflowEnvironment, server: MisbehavingServer) -> None:
    server.order("status", status=429, headers={"Retry-After": "120"}, times=1)
    asked = await agent.ask("append_line", MILK, session_ref="s1", wait_ms=0)
    with anyio.fail_after(30):
        while not (await agent.view(asked["dispatch_id"])).get("next_action"):
            await anyio.sleep(0.05)
    await env.fast_forward(_handle(env, asked["dispatch_id"]), timedelta(minutes=3))
    await agent.ended(asked["dispatch_id"])


def _handle(env: WorkflowEnvironment, dispatch_id: str) -> WorkflowHandle[Any, Any]:
    return env.client.get_workflow_handle(f"mcp-dispatch/{dispatch_id}")
