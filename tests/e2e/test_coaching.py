"""A coach frames the task and the agent's own receipts fill in the steps, on the real stack (DOC3 §0C.4)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.learning.observation import ToolCallReceipt, ToolEffect, ToolOutcome
from contracts.learning.views.allowed_actions import LearnSessionView
from contracts.workflow_ids import learn_session_id
from domain.learning.interpretation.meaningful import observed_tool_call
from tests.fixtures.learner import SALES_REPORT, Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

KEPT = "The figures of other regions stay as they are"
COACHING: dict[str, Any] = {
    "goal": "Summarise the sales figures for the team",
    "hints": [
        {"kind": "use_when", "text": "The weekly figures have come in"},
        {"kind": "not_when", "text": "The figures are still being corrected"},
        {"kind": "checkpoint", "text": "The summary lists the regions by sales"},
    ],
    "constraints": [{"text": KEPT, "kept_paths": ["other.csv"], "forbidden_programs": ["rm"]}],
}


async def coach(learner: Learner, **changes: Any) -> None:
    """A coached session with its capture begun."""
    body = {"entry_mode": "coaching_agent", "observation_mode": "inside_agent", "coaching": COACHING}
    answer = await learner.create(**{**body, **changes})
    assert answer["session"]["actor_mode"] == "mixed"
    await learner.act("start")


async def test_a_coached_session_is_named_by_its_goal_in_temporal(stack: Stack) -> None:
    learner = stack.learner()
    await coach(learner)
    handle = stack.client.get_workflow_handle(learn_session_id(learner.session_id))
    summary = await (await handle.describe()).static_summary()
    assert summary == f"Summarise the sales figures for the team · coaching_agent by {learner.user}"


async def test_a_kept_path_that_looks_like_a_secret_is_refused_by_its_place_and_not_said(
    stack: Stack,
) -> None:
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "f6G7h8"
    constraint = {"text": KEPT, "kept_paths": ["other.csv", f"out/{secret}"]}
    body = {"entry_mode": "coaching_agent", "coaching": COACHING | {"constraints": [constraint]}}
    status, error = await stack.learner().refused("POST", "/api/learn/sessions", body)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert [field["path"] for field in error["fields"]] == ["body.coaching.constraints.0.kept_paths.1"]
    assert secret not in str(error)


async def work(learner: Learner) -> None:
    """What the agent reports of itself: wrapped commands, plain ones, and a call of a tool."""
    events = learner.events(SALES_REPORT)
    events[2] |= {"adapter_kind": "wrapper_receipt", "action_label": "Rank the regions"}
    session = LearnSessionView.model_validate(
        await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    )
    receipt = ToolCallReceipt(
        receipt_id=str(uuid7()),
        server_id="tracker",
        tool_name="add_note",
        effect=ToolEffect.CREATE,
        outcome=ToolOutcome.OK,
        argument_names=("text",),
        finished_at=datetime.now(UTC) + timedelta(milliseconds=1),
    )
    told = observed_tool_call(receipt, session)
    assert told is not None
    events.append(told.model_dump(mode="json"))
    path = f"/api/learn/sessions/{learner.session_id}/observations"
    answer = await learner.ok("POST", path, {"events": events})
    assert answer["accepted"] == len(events)


async def test_a_coached_session_becomes_an_installed_ability_in_the_coachs_words(stack: Stack) -> None:
    learner = stack.learner()
    await coach(learner)
    await work(learner)
    await learner.act("stop")
    await learner.propose()
    detail = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")
    found = detail["interpretation"]
    assert found["goal_summary"] == COACHING["goal"]
    assert found["use_conditions"] == ["The weekly figures have come in"]
    assert "The figures are still being corrected" in found["non_use_conditions"]
    assert any(KEPT in condition for condition in found["non_use_conditions"])
    checkpoints = [one["success_condition"] for one in found["checkpoints"]]
    assert "The summary lists the regions by sales" in checkpoints
    assert "The file other.csv is unchanged" in checkpoints
    said = {one["field"]: one["confirmed"] for one in found["confidences"]}
    assert said["goal_summary"]
    assert said["use_conditions"]
    assert await learner.prove() == "ready_for_review", detail["lint"]
    await learner.propose_act("install", {"install_lane": "experimental_private", "accept_unproved": True})
    assert await learner.state() == "installed_private"


@pytest.mark.parametrize(
    ("command", "files"), [("rm -f reports/sales.csv", ()), ("printf x > other.csv", ("other.csv",))]
)
async def test_what_a_coach_ruled_out_is_not_taught_until_it_is_removed(
    stack: Stack, command: str, files: tuple[str, ...]
) -> None:
    learner = stack.learner()
    await coach(learner)
    await learner.observe((*SALES_REPORT, (command, files)))
    await learner.act("stop")
    path = f"/api/learn/sessions/{learner.session_id}/generate-proposal"
    status, error = await learner.refused("POST", path, {})
    assert (status, error["code"]) == (409, "CONSTRAINT_BROKEN")
    (event_id,) = error["event_ids"]
    await learner.ok("DELETE", f"/api/learn/sessions/{learner.session_id}/observations/{event_id}")
    assert (await learner.propose())["proposal_id"]


async def test_a_coachs_secret_is_masked_before_it_is_kept(stack: Stack) -> None:
    learner = stack.learner()
    await coach(learner, coaching={"goal": "Send it with password=hunter2horse set"})
    shown = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    assert "hunter2horse" not in shown["coaching"]["goal"]


async def test_only_a_coaching_session_is_coached(stack: Stack) -> None:
    body = {"entry_mode": "demonstrating_skill", "coaching": COACHING}
    status, error = await stack.learner().refused("POST", "/api/learn/sessions", body)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
