"""Workflows in flight survive a deployment: every recorded history replays against the present code."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from tests.fixtures.checked_once import CheckedOnce
from tests.replay.divergent import DivergentLearnSessionWorkflow
from tests.replay.record import HISTORIES, OF_THE_MACHINE
from tests.replay.scenarios import PATHS
from worker.composition import WORKFLOWS, sandboxed
from workflows.learning.learn_session_workflow import LearnSessionWorkflow

pytestmark = pytest.mark.anyio

# What a person is told to do next names routes of the API, which are the same on every machine.
ABSOLUTE_PATH = re.compile(r"(?:^|[\s\"'=(:])/(?!api/)\w[\w.-]*/[\w.-]")
RECORDED = sorted(HISTORIES.rglob("*.json"))


def replayer(workflows: Sequence[type]) -> Replayer:
    """Replays as the worker runs: same converter, same sandbox."""
    return Replayer(
        workflows=workflows,
        data_converter=pydantic_data_converter,
        workflow_runner=sandboxed(CheckedOnce),
    )


def history_in(file: Path) -> WorkflowHistory:
    """A recorded history under the workflow id that its first event names."""
    recorded = json.loads(file.read_text())
    started = recorded["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], recorded)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a history, payloads decoded."""
    if isinstance(value, str):
        yield value
    for name, item in items_of(value):
        if name == "data" and isinstance(item, str):
            yield base64.b64decode(item).decode()
        else:
            yield from texts_in(item)


def items_of(value: Any) -> Iterable[tuple[str | int, Any]]:
    """What an object or an array holds, by name or place; nothing for a plain value."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def names_in(value: Any) -> Iterator[str | int]:
    """Every field name in a history."""
    for name, item in items_of(value):
        yield name
        yield from names_in(item)


def closing_event(path: str, kind: str) -> str:
    """How the newest recorded run of this kind ended."""
    newest = max((HISTORIES / path).glob(f"{kind}*.json"), key=lambda file: (len(file.name), file.name))
    event: str = json.loads(newest.read_text())["events"][-1]["eventType"]
    return event


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parent.name}/{file.stem}")
async def test_a_recorded_history_replays_against_the_present_workflows(file: Path) -> None:
    await replayer(WORKFLOWS).replay_workflow(history_in(file))


@pytest.mark.parametrize("path", PATHS)
async def test_a_workflow_that_differs_by_one_timer_is_caught(path: str) -> None:
    others = [one for one in WORKFLOWS if one is not LearnSessionWorkflow]
    divergent = replayer([*others, DivergentLearnSessionWorkflow])
    with pytest.raises(NondeterminismError):
        await divergent.replay_workflow(history_in(HISTORIES / path / "learn-session.json"))


def test_every_path_has_its_history_and_no_history_is_without_a_path() -> None:
    recorded = {folder.name for folder in HISTORIES.iterdir() if (folder / "learn-session.json").is_file()}
    assert recorded == set(PATHS)
    assert {file.parent.name for file in RECORDED} == set(PATHS)


@pytest.mark.parametrize(
    ("path", "kind", "ended"),
    [
        ("approved", "learn-session", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("approved", "install-saga", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("cancelled", "validation-run", "EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED"),
        ("rechecked", "capability-reprobe", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("mined", "skill-mining", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("mined", "mined-skill", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("practised", "practice", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("practised_with_a_model", "practice", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("maintained", "nightly-maintenance-manual", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("tools_called", "mcp-dispatch", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("ability_withdrawn", "ability", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("signed_in", "auth-profile", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("servers_looked_at", "mcp-probe", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("servers_looked_at", "mcp-health", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("skills_run", "skill-invocation", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("skills_run", "skill-catalog", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("reminded", "check-in", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("reminded", "skill-invocation", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("packs_installed", "pack-install", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("import_validated", "skill-import", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("import_validated", "import-validation", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("install_rolled_back", "install-saga", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
        ("continued_as_new", "learn-session", "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"),
    ],
)
def test_the_histories_show_what_their_path_says(path: str, kind: str, ended: str) -> None:
    assert closing_event(path, kind) == ended


def test_the_rollover_is_in_the_history_of_the_path_that_is_named_after_it() -> None:
    first = json.loads((HISTORIES / "continued_as_new" / "learn-session.json").read_text())
    assert first["events"][-1]["eventType"] == "EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW"


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_recorded_history_names_nothing_of_the_machine_that_recorded_it(file: Path) -> None:
    recorded = json.loads(file.read_text())
    assert not OF_THE_MACHINE & set(names_in(recorded))
    assert [text for text in texts_in(recorded) if ABSOLUTE_PATH.search(text)] == []
