"""Tool calls whose workflow Temporal has lost: brought back, answered as before, and never sent twice."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.fixtures.mcp_servers import GoodServer, MisbehavingServer
from tests.fixtures.stack import connect
from tests.fixtures.tool_calls import ToolUser, tool_stack, tool_user
from tests.fixtures.webhooks import listening
from worker.recovery import recover_dispatches

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}


@pytest.fixture
async def bob(
    tmp_path: Path, temporal_address: str, misbehaving_server: MisbehavingServer
) -> AsyncIterator[ToolUser]:
    """A user whose tool server can be held."""
    async with tool_stack(tmp_path, await connect(temporal_address)) as stack:
        user = tool_user(stack, "bob")
        await user.register(misbehaving_server)
        yield user


async def lose(user: ToolUser, dispatch_id: str) -> None:
    await user.stack.client.get_workflow_handle(f"mcp-dispatch/{dispatch_id}").terminate("lost")


async def recover(user: ToolUser) -> int:
    stack = user.stack
    return await recover_dispatches(stack.client, stack.settings, stack.database)


@pytest.mark.parametrize("recovered", [True, False])
async def test_a_call_that_waits_is_approved_all_the_same(
    agent: ToolUser, tool_server: GoodServer, recovered: bool
) -> None:
    asked = await agent.ask("append_line", MILK)
    await lose(agent, asked["dispatch_id"])
    if recovered:
        assert await recover(agent) == 1
        assert await recover(agent) == 1
    await agent.approve(asked["dispatch_id"])
    assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
    assert len(tool_server.effects()) == 1


async def test_whoever_is_told_of_calls_that_wait_is_told_again_of_one_whose_workflow_was_lost(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    with listening(refusals=0) as (url, seen):
        client = await connect(temporal_address)
        async with tool_stack(tmp_path, client, ask_first_webhook_url=url) as stack:
            agent = tool_user(stack)
            await agent.register(tool_server)
            asked = await agent.ask("append_line", MILK)
            await told(seen, 1)
            await recover(agent)
            await lose(agent, asked["dispatch_id"])
            await recover(agent)
            await told(seen, 2)
            await agent.approve(asked["dispatch_id"])
            assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
    first, again = [headers["x-apprentice-delivery"] for headers, _ in seen]
    assert first == again


async def told(seen: list[Any], times: int) -> None:
    with anyio.fail_after(30):
        while len(seen) < times:
            await anyio.sleep(0.02)


async def test_a_call_that_was_being_sent_is_not_sent_again(
    bob: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    asked = await bob.ask("append_line", MILK)
    misbehaving_server.order("hold_after")
    await bob.approve(asked["dispatch_id"])
    with anyio.fail_after(30):
        while not misbehaving_server.effects():
            await anyio.sleep(0.02)
    await lose(bob, asked["dispatch_id"])
    assert await recover(bob) == 1
    ended = await bob.ended(asked["dispatch_id"])
    assert (ended["status"], ended["attempts"]) == ("outcome_unknown", 1)
    misbehaving_server.lift()
    assert len(misbehaving_server.effects()) == 1


async def test_a_workflow_that_is_cancelled_gives_its_call_up(
    agent: ToolUser, tool_server: GoodServer
) -> None:
    asked = await agent.ask("append_line", MILK)
    handle = agent.stack.client.get_workflow_handle(f"mcp-dispatch/{asked['dispatch_id']}")
    await handle.cancel()
    assert (await agent.ended(asked["dispatch_id"]))["status"] == "cancelled"
    assert (await handle.result())["status"] == "cancelled"
    assert tool_server.effects() == []
