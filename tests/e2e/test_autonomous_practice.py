"""The agent practises by itself, through the API on the real stack (DOC3 §0A.7)."""

from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.practising import TASK, begin, ended, practice
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


@pytest.mark.acceptance("0A.33-4")
async def test_practice_reaches_its_verified_goal_and_becomes_an_installed_private_ability(
    stack: Stack,
) -> None:
    learner = stack.learner()
    await begin(learner)
    begun = await practice(learner)
    assert (begun["state"], begun["budget"]) == (
        "running",
        {"max_actions": 40, "max_minutes": 15, "max_attempts": 3},
    )
    run = await ended(learner)
    assert run["state"] == "reached", run
    last = run["attempts"][-1]
    assert all(seen["met"] for seen in last["conditions"])
    assert run["actions_used"] == sum(len(attempt["actions"]) for attempt in run["attempts"])
    assert await learner.state() == "stopped"
    page = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/observations")
    shown = [event["terminal"]["command"] for event in page["observations"]]
    assert shown == [action["command"] for action in last["actions"] if not action["is_check"]]
    await learner.propose()
    assert await learner.prove() == "ready_for_review"
    await learner.propose_act("install", {"install_lane": "experimental_private"})
    assert await learner.state() == "installed_private"
    detail = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    ability = await learner.ok("GET", f"/api/abilities/{detail['ability_id']}")
    assert ability["ability"]["install_lane"] == "experimental_private"
    assert detail["actor_mode"] == "agent_driven"


async def test_a_goal_out_of_reach_ends_with_a_question_and_a_receipt_of_what_was_tried(stack: Stack) -> None:
    learner = stack.learner()
    await begin(learner)
    await practice(
        learner,
        success_conditions=[{"kind": "file_contains", "path": "top.csv", "text": "west,1"}],
        budget={"max_actions": 5},
    )
    run = await ended(learner)
    assert run["state"] in ("asks", "budget_used")
    assert 1 <= len(run["attempts"]) <= 3
    assert run["actions_used"] <= 5
    assert await learner.state() == "stopped"
    query = f"?learn_session_id={learner.session_id}&event_kind=practice_ended"
    receipts = await learner.ok("GET", f"/api/learn/receipts{query}")
    (receipt,) = receipts["receipts"]
    assert run["attempts"][0]["idea"]["steps"][0]["command"] in receipt["reason"]
    status, error = await learner.refused(
        "POST", f"/api/learn/sessions/{learner.session_id}/generate-proposal", {}
    )
    assert (status, error["code"]) == (400, "INSUFFICIENT_TRACES")


async def test_cancelling_the_session_stops_its_practice(stack: Stack) -> None:
    learner = stack.learner()
    await begin(learner)
    await practice(
        learner,
        success_conditions=[{"kind": "file_exists", "path": "done.txt"}],
        allowed_commands=["sleep 50; touch {output}"],
    )
    await learner.settled("armed")
    await learner.act("cancel")
    run = await ended(learner)
    assert run["state"] == "cancelled"
    assert await learner.state() == "cancelled"
    assert not any(attempt["reached"] for attempt in run["attempts"])


async def test_what_was_taught_before_is_what_practice_tries_first(stack: Stack) -> None:
    learner = stack.learner()
    await learner.demonstrate()
    await learner.act("cancel")
    await begin(learner)
    await practice(
        learner,
        success_conditions=[{"kind": "file_exists", "path": "best.csv"}],
        allowed_commands=["sort"],
    )
    run = await ended(learner)
    step = run["attempts"][0]["idea"]["steps"][0]
    assert step["source"] == "trace"
    assert step["command"] == "sort -t, -k2 -nr sales.csv > best.csv"
    assert step["about"] == "Summarise the sales figures"
    assert run["state"] == "reached"


async def test_practice_writes_nothing_outside_its_sandbox(stack: Stack, tmp_path: Path) -> None:
    learner = stack.learner()
    mark = tmp_path / "mark.txt"
    await begin(learner)
    await practice(
        learner,
        success_conditions=[{"kind": "file_exists", "path": "done.txt"}],
        allowed_commands=[f"touch {mark} {{output}}"],
    )
    run = await ended(learner)
    assert run["state"] != "reached"
    assert not mark.exists()


async def test_practice_may_be_shared_only_after_a_private_trial(stack: Stack) -> None:
    learner = stack.learner()
    await begin(learner)
    await practice(learner)
    assert (await ended(learner))["state"] == "reached"
    await learner.propose()
    assert await learner.prove() == "ready_for_review"
    base = f"/api/learn/proposals/{learner.proposal_id}"
    for action, body in (
        ("install", {"install_lane": "approved_workspace"}),
        ("approve", {"approval_scope": "shared_promoted"}),
        ("approve", {"approval_scope": "approved_workspace"}),
    ):
        status, error = await learner.refused("POST", f"{base}/{action}", body)
        assert (status, error["code"]) == (403, "INSTALL_LANE_DENIED")
    assert await learner.state() == "ready_for_review"
    await learner.propose_act("install", {"install_lane": "experimental_private"})
    await learner.propose_act("approve", {"approval_scope": "approved_workspace"})
    assert await learner.state() == "approved"


@pytest.mark.parametrize(
    ("fields", "body", "code"),
    [
        ({"entry_mode": "demonstrating_skill"}, {}, "CONFLICT"),
        ({"observation_mode": "none"}, {}, "CONFLICT"),
        ({}, {"allowed_surfaces": ["raw_ui"]}, "ADAPTER_UNAVAILABLE"),
        ({}, {"start_files": [{"name": "a", "content": "password=hunter2horse"}]}, "TEST_POLICY_VIOLATION"),
        ({}, {"budget": {"max_actions": 41}}, "VALIDATION_FAILED"),
    ],
)
async def test_practice_that_may_not_be_is_refused(
    stack: Stack, fields: dict[str, Any], body: dict[str, Any], code: str
) -> None:
    learner = stack.learner()
    await learner.create(
        **{"entry_mode": "autonomous_agent_practice", "observation_mode": "inside_agent", **fields}
    )
    path = f"/api/learn/sessions/{learner.session_id}/practice"
    _, error = await learner.refused("POST", path, {**TASK, **body})
    assert error["code"] == code
    assert (await learner.call("GET", path)).status_code == 404
