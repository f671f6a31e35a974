"""A secret that somebody types into a text field reaches neither history nor store."""

import pytest

from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def test_secrets_in_goals_steps_and_reasons_are_masked_everywhere(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": f"Push with token {SECRET} to the mirror"})
    await alice.act("mark-step", {"step_label": f"log in with {SECRET}"})
    await alice.act("cancel", {"reason": f"I typed {SECRET}"})
    handle = stack.client.get_workflow_handle(f"learn-session/{alice.session_id}")
    history = (await handle.fetch_history()).to_json()
    assert SECRET not in history
    marks = stack.services.observations.boundaries_of(alice.session_id)
    assert [SECRET in (mark.label or "") for mark in marks] == [False, False, False]
    assert any("mirror" in (mark.label or "") for mark in marks)
    body = await alice.ok("GET", f"/api/learn/receipts?learn_session_id={alice.session_id}")
    assert SECRET not in str(body)
