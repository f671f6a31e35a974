"""What an approval, a session command and an install cost: time and processor beside bare Temporal, and counters.

Both sides take turns on the same embedded server, in one process. Bare, an approval is one update of a workflow that
takes updates, and the call of the tool with the client that a worker calls tools with, which is warm; a command is
one such update. Processor time is that of this process, in which API and worker run, and of the Temporal server.
What is counted (``bench.counters``) is the same on every machine.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from uuid_utils import uuid7

from bench.cost import timed
from bench.counters import Counts, counting
from bench.dispatch import bare_update, bare_updates, effect_of, own_call, registered
from bench.temporal_server import RunningTemporal, temporal_process
from contracts.mcp.provider import MCPTransport
from contracts.workflow_ids import mcp_dispatch_id
from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import GoodServer, started
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack, running_stack, stack_settings

MAX_STATEMENTS = {"approval": 29, "command": 13, "install": 104}
MAX_WRITES = {"approval": 3, "command": 1, "install": 7}
"""SQL statements and write transactions of API and worker; ``tests/bench`` keeps these bounds."""

WIDTHS = (1, 8, 16, 32)
TIMES_A_ROUND = 3
"""Approvals, commands and bare ones in each round of the times."""

Times = dict[str, list[float]]


async def asked(alice: Learner, server_id: str) -> str:
    """A call that waits for an approval; its id. All are of one session of the agent's."""
    body = {
        "server_id": server_id,
        "tool_name": "append_line",
        "arguments": {"line": "x"},
        "session_ref": "bench",
    }
    found: str = (await alice.ok("POST", "/api/mcp/dispatches", body))["dispatch_id"]
    return found


async def approve(alice: Learner, dispatch: str) -> None:
    """A person's approval, until it is answered."""
    await alice.ok("POST", f"/api/mcp/ask-first/{dispatch}/approve", {"decision": "approve_once"})


async def ended(stack: Stack, dispatch: str) -> None:
    """Waits for the end of a call's workflow."""
    await stack.client.get_workflow_handle(mcp_dispatch_id(dispatch)).result()


async def counted_approval(stack: Stack, alice: Learner, server_id: str) -> Counts:
    """What is counted from an approval to the end of its call."""
    dispatch = await asked(alice, server_id)
    with counting() as counts:
        await approve(alice, dispatch)
        await ended(stack, dispatch)
    return counts


async def counted_command(bob: Learner, number: int) -> Counts:
    """What is counted for one command of a session that is under way."""
    with counting() as counts:
        await bob.act("mark-goal", {"goal_description": f"Summarise the sales figures, {number}"})
    return counts


async def counted_install(bob: Learner) -> Counts:
    """What is counted for the approval of a proven proposal, which installs it; the lesson before is not."""
    await bob.teach()
    with counting() as counts:
        await bob.propose_act("approve")
    return counts


async def timed_approval(
    stack: Stack, alice: Learner, tool: GoodServer, server_id: str, times: Times
) -> None:
    """Notes when an approval was answered, and when the tool did what it was asked to."""
    dispatch = await asked(alice, server_id)
    begun = time.monotonic()
    await approve(alice, dispatch)
    times["answer"].append(time.monotonic() - begun)
    times["effect"].append(await effect_of(tool, dispatch) - begun)
    await ended(stack, dispatch)


async def timed_bare(handle: WorkflowHandle[Any, Any], tool: GoodServer, times: Times) -> None:
    """Notes the same of a bare update and a bare call after it."""
    answer = await bare_update(handle)
    times["bare_answer"].append(answer)
    times["bare_effect"].append(answer + await own_call(tool, MCPTransport.REMOTE_HTTP))


class Bench:
    """The two sides of one run."""

    def __init__(
        self,
        stack: Stack,
        server: RunningTemporal,
        tool: GoodServer,
        server_id: str,
        bare: Sequence[WorkflowHandle[Any, Any]],
    ) -> None:
        self.stack = stack
        self._server = server
        self._tool = tool
        self.server_id = server_id
        self._bare = bare
        self.alice = stack.learner("alice", (*EVERYDAY_SCOPES, "call"))
        self._bob = stack.learner("bob")

    async def times(self, rounds: int) -> dict[str, Any]:
        """Medians of the times, and their ratios."""
        await self._bob.create()
        await self._bob.act("start")
        times: Times = {name: [] for name in ("answer", "effect", "bare_answer", "bare_effect", "command")}
        for number in range(rounds + 1):
            for _ in range(TIMES_A_ROUND):
                await timed_approval(self.stack, self.alice, self._tool, self.server_id, times)
                await timed_bare(self._bare[0], self._tool, times)
                command = await timed(lambda: self._bob.act("mark-goal", _goal()))
                times["command"].append(command.seconds)
            if not number:  # the first round warms up
                for kept in times.values():
                    kept.clear()
        await self._bob.act("cancel", {"reason": "done"})
        found = {name: statistics.median(kept) for name, kept in times.items()}
        return {
            "answer_ratio": round(found["answer"] / found["bare_answer"], 2),
            "effect_ratio": round(found["effect"] / found["bare_effect"], 2),
            "command_ratio": round(found["command"] / found["bare_answer"], 2),
            **{f"{name}_ms": round(seconds * 1000, 1) for name, seconds in found.items()},
        }

    async def rates(self, rounds: int) -> dict[str, Any]:
        """Approvals a second and processor time an approval, so many at once, to bare's."""
        found: dict[str, Any] = {}
        for width in WIDTHS:
            ours, bare, used, bare_used = [], [], [], []
            for number in range(rounds + 1):
                waiting = [await asked(self.alice, self.server_id) for _ in range(width)]
                seconds, processor = await self.measured(partial(self.approve_all, waiting))
                bare_seconds, bare_processor = await self.measured(partial(self._bare_all, width))
                if number:
                    ours.append(width / seconds)
                    bare.append(width / bare_seconds)
                    used.append(processor / width)
                    bare_used.append(bare_processor / width)
            found[f"wide_{width}"] = {
                "ratio": round(statistics.median(ours) / statistics.median(bare), 2),
                "a_second": round(statistics.median(ours), 1),
                "bare_a_second": round(statistics.median(bare), 1),
                "processor_ratio": round(statistics.mean(used) / statistics.mean(bare_used), 2),
                "processor_ms": round(statistics.mean(used) * 1000, 1),
                "bare_processor_ms": round(statistics.mean(bare_used) * 1000, 1),
            }
        return found

    async def counters(self) -> dict[str, Any]:
        """What is counted of each operation, the second time that it is done."""
        for _ in range(2):
            approval = await counted_approval(self.stack, self.alice, self.server_id)
        await self._bob.create()
        await self._bob.act("start")
        for number in range(2):
            command = await counted_command(self._bob, number)
        await self._bob.act("cancel", {"reason": "done"})
        for _ in range(2):
            install = await counted_install(self._bob)
        return {
            "approval": approval.figures(),
            "command": command.figures(),
            "install": install.figures(),
        }

    async def measured(self, act: Callable[[], Awaitable[object]]) -> tuple[float, float]:
        """The seconds, and the processor seconds of this process and the server meanwhile."""
        before = self._server.processor_seconds()
        cost = await timed(act)
        return cost.seconds, cost.processor + self._server.processor_seconds() - before

    async def approve_all(self, waiting: Sequence[str]) -> None:
        await asyncio.gather(*(self._approve_to_end(dispatch) for dispatch in waiting))

    async def _approve_to_end(self, dispatch: str) -> None:
        await approve(self.alice, dispatch)
        await ended(self.stack, dispatch)

    async def _bare_all(self, width: int) -> None:
        await asyncio.gather(*(self._bare_one(handle) for handle in self._bare[:width]))

    async def _bare_one(self, handle: WorkflowHandle[Any, Any]) -> None:
        await bare_update(handle)
        await own_call(self._tool, MCPTransport.REMOTE_HTTP)


def _goal() -> dict[str, str]:
    return {"goal_description": f"Summarise the sales figures, {uuid7()}"}


@asynccontextmanager
async def bench_at(folder: Path, **fields: Any) -> AsyncIterator[Bench]:
    """Both sides over one Temporal server, and a tool server; ``fields`` are further settings of ours."""
    async with AsyncExitStack() as held:
        tool = held.enter_context(started(folder / "tool", GoodServer))
        server = await held.enter_async_context(temporal_process(folder))
        client = await Client.connect(server.address, data_converter=pydantic_data_converter)
        settings = stack_settings(folder, mcp_allow_private_addresses=True, **fields)
        stack = await held.enter_async_context(running_stack(settings, client))
        bare = [await held.enter_async_context(bare_updates(client)) for _ in range(max(WIDTHS))]
        server_id = await registered(
            stack.learner("alice", (*EVERYDAY_SCOPES, "call")), tool, MCPTransport.REMOTE_HTTP
        )
        yield Bench(stack, server, tool, server_id, bare)


async def measure(rounds: int) -> dict[str, Any]:
    """Runs the rounds and sums them up."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with bench_at(Path(name)) as bench:
            return {
                "rounds": rounds,
                "counters": await bench.counters(),
                "times": await bench.times(rounds),
                "rates": await bench.rates(rounds),
            }


def main() -> None:
    """Prints the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    print(json.dumps(asyncio.run(measure(parser.parse_args().rounds)), indent=2))


if __name__ == "__main__":
    main()
