"""What a validation report says of collisions and of a canary is what was looked at (DOC3 §0A.18)."""

from typing import Any

import pytest

from stores.learning.sessions import REPORT_RECORDS
from stores.platform.journal.journal import JournalFilter, read_entries
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


def reports(stack: Stack, proposal_id: str) -> list[dict[str, Any]]:
    with stack.database.read() as connection:
        entries = read_entries(connection, JournalFilter(streams=(REPORT_RECORDS,), proposal_id=proposal_id))
    return [entry.document for entry in entries]


async def test_a_report_says_whether_the_method_ran_and_the_name_was_free(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    await alice.prove(selected_tests=["lint", "dependency_check"])
    await alice.prove()
    cheap, whole = reports(stack, alice.proposal_id)
    assert (cheap["collision_check_passed"], cheap["canary_passed"]) == (True, False)
    assert (whole["collision_check_passed"], whole["canary_passed"]) == (True, True)


async def test_a_name_that_was_taken_meanwhile_is_reported_as_a_collision(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    await alice.demonstrate()
    await alice.propose()
    await bob.teach()
    await bob.propose_act("approve")
    assert await alice.prove() == "drafting_proposal"
    (report,) = reports(stack, alice.proposal_id)
    assert (report["collision_check_passed"], report["dependency_check_passed"]) == (False, False)
    assert report["canary_passed"] is False


async def test_a_program_that_is_missing_is_no_collision(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await alice.observe([("no-such-program-here sales.csv > top.txt", ("top.txt",))])
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "drafting_proposal"
    (report,) = reports(stack, alice.proposal_id)
    assert (report["collision_check_passed"], report["dependency_check_passed"]) == (True, False)
