"""A whole session lifecycle beside a bare Temporal workflow that takes the same number of updates.

Both run on the same embedded server in the same process, one after the other in each round, so that the ratio
holds on any machine. The counters are exact: calls to Temporal, and history events over all workflows.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker
from uuid_utils import uuid7

from bench.bare_updates import BareUpdates
from bench.cost import Cost, timed
from bench.temporal_server import temporal_at
from contracts.workflow_ids import install_saga_id, learn_session_id, validation_run_id
from tests.fixtures.learner import SALES_REPORT, Learner
from tests.fixtures.stack import Stack, running_stack, stack_settings

OBSERVED_EVENTS = 100
MAX_CALLS = 12
MAX_EVENTS = 90


async def bare(client: Client, task_queue: str, updates: int) -> float:
    """Seconds for one bare workflow to take its updates."""
    begun = time.perf_counter()
    start = WithStartWorkflowOperation(
        BareUpdates.run,
        updates,
        id=f"bare/{uuid7()}",
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    await client.execute_update_with_start_workflow(BareUpdates.step, start_workflow_operation=start)
    handle = await start.workflow_handle()
    for _ in range(updates - 1):
        await handle.execute_update(BareUpdates.step)
    return time.perf_counter() - begun


async def lifecycle(alice: Learner) -> dict[str, Cost]:
    """What each step of one session costs from its creation to its approval, its rehearsal left out."""
    looking = [(f"grep -c line{n} reports/sales.csv", ()) for n in range(OBSERVED_EVENTS - len(SALES_REPORT))]
    costs = {
        "create": await timed(alice.create),
        "observe": await timed(lambda: alice.observe([*SALES_REPORT, *looking])),
        "stop": await timed(lambda: alice.act("stop")),
        "draft": await timed(alice.propose),
    }
    assert await alice.prove() == "ready_for_review", "the session must end where it is expected"
    costs["install"] = await timed(lambda: alice.propose_act("approve"))
    return costs


def whole(costs: Mapping[str, Cost]) -> float:
    """The seconds of all steps together."""
    return sum(cost.seconds for cost in costs.values())


async def history_events(client: Client, stack: Stack, session_id: str) -> dict[str, int]:
    """History events of the session's workflows, by kind of workflow."""
    saga = (await stack_saga(stack, session_id)) or ""
    run = stack.services.sessions.owned(session_id, "alice").session.validation_run_id
    counts: dict[str, int] = {}
    for workflow_id in (learn_session_id(session_id), validation_run_id(run), install_saga_id(saga)):
        history = await client.get_workflow_handle(workflow_id).fetch_history()
        counts[workflow_id.partition("/")[0]] = len(history.events)
    return counts


async def stack_saga(stack: Stack, session_id: str) -> str | None:
    """The saga that the session's lifecycle names."""
    for entry in stack.services.tail.replay(session_id, 0):
        payload = json.loads(entry.document)["payload"]
        if "saga_id" in payload:
            return str(payload["saga_id"])
    return None


async def measure(rounds: int) -> dict[str, Any]:
    """Runs the rounds and sums them up."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        async with temporal_at(Path(folder)) as address:
            client = await Client.connect(address, data_converter=pydantic_data_converter)
            async with running_stack(stack_settings(Path(folder)), client) as stack:
                return await _rounds(client, stack, rounds)


async def _rounds(client: Client, stack: Stack, rounds: int) -> dict[str, Any]:
    queue = f"bare-{uuid7()}"
    ratios: list[float] = []
    ours: list[Mapping[str, Cost]] = []
    calls = 0
    events: dict[str, int] = {}
    async with Worker(client, task_queue=queue, workflows=[BareUpdates]):
        for number in range(rounds + 1):
            alice = stack.learner("alice")
            before = stack.services.gateway.calls
            taken = await lifecycle(alice)
            calls = stack.services.gateway.calls - before
            floor = await bare(client, queue, calls)
            if number:  # the first round warms up
                ratios.append(whole(taken) / floor)
                ours.append(taken)
            events = await history_events(client, stack, alice.session_id)
    return {
        "rounds": rounds,
        "ratio_to_bare_updates": round(statistics.median(ratios), 2),
        "lifecycle_ms": round(statistics.median(map(whole, ours)) * 1000),
        "steps_ms": {step: _median(one[step].seconds for one in ours) for step in ours[0]},
        "processor_ms_by_step": {step: _median(one[step].processor for one in ours) for step in ours[0]},
        "temporal_calls": calls,
        "temporal_calls_allowed": MAX_CALLS,
        "history_events": sum(events.values()),
        "history_events_allowed": MAX_EVENTS,
        "history_events_by_workflow": events,
    }


def _median(seconds: Iterable[float]) -> float:
    return round(statistics.median(seconds) * 1000, 1)


def main() -> None:
    """Prints the result as JSON; exit code 1 when a counter is over its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    result = asyncio.run(measure(parser.parse_args().rounds))
    print(json.dumps(result, indent=2))
    within = result["temporal_calls"] <= MAX_CALLS and result["history_events"] <= MAX_EVENTS
    raise SystemExit(0 if within else 1)


if __name__ == "__main__":
    main()
