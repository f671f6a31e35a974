"""Records the histories that replay tests run against: ``python -m tests.replay.record [path …]``."""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus, WorkflowHistory

from contracts.workflow_ids import learn_session_id
from tests.replay.scenarios import PATHS, Setting, scene_of
from workflows.platform.search_attributes import OWNER_ATTRIBUTE

HISTORIES = Path(__file__).parent / "histories"

OF_THE_MACHINE = frozenset({"identity", "stackTrace", "workerVersion", "binaryChecksum"})
"""Fields of events that name the recording machine and that replaying does not read."""

ENDS_WITHIN_SECONDS = 30


async def record(name: str, setting: Setting) -> None:
    """Walks one path and writes the history of every run that it made, replacing the ones before."""
    with TemporaryDirectory() as folder:
        async with scene_of(setting, Path(folder)) as scene:
            learner = await setting.walk(scene)
            client = scene.stack.client
            await client.get_workflow_handle(learn_session_id(learner.session_id)).result()
            runs = await runs_of(client, learner.user, setting.also)
            histories = [await history_of(client, run) for run in runs]
    target = HISTORIES / name
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.json"):
        old.unlink()
    for file, history in zip(file_names(runs), histories, strict=True):
        (target / file).write_text(json.dumps(history, indent=1, sort_keys=True) + "\n")


async def runs_of(client: Client, user: str, also: Sequence[str] = ()) -> Sequence[WorkflowExecution]:
    """Every run of the user's workflows, oldest first, once the last has ended and all are listed.

    ``also`` are the ids of workflows that belong to nobody.
    """
    query = " OR ".join([f"{OWNER_ATTRIBUTE.name} = '{user}'", *(f"WorkflowId = '{one}'" for one in also)])
    with anyio.fail_after(ENDS_WITHIN_SECONDS):
        while True:
            runs = [run async for run in client.list_workflows(query)]
            open_ones = [run for run in runs if run.status is WorkflowExecutionStatus.RUNNING]
            if runs and not open_ones and await are_listed(client, runs):
                return sorted(runs, key=lambda run: (run.start_time, run.run_id))
            await anyio.sleep(0.1)


async def are_listed(client: Client, runs: Sequence[WorkflowExecution]) -> bool:
    """Whether the newest run of each workflow is among those that visibility knows already."""
    known = {run.run_id for run in runs}
    newest = [await client.get_workflow_handle(one).describe() for one in {run.id for run in runs}]
    return all(one.run_id in known for one in newest)


async def history_of(client: Client, run: WorkflowExecution) -> Mapping[str, Any]:
    """One run's history without anything of the machine that ran it."""
    history: WorkflowHistory = await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
    cleaned: Mapping[str, Any] = without_machine(history.to_json_dict())
    return cleaned


def without_machine(value: Any) -> Any:
    """``value`` without the fields that name the machine; a sticky queue goes by its lasting name."""
    if isinstance(value, list):
        return [without_machine(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "TASK_QUEUE_KIND_STICKY":
        return {"name": value["normalName"], "kind": "TASK_QUEUE_KIND_NORMAL"}
    return {name: without_machine(item) for name, item in value.items() if name not in OF_THE_MACHINE}


def file_names(runs: Sequence[WorkflowExecution]) -> Iterator[str]:
    """``<kind>.json``, numbered from the second run of a kind on."""
    seen: dict[str, int] = {}
    for run in runs:
        kind = run.id.split("/")[0]
        seen[kind] = seen.get(kind, 0) + 1
        yield f"{kind}.json" if seen[kind] == 1 else f"{kind}-{seen[kind]}.json"


async def main(names: Sequence[str]) -> None:
    """Records the named paths, or all."""
    for name in names or PATHS:
        await record(name, PATHS[name])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
