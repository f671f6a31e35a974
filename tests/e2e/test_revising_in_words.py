"""A proposal is revised in words, without a model: what the rules understand is done, the rest is said."""

from typing import Any

import pytest

from contracts.learning.proposal import NOT_CARRIED_OUT
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def revised(learner: Learner, words: str, **headers: str) -> dict[str, Any]:
    return await learner.propose_act("revise", {"revision_instructions": words}, **headers)


def goals(detail: dict[str, Any]) -> list[str]:
    return [checkpoint["goal"] for checkpoint in detail["interpretation"]["checkpoints"]]


async def test_words_change_the_draft_and_its_files_and_stay_through_later_revisions(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    shown = goals(await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail"))
    assert len(shown) > 2

    once = {"idempotency_key": "swap-once"}
    first = await revised(
        alice, "Swap steps 1 and 2, and add to Done when: the archive can be opened", **once
    )
    again = await revised(
        alice, "Swap steps 1 and 2, and add to Done when: the archive can be opened", **once
    )
    assert goals(first) == goals(again) == [shown[1], shown[0], *shown[2:]]
    assert first["proposal"]["drafter_note"] == ""

    second = await revised(alice, "remove the last step; rename the title to Pack the sales")
    assert goals(second) == [shown[1], shown[0], *shown[2:-1]]
    assert second["proposal"]["title"] == "Pack the sales"
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    skill = next(file["content"] for file in files["files"] if file["path"] == "SKILL.md")
    assert "- The archive can be opened" in skill
    assert shown[-1] not in skill.partition("## Checkpoints")[2].partition("## Done when")[0]


async def test_a_revision_that_changes_nothing_leaves_state_draft_and_proofs_as_they_were(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach()
    path = f"/api/learn/proposals/{alice.proposal_id}"
    before = (await alice.ok("GET", f"{path}/detail"))["proposal"]
    title = {"revision_instructions": "as it is", "edited_fields": {"title": before["title"]}}

    said = (await revised(alice, "Make it nicer"))["proposal"]
    await alice.propose_act("revise", title)
    after = (await alice.ok("GET", f"{path}/detail"))["proposal"]
    assert said["drafter_note"] == f"{NOT_CARRIED_OUT}“Make it nicer”"
    assert await alice.state() == after["proposal_state"] == "ready_for_review"
    assert (after["content_hash"], after["revision"]) == (before["content_hash"], before["revision"])
    assert len((await alice.ok("GET", f"{path}/rounds"))["rounds"]) == 1

    await alice.propose_act("approve")
    assert await alice.state() == "approved"


async def test_a_change_after_a_revision_that_changed_nothing_is_the_next_round(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    await revised(alice, "Make it nicer")
    changed = (await revised(alice, "rename the title to Pack the sales"))["proposal"]

    assert (changed["title"], changed["revision"]) == ("Pack the sales", 2)
    assert await alice.state() == "drafting_proposal"


async def test_what_is_not_understood_is_said_and_what_cannot_be_done_is_refused(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    path = f"/api/learn/proposals/{alice.proposal_id}"
    before = (await alice.ok("GET", f"{path}/detail"))["proposal"]

    said = (await revised(alice, "Make it nicer"))["proposal"]
    assert said["drafter_note"] == f"{NOT_CARRIED_OUT}“Make it nicer”"
    assert said["content_hash"] == before["content_hash"]

    status, error = await alice.refused("POST", f"{path}/revise", {"revision_instructions": "remove step 40"})
    assert (status, error["code"]) == (422, "REVISION_INVALID")
    assert "there is no number 40" in error["message"]
    assert (await alice.ok("GET", f"{path}/detail"))["proposal"]["content_hash"] == before["content_hash"]
