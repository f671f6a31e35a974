"""From an approval to what the tool then does, beside a bare Temporal update and the bare call of the tool.

The tool writes when each of its effects happened; the clock is the machine's. Both sides take turns on the same
embedded server, so that the ratio holds on any machine. The bare call is what a program without us makes: the
protocol's official client, from nothing, as its documentation has it. What an approval costs does not depend on the
tool, so that the ratio does. Two bound it from both sides: a local program, which is started for the call, and, as the
hardest case, a server over HTTP that does next to nothing and is a step away. Of the official client's call of that
one, most is its TLS set-up, which the worker's client keeps from call to call: beside the worker's own client the
same approval is told as well, as ``ratio_to_own_client``.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker
from uuid_utils import uuid7

from bench.bare_updates import BareUpdates
from bench.temporal_server import temporal_at
from clients.mcp.tool_client import ToolClient
from contracts.mcp.provider import MCPTransport
from contracts.mcp.tools import ToolCall
from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import GoodServer, started
from tests.fixtures.mcp_serving import IDEMPOTENCY_KEY
from tests.fixtures.stack import EVERYDAY_SCOPES, running_stack, stack_settings

MAX_RATIO = 1.3
MAX_RATIO_TO_OWN_CLIENT = 3.0
"""Nothing that was promised: it shows when an approval gets slower."""
CALLS_A_ROUND = {MCPTransport.LOCAL_BRIDGE: 2, MCPTransport.REMOTE_HTTP: 5}
UPDATES_TO_COME = 1_000_000
CALLER = ToolClient(allow_private=True, local_programs=[sys.executable])


async def effect_of(tool: GoodServer, key: str) -> float:
    """When the tool did what it was asked to under this key."""
    while True:
        times = tool.effect_times()
        if key in times:
            return times[key]
        await asyncio.sleep(0.002)


async def bare_update(handle: WorkflowHandle[Any, Any]) -> float:
    """Seconds for one bare update."""
    begun = time.monotonic()
    await handle.execute_update(BareUpdates.step)
    return time.monotonic() - begun


async def bare_call(tool: GoodServer, transport: MCPTransport) -> float:
    """Seconds from nothing to the tool's effect, with the protocol's official client."""
    key, begun = str(uuid7()), time.monotonic()
    command = tool.command()
    program = StdioServerParameters(
        command=command.program, args=list(command.arguments), cwd=command.working_folder
    )
    async with Client(tool.url if transport is MCPTransport.REMOTE_HTTP else program) as client:
        await client.call_tool("append_line", {"line": "x"}, meta={IDEMPOTENCY_KEY: key})
        return await effect_of(tool, key) - begun


async def own_call(tool: GoodServer, transport: MCPTransport) -> float:
    """Seconds from nothing to the tool's effect, with the client that a worker calls tools with."""
    key, begun = str(uuid7()), time.monotonic()
    call = ToolCall(tool_name="append_line", arguments={"line": "x"}, idempotency_key=key)
    server = (
        tool.entry()
        if transport is MCPTransport.REMOTE_HTTP
        else tool.entry(transport=transport, endpoint_url=None, command=tool.command())
    )
    await CALLER.call(server, call, None, lambda: None)
    return await effect_of(tool, key) - begun


async def approved(alice: Learner, tool: GoodServer, server_id: str) -> float:
    """Seconds from a person's approval to the tool's effect."""
    asked = {"server_id": server_id, "tool_name": "append_line", "arguments": {"line": "x"}}
    # A session of its own: the floor starts its program for the call too.
    asked |= {"session_ref": str(uuid7())}
    dispatch = (await alice.ok("POST", "/api/mcp/dispatches", asked))["dispatch_id"]
    begun = time.monotonic()
    await alice.ok("POST", f"/api/mcp/ask-first/{dispatch}/approve", {"decision": "approve_once"})
    taken = await effect_of(tool, dispatch) - begun
    while (await alice.ok("GET", f"/api/mcp/dispatches/{dispatch}"))["status"] == "running":
        await asyncio.sleep(0.01)
    return taken


async def measure(rounds: int) -> dict[str, Any]:
    """Runs the rounds and sums them up."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        started(Path(name) / "tool", GoodServer) as tool,
    ):
        async with temporal_at(Path(name)) as address:
            client = await TemporalClient.connect(address, data_converter=pydantic_data_converter)
            settings = stack_settings(
                Path(name), mcp_allow_private_addresses=True, mcp_local_programs=(sys.executable,)
            )
            async with running_stack(settings, client) as stack, bare_updates(client) as handle:
                alice = stack.learner("alice", (*EVERYDAY_SCOPES, "call"))
                results = {}
                for transport in CALLS_A_ROUND:
                    server_id = await registered(alice, tool, transport)
                    results[transport] = await _rounds(handle, alice, tool, server_id, transport, rounds)
    return {
        "rounds": rounds,
        **results[MCPTransport.LOCAL_BRIDGE],
        "over_http": results[MCPTransport.REMOTE_HTTP],
    }


async def registered(alice: Learner, tool: GoodServer, transport: MCPTransport) -> str:
    """The tool server as one of hers, its tools known."""
    remote = transport is MCPTransport.REMOTE_HTTP
    asked = {"provider": "custom_remote", "display_name": f"Bench {transport.value}", "transport": transport}
    where = {"endpoint_url": tool.url} if remote else {"command": tool.command().model_dump()}
    made = await alice.ok("POST", "/api/mcp/servers/register", asked | where)
    server_id: str = made["server"]["registry"]["server_id"]
    await alice.ok("POST", f"/api/mcp/servers/{server_id}/smoke-test", {"server_id": server_id})
    return server_id


@asynccontextmanager
async def bare_updates(client: TemporalClient) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """A workflow that only takes updates, on a worker of its own."""
    queue = f"bare-{uuid7()}"
    async with Worker(client, task_queue=queue, workflows=[BareUpdates]):
        handle = await client.start_workflow(
            BareUpdates.run, UPDATES_TO_COME, id=f"bare/{uuid7()}", task_queue=queue
        )
        yield handle
        await handle.terminate()


async def _rounds(
    handle: WorkflowHandle[Any, Any],
    alice: Learner,
    tool: GoodServer,
    server_id: str,
    transport: MCPTransport,
    rounds: int,
) -> dict[str, Any]:
    ours: list[float] = []
    updates: list[float] = []
    calls: list[float] = []
    own_calls: list[float] = []
    for number in range(rounds + 1):
        for _ in range(CALLS_A_ROUND[transport]):
            taken = (
                await approved(alice, tool, server_id),
                await bare_update(handle),
                await bare_call(tool, transport),
                await own_call(tool, transport),
            )
            if number:  # the first round warms up
                for kept, seconds in zip((ours, updates, calls, own_calls), taken, strict=True):
                    kept.append(seconds)
    approval = statistics.median(ours)
    return {
        "ratio": round(approval / _floor(updates, calls), 2),
        "ratio_to_own_client": round(approval / _floor(updates, own_calls), 2),
        "approve_to_effect_ms": round(approval * 1000, 1),
        "bare_update_ms": round(statistics.median(updates) * 1000, 1),
        "bare_call_ms": round(statistics.median(calls) * 1000, 1),
        "own_call_ms": round(statistics.median(own_calls) * 1000, 1),
    }


def _floor(updates: list[float], calls: list[float]) -> float:
    return statistics.median(map(sum, zip(updates, calls, strict=True)))


def main() -> None:
    """Prints the result as JSON; exit code 1 when the bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    result = asyncio.run(measure(parser.parse_args().rounds))
    print(json.dumps(result, indent=2))
    raise SystemExit(0 if max(result["ratio"], result["over_http"]["ratio"]) <= MAX_RATIO else 1)


if __name__ == "__main__":
    main()
