"""What one approved tool call leaves in Temporal, and that the dispatch benchmarks' sides do what they say."""

from pathlib import Path

import pytest
from temporalio.client import Client

from bench.dispatch import approved, bare_call, registered
from bench.dispatch_waiting import calls_over
from config.settings import Settings
from contracts.mcp.provider import MCPTransport
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.stack import EVERYDAY_SCOPES, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio

MAX_EVENTS = 30


async def test_an_approved_call_leaves_a_short_history(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    client: Client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path, mcp_allow_private_addresses=True), client) as stack:
        alice = stack.learner("alice", (*EVERYDAY_SCOPES, "call"))
        server_id = await registered(alice, tool_server, MCPTransport.REMOTE_HTTP)
        assert await approved(alice, tool_server, server_id) > 0
        (call,) = (await alice.ok("GET", "/api/mcp/dispatches"))["dispatches"]
        handle = client.get_workflow_handle(f"mcp-dispatch/{call['dispatch_id']}")
        await handle.result()
        history = await handle.fetch_history()
    assert 0 < len(history.events) <= MAX_EVENTS
    assert [effect["key"] for effect in tool_server.effects()] == [call["dispatch_id"]]


@pytest.mark.parametrize("transport", [MCPTransport.REMOTE_HTTP, MCPTransport.LOCAL_BRIDGE])
async def test_the_floor_has_the_same_effect(tool_server: GoodServer, transport: MCPTransport) -> None:
    assert await bare_call(tool_server, transport) > 0
    assert len(tool_server.effects()) == 1


async def test_calls_of_the_waiting_benchmark_wait_for_a_person(
    tmp_path: Path, temporal_address: str
) -> None:
    client: Client = await connect(temporal_address)
    settings: Settings = stack_settings(tmp_path)
    async with running_stack(settings, client), calls_over(settings, temporal_address) as calls:
        waiting = await calls.wait(3)
        assert len(set(waiting)) == 3
        assert await calls.answered(waiting[0]) > 0
