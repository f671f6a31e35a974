"""One person teaches one ability, start to finish, through the API and real workflows."""

import json

import pytest

from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


@pytest.mark.everyday
@pytest.mark.acceptance("R11.2-04", "R11.2-12", "R11.2-29", "R11.2-30")
@pytest.mark.acceptance("0A.33-1", "0A.33-9")
async def test_a_demonstrated_task_becomes_an_ability_that_a_lookup_finds(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("pause")
    await alice.act("resume")
    await alice.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await alice.observe()
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    approved = await alice.propose_act("approve")

    assert approved["proposal"]["proposal_state"] == "approved"
    assert await alice.state() == "approved"
    snapshot = json.loads(
        (stack.settings.memory_root / "system/abilities/availability_current.json").read_text()
    )
    (entry,) = snapshot["abilities"]
    assert entry["usable_now"] is True
    found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": "summarise the sales figures"})
    assert found["matches"][0]["ability_id"] == entry["ability_id"]
    assert found["matches"][0]["score"] >= 0.15
    skill = stack.settings.workspace / "skills" / entry["skill_slug"] / "SKILL.md"
    assert skill.read_text().startswith("---\nname: ")
