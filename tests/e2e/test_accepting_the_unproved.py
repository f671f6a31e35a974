"""What cannot be proved here is said, and a person who has read it may accept it; then the ability says it for ever."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.learning.observation import ToolCallReceipt, ToolEffect, ToolOutcome
from contracts.learning.validation import unproved_digest
from domain.learning.interpretation.meaningful import observed_tool_call
from stores.learning.learning_tables import SESSIONS
from tests.fixtures.hand_work import BY_HAND, show, show_by_hand
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


def tool_calls_of(stack: Stack, learner: Learner) -> list[dict[str, Any]]:
    """The receipts of two calls of a tool server."""
    session = stack.services.sessions.owned(learner.session_id, learner.user).session
    found = [
        observed_tool_call(
            ToolCallReceipt(
                receipt_id=str(uuid7()),
                server_id="calendar",
                tool_name=name,
                effect=ToolEffect.CREATE,
                outcome=ToolOutcome.OK,
                argument_names=("title",),
                finished_at=datetime.now(UTC) + timedelta(milliseconds=number),
            ),
            session,
        )
        for number, name in enumerate(("create_event", "invite_guest"))
    ]
    return [one.model_dump(mode="json") for one in found if one is not None]


async def proved(learner: Learner) -> dict[str, Any]:
    """The detail of the drafted proposal, once it is ready for review."""
    state = await learner.prove()
    runs = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/validation-runs")
    assert state == "ready_for_review", runs
    return await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")


async def receipts_of(learner: Learner, kind: str) -> list[str]:
    found = await learner.ok("GET", "/api/learn/receipts?page_size=100")
    return [one.get("reason") or "" for one in found["receipts"] if one["event_kind"] == kind]


async def test_a_lesson_of_tool_calls_alone_is_installed_once_a_person_accepts_what_is_not_proved(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.create(observation_mode="inside_agent")
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Invite the team to the review"})
    await show(alice, tool_calls_of(stack, alice))
    detail = await proved(alice)
    steps = detail["unproved"]
    assert len(steps) == 2
    assert all("a rehearsal calls none" in one["reason"] for one in steps)

    status, error = await alice.refused("POST", f"/api/learn/proposals/{alice.proposal_id}/approve", {})
    assert (status, error["code"], error["retryable"]) == (409, "UNPROVED_NOT_ACCEPTED", False)
    assert error["unproved"] == steps
    assert steps[0]["step"] in error["message"]
    assert "--accept-unproved" in error["message"]
    assert await alice.state() == "ready_for_review"
    (item,) = (await alice.ok("GET", "/api/inbox?kind=review"))["items"]
    assert (item["item_id"], item["unproved"]) == (alice.proposal_id, 2)
    assert steps[0]["reason"] in item["text"]

    accepting = {"accept_unproved": True, "unproved_digest": detail["unproved_digest"]}
    await alice.propose_act("approve", accepting)
    assert await alice.state() == "approved"
    session = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/detail")
    ability = await alice.ok("GET", f"/api/abilities/{session['ability_id']}")
    said = ability["unproved"]
    assert (said["steps"], said["digest"]) == (steps, detail["unproved_digest"])
    assert said["accepted_by"] == "alice"
    assert said["accepted_at"].endswith("Z")
    assert "## Not proved" in ability["skill_markdown"]
    assert steps[1]["step"] in ability["skill_markdown"]
    for kind in ("install_requested", "approved"):
        assert any("alice accepted without proof" in reason for reason in await receipts_of(alice, kind))


@pytest.mark.thorough
async def test_a_coached_lesson_of_tool_calls_is_installed_the_same_way(stack: Stack) -> None:
    alice = stack.learner()
    coaching: dict[str, Any] = {"goal": "Invite the team to the review", "hints": [], "constraints": []}
    await alice.create(entry_mode="coaching_agent", observation_mode="inside_agent", coaching=coaching)
    await alice.act("start")
    await show(alice, tool_calls_of(stack, alice))
    await proved(alice)
    await alice.propose_act("approve", {"accept_unproved": True})
    assert await alice.state() == "approved"


@pytest.mark.thorough
@pytest.mark.parametrize("shown", BY_HAND, ids=lambda one: one["adapter_kind"])
async def test_events_of_a_recorder_without_our_extensions_become_an_ability(
    stack: Stack, shown: dict[str, Any]
) -> None:
    alice = stack.learner()
    await show_by_hand(alice, (shown,))
    detail = await proved(alice)
    assert [one["step"] for one in detail["unproved"]] == [shown["action_label"]]
    await alice.propose_act("approve", {"accept_unproved": True})
    assert await alice.state() == "approved"


@pytest.mark.thorough
async def test_a_list_that_has_changed_since_it_was_read_is_not_accepted(stack: Stack) -> None:
    alice = stack.learner()
    await show_by_hand(alice)
    await proved(alice)
    path = f"/api/learn/proposals/{alice.proposal_id}"
    seen_before = {"accept_unproved": True, "unproved_digest": unproved_digest(())}
    status, error = await alice.refused("POST", f"{path}/approve", seen_before)
    assert (status, error["code"]) == (409, "UNPROVED_NOT_ACCEPTED")
    assert "has changed since" in error["message"]
    private = {"install_lane": "experimental_private"}
    status, error = await alice.refused("POST", f"{path}/install", private)
    assert (status, error["code"]) == (409, "UNPROVED_NOT_ACCEPTED")
    await alice.propose_act("install", {**private, "accept_unproved": True})
    assert await alice.state() == "installed_private"
    # Another lane is another decision.
    assert (await alice.refused("POST", f"{path}/approve", {}))[0] == 409
    with stack.database.read() as connection:
        kept = SESSIONS.owned(connection, alice.session_id, "alice")
    assert len(kept.unproved) == len(BY_HAND)
