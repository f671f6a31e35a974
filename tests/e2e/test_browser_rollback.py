"""What was taught in a browser, and so never rehearsed, can be taken back like any other ability."""

import pytest

from tests.e2e.ability_owner import WHY, Owner
from tests.e2e.page_lesson import shown_in_a_page
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def installed(stack: Stack, learner: Learner, message: str) -> Owner:
    await shown_in_a_page(learner, message)
    approved = await learner.propose_act("approve", {"accept_unproved": True})
    return Owner(stack, learner, approved["proposal"]["ability_id"])


async def test_an_ability_shown_in_a_browser_goes_back_to_its_former_version(stack: Stack) -> None:
    alice = stack.learner()
    owner = await installed(stack, alice, "The report is published")
    first = (await owner.detail())["skill_markdown"]
    assert (await installed(stack, alice, "The figures are online")).ability_id == owner.ability_id
    assert (await owner.detail())["skill_markdown"] != first

    answer = await owner.does("rollback")
    assert (answer["version"], answer["restored_from"]) == (3, 1)
    assert (await owner.detail())["skill_markdown"] == first


async def test_checking_it_again_as_far_as_it_can_be_lifts_its_quarantine_without_a_reason(
    stack: Stack,
) -> None:
    owner = await installed(stack, stack.learner(), "The report is published")
    await owner.does("quarantine", WHY)
    await owner.learner.propose_act("revise", {"revision_instructions": "look again"})
    assert await owner.learner.prove(selected_tests=["lint"]) == "ready_for_review"
    status, error = await owner.may_not("unquarantine")
    assert (status, error["code"]) == (409, "VALIDATION_REQUIRED")

    assert await owner.learner.prove() == "ready_for_review"
    await owner.does("unquarantine")
    assert (await owner.detail())["state"] == "active"
