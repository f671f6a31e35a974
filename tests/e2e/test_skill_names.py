"""A skill's name is chosen so that it is free, and nothing says whose the other one is."""

import json

import pytest

from tests.e2e.ability_owner import GOAL, owner_of_one
from tests.fixtures.stack import Stack


@pytest.mark.anyio
async def test_a_name_that_another_person_has_is_not_chosen_and_not_spoken_of(stack: Stack) -> None:
    theirs = await owner_of_one(stack, "alice", lane="experimental_private")
    bob = stack.learner("bob")
    await bob.teach(GOAL, allow_private_install=True)
    proposal = await bob.ok("GET", f"/api/learn/proposals/{bob.proposal_id}/detail")
    taken = (await theirs.detail())["ability"]["skill_slug"]
    chosen = proposal["proposal"]["proposed_skill_slug"]
    assert chosen.startswith(f"{taken}-")
    assert "alice" not in json.dumps(proposal)
    assert theirs.ability_id not in json.dumps(proposal).replace(f"learned.{chosen}", "")
    installed = await bob.propose_act("install", {"install_lane": "experimental_private"})
    assert installed["ability_id"] == f"learned.{chosen}"
