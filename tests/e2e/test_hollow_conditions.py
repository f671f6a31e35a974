"""A condition of success that proves nothing is named by a validation, asked about, and no proof of anything."""

from typing import Any

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.lesson_on_files import proposed_on_files
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

LOG = {"app.log": b"b\na\nc\n"}
SORTED: tuple[Demonstrated, ...] = (("sort -r app.log > sorted.log", ("sorted.log",)),)


async def stated(alice: Learner, *conditions: str) -> dict[str, Any]:
    edited = {"success_conditions": list(conditions)}
    return await alice.propose_act("revise", {"revision_instructions": "", "edited_fields": edited})


async def rehearsed(alice: Learner) -> dict[str, str]:
    found = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    newest = found["runs"][0]["validation_run_id"]
    return {
        step["test_case_id"]: f"{step['label']}: {step['result']}: {step['details']}"
        for step in found["steps"]
        if step["validation_run_id"] == newest
    }


async def hollow(alice: Learner) -> list[str]:
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    return [one["question_text"] for one in detail["hollow_conditions"]]


async def test_a_condition_that_holds_whatever_is_done_is_named_beside_those_that_are_proved(
    stack: Stack,
) -> None:
    alice = await proposed_on_files(stack, LOG, SORTED)
    await stated(alice, "The file app.log exists", "The file sorted.log exists")

    assert await alice.prove() == "ready_for_review"
    cases = await rehearsed(alice)
    assert (
        "app.log exists: skipped: not applicable: holds whatever is done: it was so"
        in cases["rehearsal/no-proof-01"]
    )
    assert cases["rehearsal/condition-02"].startswith("The file sorted.log exists: passed")
    assert await hollow(alice) == [
        "“The file app.log exists” holds whatever is done: it was so before the first command."
        " What else shows that it worked?"
    ]
    assert (await alice.propose_act("approve"))["proposal"]["ability_id"]


async def test_where_no_condition_proves_anything_a_person_has_to_accept_it_or_to_state_another(
    stack: Stack,
) -> None:
    alice = await proposed_on_files(stack, LOG, SORTED)
    await stated(alice, "The file app.log exists")
    assert await alice.prove() == "ready_for_review"
    path = f"/api/learn/proposals/{alice.proposal_id}/approve"
    status, error = await alice.refused("POST", path, {})
    assert (status, error["code"]) == (409, "UNPROVED_NOT_ACCEPTED")

    detail = await stated(alice, "The file sorted.log holds “c”")
    assert await hollow(alice) == []
    assert await alice.prove() == "ready_for_review"
    assert "rehearsal/no-proof-01" not in await rehearsed(alice)
    known = {one["field"]: one["confidence"] for one in detail["interpretation"]["confidences"]}
    assert known["success_condition"] == 1.0
    assert (await alice.propose_act("approve"))["proposal"]["ability_id"]


async def test_what_a_replay_has_judged_is_known_when_it_is_stated_again(stack: Stack) -> None:
    alice = await proposed_on_files(stack, LOG, SORTED)
    await stated(alice, "The file app.log exists")
    await alice.prove()
    await stated(alice, "The file sorted.log exists")
    assert await hollow(alice) == []
    detail = await stated(alice, "app.log is there")
    known = {one["field"]: one["confidence"] for one in detail["interpretation"]["confidences"]}
    assert known["success_condition"] == 0.5
    assert len(await hollow(alice)) == 1


async def test_a_condition_that_is_false_of_the_demonstration_fails(stack: Stack) -> None:
    alice = await proposed_on_files(stack, LOG, SORTED)
    await stated(alice, "The file sorted.log holds “z”")
    assert await alice.prove() == "drafting_proposal"
    assert "failed" in (await rehearsed(alice))["rehearsal/condition-01"]
