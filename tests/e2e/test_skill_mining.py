"""Repeated work is mined into a proposal, through the API on the real stack (DOC3 §0.4, §9.16)."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from tests.fixtures.learner import SALES_REPORT, WAIT_AT_MOST_SECONDS, Demonstrated, Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

OTHER_WAYS: tuple[tuple[Demonstrated, ...], ...] = (
    SALES_REPORT,
    (("printf 'a\\n' > a.txt", ("a.txt",)), ("wc -l a.txt > count.txt", ("count.txt",))),
    (("printf 'b\\n' > b.md", ("b.md",)), ("sha256sum b.md > sum.md", ("sum.md",))),
)
"""Three tasks under one goal."""


def report_of(region: str) -> tuple[Demonstrated, ...]:
    """The same task on other files."""
    return (
        (f"printf 'north,3\\nsouth,9\\n' > {region}.csv", (f"{region}.csv",)),
        (f"sort -t, -k2 -nr {region}.csv > {region}-top.txt", (f"{region}-top.txt",)),
        (f"tar czf {region}.tgz {region}.csv {region}-top.txt", (f"{region}.tgz",)),
    )


async def show(
    learner: Learner,
    shown: Sequence[Demonstrated] = SALES_REPORT,
    goal: str = "Summarise the sales figures",
    **fields: Any,
) -> str:
    """One capture that its owner makes nothing of; its session."""
    await learner.create(**fields)
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": goal})
    await learner.observe(shown)
    await learner.act("stop")
    await learner.act("cancel")
    return learner.session_id


async def allow(learner: Learner, **fields: Any) -> dict[str, Any]:
    """Sets what may be mined: what is shown in a terminal is outside the agent."""
    return await learner.ok("PUT", "/api/learn/mining/settings", {"observe_outside_agent": True, **fields})


async def mine(learner: Learner) -> dict[str, Any]:
    """A run over the learner's captures, to its end."""
    run = await learner.ok("POST", "/api/learn/mining/scan")
    with anyio.fail_after(2 * WAIT_AT_MOST_SECONDS):
        while run["state"] == "running":
            await anyio.sleep(0.05)
            run = await learner.ok("GET", f"/api/learn/mining/runs/{run['run_id']}")
    assert run["state"] == "completed", run
    return run


async def candidates(learner: Learner) -> list[dict[str, Any]]:
    """What was found so far."""
    answer = await learner.ok("GET", "/api/learn/mining/candidates")
    return list(answer["candidates"])


@pytest.mark.acceptance("9.16-1")
@pytest.mark.acceptance("9.16-3")
@pytest.mark.acceptance("0.11C-7")
async def test_a_task_shown_three_times_becomes_a_tested_proposal_that_waits_for_review(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner, mode="build_then_review")
    shown = [await show(learner) for _ in range(3)]
    run = await mine(learner)
    (found,) = await candidates(learner)
    candidate = found["candidate"]
    assert (run["progress"]["traces"], run["progress"]["built"]) == (3, 1)
    assert sorted(candidate["source_session_ids"]) == sorted(shown)
    assert candidate["cluster"]["variation_score"] == 0
    assert candidate["cluster"]["verification_coverage_score"] == 1
    assert candidate["title"] == "Summarise the sales figures"
    assert (candidate["state"], found["session_state"]) == ("built", "ready_for_review")
    assert found["install_lane"] == "pending"
    proposal = await learner.ok("GET", f"/api/learn/proposals/{candidate['proposal_id']}/detail")
    assert proposal["proposal"]["learn_session_id"] == candidate["learn_session_id"]
    assert sorted(proposal["proposal"]["source_trace_ids"]) == sorted(
        candidate["cluster"]["successful_trace_ids"]
    )


@pytest.mark.thorough
@pytest.mark.acceptance("9.16-1")
async def test_two_captures_are_not_enough(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for _ in range(2):
        await show(learner)
    run = await mine(learner)
    assert run["progress"]["closed_gates"] == {"enough_traces": 1}
    assert await candidates(learner) == []
    await show(learner)
    await mine(learner)
    assert len(await candidates(learner)) == 1


async def test_one_goal_reached_in_ways_too_different_is_not_mined(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for way in OTHER_WAYS:
        await show(learner, way)
    run = await mine(learner)
    assert "low_variation" in run["progress"]["closed_gates"]
    assert await candidates(learner) == []


async def test_switched_off_nothing_is_looked_at(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner, mode="off")
    for _ in range(3):
        await show(learner)
    run = await mine(learner)
    assert (run["progress"]["people_off"], run["progress"]["traces"]) == (1, 0)
    assert await candidates(learner) == []


@pytest.mark.thorough
@pytest.mark.acceptance("9.16-5")
async def test_what_happens_outside_the_agent_makes_no_proposal_unless_that_is_switched_on(
    stack: Stack,
) -> None:
    learner = stack.learner()
    settings = await learner.ok("GET", "/api/learn/mining/settings")
    assert settings["settings"]["observe_outside_agent"] is False
    for _ in range(3):
        await show(learner)
    run = await mine(learner)
    assert (run["progress"]["excluded"], run["progress"]["traces"]) == (3, 0)
    assert await candidates(learner) == []


@pytest.mark.acceptance("9.16-6")
@pytest.mark.acceptance("0.11C-9")
async def test_switched_on_a_banner_shows_and_captures_are_the_input_of_proposals_alone(stack: Stack) -> None:
    learner = stack.learner()
    before = await learner.ok("GET", "/api/learn/mining/settings")
    assert before["observation_banner"] is None
    shown = await allow(learner)
    assert "outside the agent" in shown["observation_banner"]
    assert (await learner.ok("GET", "/api/learn/mining/settings"))["observation_banner"]
    for _ in range(3):
        await show(learner)
    await mine(learner)
    (found,) = await candidates(learner)
    assert found["candidate"]["proposal_id"]
    assert (await learner.ok("GET", "/api/abilities/catalog"))["items"] == []
    assert (await allow(learner, mode="off"))["observation_banner"] is None


@pytest.mark.acceptance("9.16-2")
@pytest.mark.acceptance("0.11C-6")
async def test_ask_before_build_builds_nothing_by_itself_and_asks_once_it_is_accepted(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner, mode="ask_before_build")
    for _ in range(3):
        await show(learner)
    run = await mine(learner)
    assert run["progress"]["built"] == 0
    (found,) = await candidates(learner)
    assert (found["candidate"]["state"], found["candidate"]["proposal_id"]) == ("open", None)
    assert (await learner.ok("GET", "/api/learn/proposals"))["total"] == 0

    path = f"/api/learn/mining/candidates/{found['candidate']['candidate_id']}/accept"
    accepted = await learner.ok("POST", path, {"reason": "every Monday"}, idempotency_key="yes")
    again = await learner.ok("POST", path, {"reason": "every Monday"}, idempotency_key="yes")
    assert accepted == again
    assert (accepted["candidate"]["state"], accepted["session_state"]) == ("built", "awaiting_questions")
    detail = await learner.ok("GET", f"/api/learn/proposals/{accepted['candidate']['proposal_id']}/detail")
    assert 1 <= len(detail["questions"]) <= 5


async def test_an_ambiguous_task_is_asked_about_before_it_is_built(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner, mode="auto_install_private")
    for goal in ("Summarise the sales figures", "Summarise sales figures now", "Summarise the sales figures"):
        await show(learner, goal=goal)
    await mine(learner)
    (found,) = await candidates(learner)
    assert found["candidate"]["ambiguity_flags"] == ["The task was worded in different ways"]
    assert (found["session_state"], found["install_lane"]) == ("awaiting_questions", "pending")


@pytest.mark.thorough
@pytest.mark.acceptance("9.16-4")
@pytest.mark.acceptance("0.11C-8")
async def test_auto_install_goes_no_further_than_private_use_and_only_after_the_tests(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner, mode="auto_install_private")
    for _ in range(3):
        await show(learner)
    await mine(learner)
    (found,) = await candidates(learner)
    learner.session_id = found["candidate"]["learn_session_id"]
    assert await learner.settled("ready_for_review", "installing_private") == "installed_private"
    (found,) = await candidates(learner)
    assert found["install_lane"] == "experimental_private"
    detail = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    ability = await learner.ok("GET", f"/api/abilities/{detail['ability_id']}/availability")
    assert (ability["install_lane"], ability["usable_now"]) == ("experimental_private", True)
    receipts = await learner.ok("GET", "/api/learn/receipts?page_size=100")
    kinds = [receipt["event_kind"] for receipt in receipts["receipts"]]
    assert kinds.index("installed_private") < kinds.index("tests_passed"), "the newest come first"
    assert "approved" not in kinds
    assert {"candidate_found", "candidate_built"} <= set(kinds)
