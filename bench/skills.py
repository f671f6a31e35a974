"""An invocation of a skill from the API to its handler and back, and a kept answer, each beside its floor.

The floor of an invocation is what a program without us does: a bare Temporal workflow with one activity, awaited, and
a bare start of the interpreter that answers. The floor of a kept answer is a plain read route of the same API. The
sides take turns on the same embedded server, so that the ratios hold on any machine.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from temporalio.client import Client as TemporalClient
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker
from uuid_utils import uuid7

from bench.bare_activity import BareActivity, bare_activity
from bench.counters import Counts, counting
from bench.temporal_server import temporal_at
from tests.fixtures.learner import Learner
from tests.fixtures.skill_folders import add_skill
from tests.fixtures.stack import EVERYDAY_SCOPES, running_stack, stack_settings

MAX_RATIO = 2.0
MAX_CACHED_RATIO = 1.5
MAX_CACHED_STATEMENTS = 10
"""SQL statements of a kept answer; ``tests/bench`` keeps this bound."""

RUNS_A_ROUND, READS_A_ROUND = 3, 20
_ANSWER = "import json, sys; json.loads(sys.stdin.readline()); print(json.dumps({'success': True}))"


async def bare_workflow(client: TemporalClient, queue: str) -> float:
    """Seconds for a bare workflow with one activity, from its start to its result."""
    begun = time.monotonic()
    await client.execute_workflow(BareActivity.run, "x", id=f"bare/{uuid7()}", task_queue=queue)
    return time.monotonic() - begun


async def bare_process() -> float:
    """Seconds for a bare interpreter that reads a line of JSON and answers one, from its start to its end."""
    begun = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ANSWER, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    await process.communicate(b"{}\n")
    return time.monotonic() - begun


async def invoked(who: Learner, skill: str, given: dict[str, Any]) -> float:
    """Seconds for an invocation, from the request to its outcome."""
    begun = time.monotonic()
    path = f"/api/skills/{skill}/invocations"
    view = await who.ok("POST", path, {"input": given}, prefer="wait=30")
    taken = time.monotonic() - begun
    assert view["status"] == "success", view
    return taken


async def counted_answer(who: Learner, skill: str) -> Counts:
    """What is counted for a kept answer."""
    with counting() as counts:
        await invoked(who, skill, {})
    return counts


async def read(who: Learner, invocation_id: str) -> float:
    """Seconds for a plain read of one object."""
    begun = time.monotonic()
    await who.ok("GET", f"/api/skills/invocations/{invocation_id}")
    return time.monotonic() - begun


async def measure(rounds: int) -> dict[str, Any]:
    """Runs the rounds and sums them up."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with temporal_at(Path(name)) as address:
            client = await TemporalClient.connect(address, data_converter=pydantic_data_converter)
            settings = stack_settings(
                Path(name), skill_calls_per_minute=100_000, skill_calls_per_hour=1_000_000
            )
            queue = f"bare-{uuid7()}"
            async with (
                running_stack(settings, client) as stack,
                Worker(client, task_queue=queue, workflows=[BareActivity], activities=[bare_activity]),
            ):
                who = stack.learner("alice", (*EVERYDAY_SCOPES, "call", "admin"))
                await add_skill(who, settings.workspace, "look")
                await add_skill(who, settings.workspace, "look-again", cache_ttl_ms=3_600_000)
                await invoked(who, "look-again", {})
                (kept,) = (await who.ok("GET", "/api/skills/invocations"))["invocations"]
                runs = await _in_turn(
                    rounds,
                    RUNS_A_ROUND,
                    {
                        "invocation": lambda: invoked(who, "look", {}),
                        "workflow": lambda: bare_workflow(client, queue),
                        "process": bare_process,
                    },
                )
                reads = await _in_turn(
                    rounds,
                    READS_A_ROUND,
                    {
                        "cached": lambda: invoked(who, "look-again", {}),
                        "read": lambda: read(who, kept["invocation_id"]),
                    },
                )
    floor = runs["workflow"] + runs["process"]
    return {
        "rounds": rounds,
        "ratio": round(runs["invocation"] / floor, 2),
        "cached_ratio": round(reads["cached"] / reads["read"], 2),
        **{f"{name}_ms": round(seconds * 1000, 2) for name, seconds in (runs | reads).items()},
    }


async def _in_turn(
    rounds: int, times: int, sides: dict[str, Callable[[], Awaitable[float]]]
) -> dict[str, float]:
    """The median seconds of each side; the first round warms up."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for _ in range(times):
            for name, side in sides.items():
                seconds = await side()
                if number:
                    taken[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def main() -> None:
    """Prints the result as JSON; exit code 1 when a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    result = asyncio.run(measure(parser.parse_args().rounds))
    print(json.dumps(result, indent=2))
    raise SystemExit(0 if result["ratio"] <= MAX_RATIO and result["cached_ratio"] <= MAX_CACHED_RATIO else 1)


if __name__ == "__main__":
    main()
