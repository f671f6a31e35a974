"""A lesson in a browser, as a recorder reports it: nothing in it can be rehearsed."""

from datetime import UTC, datetime

from uuid_utils import uuid7

from tests.fixtures.learner import Learner

GOAL = "Publish the sales figures"


def page_event(learner: Learner, action: str, **facts: object) -> dict[str, object]:
    """What a person did in a page, or what it showed."""
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


async def shown_in_a_page(learner: Learner, message: str, **fields: str) -> None:
    """A form is sent and the page answers with ``message``; drafted, and proven as far as such a lesson can be."""
    await learner.create(observation_mode="outside_agent", **fields)
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": GOAL})
    events = [
        page_event(learner, "submit", form_name="Upload", accessible_name="Publish"),
        page_event(learner, "snapshot", outcome={"messages": [message]}),
    ]
    path = f"/api/learn/sessions/{learner.session_id}/observations"
    await learner.ok("POST", path, {"events": events})
    await learner.act("stop")
    await learner.propose()
    assert await learner.prove() == "ready_for_review"
    runs = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/validation-runs")
    assert runs["runs"][0]["overall_result"] == "partial"
    assert runs["runs"][0]["not_applicable"] == ["rehearsal"]
