"""Commands that race: one legal sequence comes out, and nobody is told that something went wrong inside."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from temporalio import activity
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError

from config.settings import Settings
from contracts.errors import ErrorCode
from contracts.learning.aggregate import CommitResult, SessionCommit
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import may_go
from contracts.workflow_ids import learn_session_id
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.composition import WorkerParts, compose

pytestmark = pytest.mark.anyio

NEW_SESSION = {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"}
LANES_AFTER = {"approved": ["approved_workspace"], "installed_private": ["experimental_private"]}
RETRYABLE_STATUS = frozenset({409, 429, 503})


async def at_once(learner: Learner, *requests: tuple[str, Any, dict[str, str]]) -> list[httpx.Response]:
    """Sends every (path, body, headers) at the same time; the answers in the order of the requests."""
    answers: list[httpx.Response | None] = [None] * len(requests)

    async def send(place: int, path: str, body: Any, headers: dict[str, str]) -> None:
        answers[place] = await learner.call("POST", path, body, **headers)

    async with anyio.create_task_group() as group:
        for place, (path, body, headers) in enumerate(requests):
            group.start_soon(send, place, path, body, headers)
    return [answer for answer in answers if answer is not None]


def on(learner: Learner, action: str, body: Any = None, **headers: str) -> tuple[str, Any, dict[str, str]]:
    return f"/api/learn/sessions/{learner.session_id}/{action}", body, headers


def states_of(stack: Stack, session_id: str) -> list[LearnSessionState]:
    """The states the session went through, as its journal has them."""
    entries = stack.services.tail.replay(session_id, 0)
    states = [entry.state for entry in entries if entry.state is not None]
    return [state for place, state in enumerate(states) if place == 0 or states[place - 1] is not state]


def assert_answers_are_wellformed(answers: list[httpx.Response]) -> None:
    for answer in answers:
        if answer.is_success:
            continue
        error = answer.json()["error"]
        refused = error["code"] == "INVALID_LEARN_STATE_TRANSITION"
        assert refused or (error["retryable"] and answer.status_code in RETRYABLE_STATUS), answer.text


async def test_racing_pauses_resumes_and_a_cancel_leave_one_legal_sequence(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    before = stack.services.sessions.owned(alice.session_id, "alice").change
    racing = [on(alice, action) for action in ("pause", "resume") * 10]
    answers = await at_once(alice, *racing[:10], on(alice, "cancel"), *racing[10:])
    assert_answers_are_wellformed(answers)
    states = states_of(stack, alice.session_id)
    assert all(may_go(a, b) for a, b in pairwise(states))
    taken = sum(answer.is_success for answer in answers)
    after = stack.services.sessions.owned(alice.session_id, "alice")
    assert after.change == before + taken
    changed_to = states[states.index(LearnSessionState.CAPTURING) + 1 :]
    assert Counter(a.json()["session"]["state"] for a in answers if a.is_success) == Counter(
        state.value for state in changed_to
    )
    assert after.session.state is states[-1]


@pytest.mark.thorough
async def test_more_marks_at_once_than_the_server_takes_in_flight_are_each_kept_once(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    marks = [
        on(alice, "mark-step", {"step_label": f"Step {number}"}, idempotency_key=f"mark-{number}")
        for number in range(40)
    ]
    pending = marks
    with anyio.fail_after(60):
        while pending:
            answers = await at_once(alice, *pending)
            assert_answers_are_wellformed(answers)
            pending = [mark for mark, answer in zip(pending, answers, strict=True) if not answer.is_success]
    labels = [
        mark.label for mark in stack.services.observations.boundaries_of(alice.session_id) if mark.label
    ]
    assert Counter(labels) == Counter(f"Step {number}" for number in range(40))


async def test_the_same_command_sent_many_times_at_once_under_one_key_is_taken_once(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    answers = await at_once(
        alice, *[on(alice, "mark-step", {"step_label": "Once"}, idempotency_key="once")] * 20
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    marks = stack.services.observations.boundaries_of(alice.session_id)
    assert [mark.label for mark in marks if mark.label] == ["Once"]


async def test_racing_decisions_on_a_proven_proposal_leave_one_legal_sequence(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    path = f"/api/learn/proposals/{alice.proposal_id}"
    answers = await at_once(
        alice,
        *[(f"{path}/approve", None, {})] * 4,
        *[(f"{path}/install", {"install_lane": "experimental_private"}, {})] * 4,
        *[(f"{path}/reject", {"reason": "not what I meant"}, {})] * 4,
        *[(f"{path}/revise", {"revision_instructions": "once more"}, {})] * 4,
    )
    assert {answer.status_code for answer in answers} <= {200, 400, *RETRYABLE_STATUS}
    assert any(answer.is_success for answer in answers)
    states = states_of(stack, alice.session_id)
    assert all(may_go(a, b) for a, b in pairwise(states))
    state = stack.services.sessions.owned(alice.session_id, "alice").session.state
    assert state is states[-1]
    lanes = [entry.install_lane.value for entry in stack.services.abilities.entries()]
    assert lanes == LANES_AFTER.get(state.value, [])


async def test_of_two_creates_at_once_one_wins_and_the_other_is_told_which(stack: Stack) -> None:
    alice = stack.learner()
    request = ("/api/learn/sessions", NEW_SESSION, {})
    won, lost = sorted(await at_once(alice, request, request), key=lambda answer: answer.status_code)
    assert (won.status_code, lost.status_code) == (201, 409)
    error = lost.json()["error"]
    assert error["code"] == "LEARN_SESSION_ALREADY_ACTIVE"
    assert error["active_session_id"] == won.json()["session"]["learn_session_id"]
    assert await open_workflows(stack) == {learn_session_id(error["active_session_id"])}


async def test_creates_at_once_under_one_key_make_one_session_and_one_workflow(stack: Stack) -> None:
    alice = stack.learner()
    request = ("/api/learn/sessions", NEW_SESSION, {"idempotency_key": "new"})
    answers = await at_once(alice, *[request] * 5)
    assert {answer.status_code for answer in answers} == {201}
    (session_id,) = {answer.json()["session"]["learn_session_id"] for answer in answers}
    assert await open_workflows(stack) == {learn_session_id(session_id)}


async def open_workflows(stack: Stack) -> set[str]:
    """The workflows that stay open, once visibility lists every run the gateway can have started."""
    query = f"TaskQueue = '{stack.settings.task_queue}'"
    running: list[str] = []
    with anyio.move_on_after(10):
        while True:
            runs = [run async for run in stack.client.list_workflows(query)]
            running = [run.id for run in runs if run.status is WorkflowExecutionStatus.RUNNING]
            if len(runs) == stack.services.gateway.calls and len(running) == 1:
                break
            await anyio.sleep(0.05)
    return set(running)


async def test_a_command_that_was_written_is_answered_so_though_the_workflow_lost_it(
    tmp_path: Path, temporal_address: str
) -> None:
    def losing_pauses(settings: Settings) -> WorkerParts:
        parts = compose(settings)
        (commit,) = (one for one in parts.activities if one.__name__ == "commit_session")

        @activity.defn(name="commit_session")
        def commit_session(asked: SessionCommit) -> CommitResult:
            result: CommitResult = commit(asked)
            if asked.aggregate.session.state is LearnSessionState.PAUSED:
                raise ApplicationError("overtaken", type=ErrorCode.CONFLICT.value, non_retryable=True)
            return result

        others = tuple(one for one in parts.activities if one.__name__ != "commit_session")
        return replace(parts, activities=(*others, commit_session))

    settings = stack_settings(tmp_path)
    async with running_stack(settings, await connect(temporal_address), losing_pauses) as stack:
        alice = stack.learner()
        await alice.create()
        await alice.act("start")
        assert (await alice.act("pause"))["session"]["state"] == "paused"
        assert (await alice.act("resume"))["session"]["state"] == "capturing"
