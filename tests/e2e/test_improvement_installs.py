"""Installing an improvement: tried privately first, and undone without losing what a hand has written."""

from pathlib import Path

import pytest

from contracts.learning.install import SagaStepName
from tests.fixtures.failing_installs import failing_at
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio

EDITS = {"non_use_conditions": ["The figures are still being collected"]}


async def improve(learner: Learner, ability_id: str) -> None:
    """An improvement by words, proven."""
    await learner.create(
        entry_mode="improving_existing_skill", observation_mode="none", target_skill_id=ability_id
    )
    await learner.act("stop")
    await learner.propose()
    await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": EDITS})
    assert await learner.prove() == "ready_for_review"


async def test_an_improvement_of_a_private_skill_is_tried_privately_then_approved(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach(allow_private_install=True)
    installed = await alice.propose_act("install", {"install_lane": "experimental_private"})
    await improve(alice, installed["ability_id"])
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    assert await alice.state() == "installed_private"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert detail["base"]["stale"] is False
    await alice.propose_act("approve")

    versions = await alice.ok("GET", f"/api/abilities/{installed['ability_id']}/versions")
    assert [v["version"] for v in versions["versions"]] == [3, 2, 1]
    assert await alice.state() == "approved"


async def test_an_improvement_that_fails_to_install_leaves_the_hand_edits_it_had_taken_in(
    tmp_path: Path, temporal_address: str
) -> None:
    client, settings = await connect(temporal_address), stack_settings(tmp_path)
    async with running_stack(settings, client) as stack:
        alice = stack.learner()
        await alice.teach()
        ability_id = (await alice.propose_act("approve"))["proposal"]["ability_id"]
    skill = settings.workspace / "skills/summarise-the-sales-figures/SKILL.md"
    by_hand = skill.read_text().replace("## Safety\n\n", "## Safety\n\n- Ask Maria first.\n")
    skill.chmod(0o644)
    skill.write_text(by_hand)

    broken = failing_at(SagaStepName.REFRESH_AVAILABILITY, after_effect=False)
    async with running_stack(settings, client, broken) as stack:
        alice = stack.learner()
        await improve(alice, ability_id)
        await alice.call("POST", f"/api/learn/proposals/{alice.proposal_id}/approve", {})

        assert await alice.settled("ready_for_review", "installing_private") == "quarantined"
        assert skill.read_text() == by_hand
        versions = await alice.ok("GET", f"/api/abilities/{ability_id}/versions")
        assert [v["version"] for v in versions["versions"]] == [1]
