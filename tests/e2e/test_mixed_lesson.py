"""Commands and a page in one lesson: the commands are rehearsed, the page is shown as skipped."""

from datetime import UTC, datetime

import pytest
from uuid_utils import uuid7

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


def page_event(learner: Learner, action: str, **facts: object) -> dict[str, object]:
    return {
        "event_id": str(uuid7()),
        "learn_session_id": learner.session_id,
        "adapter_kind": "browser_snapshot" if action == "snapshot" else "browser_dom",
        "app_family": "browser",
        "action_label": "Something in a page",
        "caused_state_change": action != "snapshot",
        "browser": {"action": action, "site": "https://shop.example", "page_title": "Reports", **facts},
        "created_at": datetime.now(UTC).isoformat(),
    }


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
