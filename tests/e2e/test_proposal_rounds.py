"""Earlier rounds of a review stay readable (DOC3 §0A.24)."""

from typing import Any

import pytest
from sqlalchemy import select

from contracts.learning.proposal import SkillProposalFeedback
from stores.learning.sessions import FEEDBACK_RECORDS
from stores.platform.tables import journal
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


async def test_what_a_person_said_of_a_proposal_is_on_record_as_feedback(stack: Stack) -> None:
    bob, alice = stack.learner("bob"), stack.learner()
    await bob.teach()
    await bob.propose_act("reject", {"reason": "Too narrow"})
    await alice.demonstrate(ask_before_build=True)
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    answers = [{"question_id": one["question_id"], "answer_text": "as shown"} for one in detail["questions"]]
    await alice.act("answer-questions", {"answers": answers})
    edits = {"title": "Sum up the sales"}
    asked = {"revision_instructions": "as edited", "edited_fields": edits}
    await alice.propose_act("revise", asked)
    await alice.prove()
    await alice.propose_act("request-more-tests", {"selected_tests": ["lint"]})
    assert await alice.settled("testing_proposal") == "ready_for_review"
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    await alice.propose_act("approve")
    assert feedback(stack) == [
        ("reject", "Too narrow", {}),
        *(("clarification", "as shown", {}) for _ in answers),
        ("edit", "as edited", edits),
        ("request_tests", None, {}),
        ("install_private", None, {}),
        ("approve", None, {}),
    ]


def feedback(stack: Stack) -> list[tuple[str, str | None, dict[str, Any]]]:
    """What was said of proposals so far, the oldest first."""
    query = select(journal.c.document).where(journal.c.stream == FEEDBACK_RECORDS).order_by(journal.c.seq)
    with stack.database.read() as connection:
        said = [SkillProposalFeedback.model_validate_json(one) for one in connection.scalars(query)]
    return [(one.feedback_kind.value, one.feedback_text, one.edited_fields) for one in said]
