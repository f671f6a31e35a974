"""One update with idempotency: recall first, check, send again while runs close, recall after a refusal."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from contracts.base import Contract
from contracts.errors import ErrorCode, Refusal
from contracts.platform.commands import CommitKey
from gateways.imports.skill_imports import import_id_for
from gateways.mcp.dispatch_orders import dispatch_id_of
from gateways.platform import updates
from gateways.platform.updates import (
    MOST_IN_FLIGHT,
    OWN_KEY_PREFIX,
    REOPENINGS,
    Recall,
    WorkflowWasClosing,
    as_refusals,
    no_worker_answers,
    start_options,
    start_or_join,
)
from tests.fixtures.stack import connect
from worker.embedded_temporal import free_port
from workflows.mcp.mcp_messages import SweepStart
from workflows.mcp.mcp_probe_workflow import McpHealthSweepWorkflow

pytestmark = pytest.mark.anyio

CONFLICT = "Too fast."
update_or_recall = partial(updates.update_or_recall, workflow_id="test/1")


class Receipt(Contract):
    """An answer."""

    number: int


class Workflow:
    """Answers an update after some runs that are closing, or refuses it; counts the attempts."""

    def __init__(self, closing: int = 0, refusal: Refusal | None = None) -> None:
        self.attempts = 0
        self._closing = closing
        self._refusal = refusal

    async def update(self) -> Receipt:
        self.attempts += 1
        if self.attempts <= self._closing:
            raise WorkflowWasClosing
        if self._refusal is not None:
            raise self._refusal
        return Receipt(number=self.attempts)


def recall(*found: Receipt | None, key: str = "given") -> Recall[Receipt]:
    """A store that has these answers, one after another."""
    answers = iter(found)
    commit_key = CommitKey(owner_user_id="alice", key=key, request_digest="0" * 64)
    return Recall(commit_key, lambda _: next(answers))


def refuses(code: ErrorCode) -> Callable[[], None]:
    def check() -> None:
        raise Refusal(code, "No.")

    return check


async def test_a_stored_answer_is_returned_without_check_or_update() -> None:
    workflow, stored = Workflow(), Receipt(number=7)
    check = refuses(ErrorCode.CONFLICT)
    found = await update_or_recall(workflow.update, conflict=CONFLICT, recall=recall(stored), check=check)
    assert (found, workflow.attempts) == (stored, 0)


async def test_an_update_follows_the_workflow_while_its_runs_are_closing() -> None:
    workflow = Workflow(closing=REOPENINGS - 1)
    found = await update_or_recall(workflow.update, conflict=CONFLICT, recall=recall(None))
    assert found == Receipt(number=REOPENINGS)


async def test_a_workflow_whose_every_run_is_closing_is_a_conflict() -> None:
    workflow = Workflow(closing=REOPENINGS)
    with pytest.raises(Refusal) as refused:
        await update_or_recall(workflow.update, conflict=CONFLICT)
    assert (refused.value.code, refused.value.message) == (ErrorCode.CONFLICT, CONFLICT)
    assert workflow.attempts == REOPENINGS


async def test_a_refused_update_that_was_committed_meanwhile_returns_the_stored_answer() -> None:
    workflow = Workflow(refusal=Refusal(ErrorCode.INVALID_LEARN_STATE_TRANSITION, "No."))
    stored = Receipt(number=7)
    found = await update_or_recall(workflow.update, conflict=CONFLICT, recall=recall(None, stored))
    assert (found, workflow.attempts) == (stored, 1)


@pytest.mark.parametrize("known", [True, False])
async def test_a_failed_check_sends_nothing(known: bool) -> None:
    workflow = Workflow()
    check = refuses(ErrorCode.LEARN_SESSION_NOT_FOUND)
    with pytest.raises(Refusal) as refused:
        await update_or_recall(
            workflow.update, conflict=CONFLICT, recall=recall(None, None) if known else None, check=check
        )
    assert refused.value.code is ErrorCode.LEARN_SESSION_NOT_FOUND
    assert workflow.attempts == 0


async def test_a_server_generated_key_is_looked_up_only_after_a_refusal() -> None:
    key = f"{OWN_KEY_PREFIX}1"
    found = await update_or_recall(Workflow().update, conflict=CONFLICT, recall=recall(key=key))
    assert found == Receipt(number=1)
    refusing = Workflow(refusal=Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "No."))
    stored = Receipt(number=7)
    recalled = recall(stored, key=key)
    assert await update_or_recall(refusing.update, conflict=CONFLICT, recall=recalled) == stored


def test_a_key_names_the_id_that_it_named_in_earlier_versions() -> None:
    key = CommitKey(owner_user_id="alice", key="k-1", request_digest="0" * 64)
    assert import_id_for(key) == "eb2c5bab-aea4-5f96-b0a7-16c7f990146c"
    assert dispatch_id_of(key) == "0f62e656-0770-562c-b819-cbf42fef84d3"


def test_a_server_generated_key_names_a_new_id_each_time() -> None:
    key = CommitKey(owner_user_id="alice", key=f"{OWN_KEY_PREFIX}1", request_digest="0" * 64)
    assert import_id_for(key) != import_id_for(key)
    assert dispatch_id_of(key) is None


async def test_the_running_workflow_is_tried_before_it_is_started() -> None:
    running, started = Workflow(closing=1), Workflow()
    found = await update_or_recall(started.update, conflict=CONFLICT, first=running.update)
    assert (found, running.attempts, started.attempts) == (Receipt(number=1), 1, 1)


async def test_whoever_holds_the_workflow_is_told_of_a_recalled_answer() -> None:
    told: list[Receipt] = []

    async def tell(answer: Receipt) -> None:
        told.append(answer)
        raise Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "No.")

    stored, refusing = Receipt(number=7), Workflow(refusal=Refusal(ErrorCode.CONFLICT, "No."))
    before = replace(recall(stored), tell=tell)
    after = replace(recall(None, stored), tell=tell)
    assert await update_or_recall(Workflow().update, conflict=CONFLICT, recall=before) == stored
    assert await update_or_recall(refusing.update, conflict=CONFLICT, recall=after) == stored
    assert told == [stored, stored]


@pytest.mark.parametrize(
    "status", [RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.ABORTED]
)
def test_an_update_that_an_ending_workflow_did_not_take_is_sent_again(status: RPCStatusCode) -> None:
    with pytest.raises(WorkflowWasClosing), as_refusals(no_worker_answers):
        raise RPCError("unexpected workflow task failure", status, b"")


async def test_a_workflow_is_sent_a_few_updates_at_a_time() -> None:
    at_once, most = 0, 0

    async def update() -> Receipt:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return Receipt(number=1)

    await asyncio.gather(*(update_or_recall(update, conflict=CONFLICT) for _ in range(50)))
    assert most == MOST_IN_FLIGHT


async def start(client: Client, queue: str, policy: WorkflowIDConflictPolicy) -> None:
    options = start_options(
        f"start-or-join-{queue}", queue, kind="test", owner=None, summary="a test", policy=policy
    )
    await start_or_join(client, McpHealthSweepWorkflow.run, SweepStart(), options)


async def test_a_start_joins_the_run_that_exists_unless_it_has_to_be_the_only_one(
    temporal_address: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    client = await connect(temporal_address)
    queue = str(tmp_path_factory.mktemp("queue"))
    await start(client, queue, WorkflowIDConflictPolicy.USE_EXISTING)
    handle = client.get_workflow_handle(f"start-or-join-{queue}")
    try:
        first = (await handle.describe()).run_id
        await start(client, queue, WorkflowIDConflictPolicy.USE_EXISTING)
        assert (await handle.describe()).run_id == first
        with pytest.raises(WorkflowAlreadyStartedError):
            await start(client, queue, WorkflowIDConflictPolicy.FAIL)
    finally:
        await handle.terminate()


async def test_a_start_where_temporal_is_away_is_refused() -> None:
    client = await connect(f"127.0.0.1:{free_port()}", lazy=True)
    with pytest.raises(Refusal) as refused:
        await start(client, "nowhere", WorkflowIDConflictPolicy.USE_EXISTING)
    assert refused.value.code is ErrorCode.TEMPORAL_UNAVAILABLE
