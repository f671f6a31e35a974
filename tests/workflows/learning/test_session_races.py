"""Seeded crowds of commands to one session: a legal sequence, each command once, and a workflow that knows it."""

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import anyio
import httpx
from temporalio.client import WorkflowUpdateFailedError

from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST, may_go
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import learn_session_id
from tests.fixtures.crowds import CROWDED, ROUNDS, all_answered, each_crowd
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack
from workflows.learning.learn_session_messages import LearnCommand

pytestmark = [*CROWDED]

MOVES = ("pause", "pause", "resume", "resume", "mark-step", "mark-step", "mark-step", "stop", "cancel")
RARE = frozenset({"stop", "cancel"})


def moves_of(seeded: Random, crowd: int) -> list[tuple[str, str]]:
    """So many commands, each with its key; what ends the capture comes now and then."""
    moves: list[str] = []
    while len(moves) < crowd:
        move = seeded.choice(MOVES)
        if move not in RARE or seeded.random() < 0.2:
            moves.append(move)
    return [(move, f"{move}-{number}") for number, move in enumerate(moves)]


def states_of(stack: Stack, session_id: str) -> list[LearnSessionState]:
    """The states that the session went through, as its journal has them."""
    states = [entry.state for entry in stack.services.tail.replay(session_id, 0) if entry.state is not None]
    return [state for place, state in enumerate(states) if place == 0 or states[place - 1] is not state]


@each_crowd
async def test_of_a_crowd_each_command_counts_once_and_the_workflow_knows_the_end(
    stack: Stack, crowd: int
) -> None:
    for seed in range(ROUNDS):
        alice = stack.learner(f"alice-{seed}")
        await alice.create()
        await alice.act("start")
        before = stack.services.sessions.owned(alice.session_id, alice.user).change
        moves = moves_of(Random(seed), crowd)

        async def send(move: tuple[str, str], alice: Learner = alice) -> httpx.Response:
            action, key = move
            body = {"step_label": key} if action == "mark-step" else None
            path = f"/api/learn/sessions/{alice.session_id}/{action}"
            return await alice.call("POST", path, body, idempotency_key=key)

        answers = await all_answered(moves, send)
        taken = [move for move, answer in zip(moves, answers, strict=True) if answer.is_success]
        refused = [answer for answer in answers if not answer.is_success]
        assert {one.json()["error"]["code"] for one in refused} <= {
            "INVALID_LEARN_STATE_TRANSITION",
            "CAPTURE_ALREADY_STOPPED",
        }
        assert_the_store_has_each_once(stack, alice, taken, before)
        await assert_the_workflow_knows(stack, alice)


def assert_the_store_has_each_once(
    stack: Stack, alice: Learner, taken: list[tuple[str, str]], before: int
) -> None:
    """A change for each command that was taken, and for no other."""
    after = stack.services.sessions.owned(alice.session_id, alice.user)
    states = states_of(stack, alice.session_id)
    assert all(may_go(a, b) for a, b in pairwise(states))
    assert after.session.state is states[-1]
    assert after.change == before + len(taken)
    marks = [one.label for one in stack.services.observations.boundaries_of(alice.session_id) if one.label]
    assert Counter(marks) == Counter(key for move, key in taken if move == "mark-step")


async def assert_the_workflow_knows(stack: Stack, alice: Learner) -> None:
    """A command that the state allows is taken by the run itself, which no gateway tells of the store."""
    handle = stack.client.get_workflow_handle(learn_session_id(alice.session_id))
    state = stack.services.sessions.owned(alice.session_id, alice.user).session.state
    with anyio.fail_after(30):
        if state in AT_REST:
            await handle.result()
            return
        key = CommitKey(owner_user_id=alice.user, key="last", request_digest="0" * 64)
        message: Any = LearnCommand(commit_key=key, correlation_id="last")
        while await alice.state() != "cancelled":
            try:
                await handle.execute_update("cancel", message)  # pyright: ignore[reportUnknownMemberType]
            except WorkflowUpdateFailedError:
                await anyio.sleep(0.05)
