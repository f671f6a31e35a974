"""Commands and a page in one lesson: the commands are rehearsed, the page is shown as skipped."""

import pytest

from tests.e2e.page_lesson import page_event
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_commands_are_rehearsed_and_what_a_page_showed_is_skipped_beside_them(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Publish the sales figures"})
    await alice.observe()
    await alice.ok(
        "POST",
        f"/api/learn/sessions/{alice.session_id}/observations",
        {
            "events": [
                page_event(alice, "submit", form_name="Upload"),
                page_event(alice, "snapshot", outcome={"messages": ["The report is published"]}),
            ]
        },
    )
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    assert runs["runs"][0]["overall_result"] == "passed"
    results = {one["test_case_id"]: one["result"] for one in runs["steps"]}
    assert results["rehearsal/page-01"] == "skipped"
    assert {r for case, r in results.items() if case.startswith("rehearsal/command")} == {"passed"}
