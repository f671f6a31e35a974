"""Earlier rounds of a review stay readable (DOC3 §0A.24)."""

import pytest

from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_every_draft_of_a_review_can_be_read_again_with_what_its_tests_said(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach("Summarise the sales figures")
    base = f"/api/learn/proposals/{alice.proposal_id}"
    first = await alice.ok("GET", f"{base}/files")
    wish = {"revision_instructions": "Name it better", "edited_fields": {"title": "Add up the sales"}}
    await alice.propose_act("revise", wish)
    second = await alice.ok("GET", f"{base}/files")
    assert (first["revision"], second["revision"]) == (1, 2)
    assert first["files"] != second["files"]

    rounds = (await alice.ok("GET", f"{base}/rounds"))["rounds"]
    assert [(one["revision"], one["present"], one["title"], one["tested"]) for one in rounds] == [
        (2, True, "Add up the sales", None),
        (1, False, "Summarise the sales figures", "passed"),
    ]
    assert (await alice.ok("GET", f"{base}/files?revision=1"))["files"] == first["files"]

    await alice.act("cancel", {"reason": "Not needed"})
    assert (await alice.ok("GET", f"{base}/files?revision=1"))["files"] == first["files"]
    assert (await alice.ok("GET", f"{base}/files?revision=2"))["files"] == second["files"]


async def test_the_proposal_under_work_is_pinned_on_top_of_the_list(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    finished = alice.proposal_id
    await alice.act("cancel")
    await alice.demonstrate()
    await alice.propose()
    listed = (await alice.ok("GET", "/api/learn/proposals"))["proposals"]
    assert [(one["proposal_id"], one["pinned"]) for one in listed] == [
        (alice.proposal_id, True),
        (finished, False),
    ]
    await alice.act("cancel")
    assert not any(one["pinned"] for one in (await alice.ok("GET", "/api/learn/proposals"))["proposals"])


async def test_a_round_that_there_was_not_and_somebody_elses_are_not_found(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    await alice.demonstrate()
    await alice.propose()
    base = f"/api/learn/proposals/{alice.proposal_id}"
    status, error = await alice.refused("GET", f"{base}/files?revision=7")
    assert (status, error["code"]) == (404, "NOT_FOUND")
    assert "has no draft r7" in error["message"]
    for path in (f"{base}/rounds", f"{base}/files?revision=1"):
        status, error = await bob.refused("GET", path)
        assert (status, error["code"]) == (404, "PROPOSAL_NOT_FOUND")
