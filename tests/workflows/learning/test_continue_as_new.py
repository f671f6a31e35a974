"""A session that outgrows its run goes on in a new one, and nobody notices."""

from collections import Counter

import pytest
from temporalio.client import WorkflowExecutionStatus

from contracts.workflow_ids import learn_session_id
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack
from workflows.learning.session_core import EVENTS_BEFORE_NEW_RUN

pytestmark = pytest.mark.anyio

MOST_MARKS = EVENTS_BEFORE_NEW_RUN // 4
"""A mark is at least four events: it is accepted, committed and completed in a workflow task."""


def label(number: int) -> dict[str, str]:
    return {"step_label": f"Step {number}"}


def labels_of(stack: Stack, learner: Learner) -> list[str | None]:
    marks = stack.services.observations.boundaries_of(learner.session_id)
    return [mark.label for mark in marks if mark.kind.value == "mark_step"]


async def current_run(stack: Stack, learner: Learner) -> str:
    description = await stack.client.get_workflow_handle(learn_session_id(learner.session_id)).describe()
    assert description.status is WorkflowExecutionStatus.RUNNING
    return description.run_id


async def mark_until_a_new_run(stack: Stack, learner: Learner) -> int:
    """Marks until the session goes on in another run; how many marks that took."""
    first = await current_run(stack, learner)
    for number in range(MOST_MARKS):
        await learner.act("mark-step", label(number), idempotency_key=f"mark-{number}")
        if number % 10 == 9 and await current_run(stack, learner) != first:
            return number + 1
    raise AssertionError(f"the session did not roll over within {MOST_MARKS} marks")


@pytest.mark.thorough
async def test_a_long_session_rolls_over_with_every_mark_once_and_is_taught_to_its_end(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start", idempotency_key="begin")
    before = await alice.act("mark-step", label(-1), idempotency_key="once")
    marked = await mark_until_a_new_run(stack, alice)

    assert await alice.act("mark-step", label(-1), idempotency_key="once") == before
    last = await alice.act("mark-step", label(marked - 1), idempotency_key=f"mark-{marked - 1}")
    assert last["session"]["updated_at"] > before["session"]["updated_at"]
    status, error = await alice.refused(
        "POST",
        f"/api/learn/sessions/{alice.session_id}/mark-step",
        label(marked),
        idempotency_key="once",
    )
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")

    assert Counter(labels_of(stack, alice)) == Counter(f"Step {number}" for number in range(-1, marked))
    assert labels_of(stack, alice) == [f"Step {number}" for number in range(-1, marked)]
    aggregate = stack.services.sessions.owned(alice.session_id, "alice")
    assert aggregate.change == marked + 3

    await alice.observe()
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    assert (await alice.propose_act("approve"))["proposal"]["proposal_state"] == "approved"
