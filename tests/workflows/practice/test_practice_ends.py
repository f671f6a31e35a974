"""The record of a practice ends with its workflow, also where its session cannot be reached."""

from datetime import timedelta
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.testing import TimeSkipper
from temporalio.worker import Worker

from contracts.errors import ErrorCode, Refusal
from contracts.practice.practice import PracticeClosing, PracticeRef, PracticeRun, PracticeState
from contracts.workflow_ids import practice_id
from gateways.practice.practice import PracticeGateway
from stores.practice.practice import PracticeStore
from tests.fixtures.practised import add_practice, practice_of
from tests.fixtures.practising import begin, ended
from tests.fixtures.stack import Stack, connect
from worker.embedded_temporal import free_port
from worker.recovery import recover_practices
from workflows.practice.practice_messages import PracticeStart
from workflows.practice.practice_workflow import PracticeWorkflow

pytestmark = pytest.mark.anyio


class UnreachableSession:
    """A session that takes no command, and the record of its practice."""

    def __init__(self, run: PracticeRun) -> None:
        self.run = run

    @activity.defn
    async def begin_practice(self, ref: PracticeRef) -> PracticeRun:
        raise _refused()

    @activity.defn
    async def end_practice(self, closing: PracticeClosing) -> PracticeRun:
        raise _refused()

    @activity.defn
    async def close_practice(self, closing: PracticeClosing) -> PracticeRun:
        self.run = self.run.changed(state=closing.state, note=closing.note)
        return self.run


def _refused() -> ApplicationError:
    return ApplicationError(
        "The session takes nothing.", type=ErrorCode.ADAPTER_UNAVAILABLE, non_retryable=True
    )


async def test_a_practice_whose_session_refuses_to_end_it_closes_its_record(
    skipping_env: TimeSkipper,
) -> None:
    session_id, queue = str(uuid4()), f"test-{uuid4()}"
    run, _ = practice_of("alice", session_id)
    session = UnreachableSession(run)
    ref = PracticeRef(learn_session_id=session_id, owner_user_id="alice", correlation_id="c-1")
    work = (session.begin_practice, session.end_practice, session.close_practice)
    async with Worker(skipping_env.client, task_queue=queue, workflows=[PracticeWorkflow], activities=work):
        end = await skipping_env.client.execute_workflow(
            PracticeWorkflow.run, PracticeStart(ref=ref), id=practice_id(session_id), task_queue=queue
        )
    assert end.state is PracticeState.FAILED
    assert (session.run.state, session.run.note) == (PracticeState.FAILED, "The session takes nothing.")


async def test_a_practice_of_a_session_that_was_left_is_found_and_closed_by_a_worker(stack: Stack) -> None:
    alice = stack.learner()
    await begin(alice)
    add_practice(stack.database, alice.user, alice.session_id)
    await alice.act("cancel")
    assert await recover_practices(stack.client, stack.settings, stack.database, timedelta(hours=1)) == 0
    assert await recover_practices(stack.client, stack.settings, stack.database) == 1
    assert (await ended(alice))["state"] == "cancelled"
    assert await recover_practices(stack.client, stack.settings, stack.database) == 0


async def test_a_start_that_fails_leaves_the_practice_that_another_start_was_told_of(stack: Stack) -> None:
    alice = stack.learner()
    await begin(alice)
    practices = PracticeStore(stack.database)
    run, request = practice_of(alice.user, alice.session_id)
    unreachable = await connect(f"127.0.0.1:{free_port()}", lazy=True)
    with pytest.raises(Refusal) as refused:
        await PracticeGateway(unreachable, stack.settings.task_queue, practices).start(run, request)
    assert refused.value.code is ErrorCode.TEMPORAL_UNAVAILABLE
    assert practices.get(alice.session_id).state is PracticeState.RUNNING
    await PracticeGateway(stack.client, stack.settings.task_queue, practices).start(run, request)
    assert (await ended(alice))["state"] != "running"
