"""The session's three deadlines, each at its real length on a real server that skips time."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import TimeSkipper

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, running_stack, stack_settings

pytestmark = pytest.mark.anyio

SOON = timedelta(minutes=1)


@pytest.fixture
async def skipping(tmp_path: Path, skipping_env: TimeSkipper) -> AsyncIterator[Stack]:
    async with running_stack(stack_settings(tmp_path), skipping_env.client) as stack:
        yield stack


async def let_pass(env: TimeSkipper, learner: Learner, span: timedelta) -> None:
    handle = env.client.get_workflow_handle(f"learn-session/{learner.session_id}")
    await env.fast_forward(handle, span)


async def newest_receipt(learner: Learner) -> tuple[str, str | None]:
    body = await learner.ok("GET", f"/api/learn/receipts?learn_session_id={learner.session_id}")
    newest = body["receipts"][0]
    return newest["event_kind"], newest.get("reason")


@pytest.mark.acceptance("R11.2-14", "R11.2-16")
async def test_a_session_armed_for_an_hour_is_cancelled(skipping: Stack, skipping_env: TimeSkipper) -> None:
    alice = skipping.learner()
    await alice.create()
    await let_pass(skipping_env, alice, timedelta(hours=1) - SOON)
    assert await alice.state() == "armed"
    await let_pass(skipping_env, alice, 2 * SOON)
    assert await alice.settled("armed") == "cancelled"
    assert await newest_receipt(alice) == ("cancelled", "session_timeout")
    status, error = await alice.refused("POST", f"/api/learn/sessions/{alice.session_id}/start")
    assert (status, error["code"]) == (408, "SESSION_TIMEOUT")
    await alice.create()


async def test_a_capture_of_four_hours_is_paused_and_can_go_on(
    skipping: Stack, skipping_env: TimeSkipper
) -> None:
    alice = skipping.learner()
    await alice.create()
    await let_pass(skipping_env, alice, timedelta(minutes=30))
    await alice.act("start")
    await let_pass(skipping_env, alice, timedelta(hours=4) - SOON)
    assert await alice.state() == "capturing"
    await let_pass(skipping_env, alice, 2 * SOON)
    assert await alice.settled("capturing") == "paused"
    assert await newest_receipt(alice) == ("capture_paused", "capture_timeout")
    await alice.act("resume")
    await let_pass(skipping_env, alice, timedelta(hours=4) - SOON)
    assert await alice.state() == "capturing"


async def test_a_paused_session_waits_for_as_long_as_it_takes(
    skipping: Stack, skipping_env: TimeSkipper
) -> None:
    alice = skipping.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("pause")
    await let_pass(skipping_env, alice, timedelta(days=30))
    assert await alice.state() == "paused"


@pytest.mark.acceptance("0A.33-12")
async def test_what_is_under_review_keeps_its_answers_and_report_for_as_long_as_it_takes(
    skipping: Stack, skipping_env: TimeSkipper
) -> None:
    alice = skipping.learner()
    await alice.teach()
    await alice.propose_act("revise", {"revision_instructions": "the goal is: Summarise the yearly figures"})
    assert await alice.prove() == "ready_for_review"
    detail = f"/api/learn/proposals/{alice.proposal_id}/detail"
    before, report = (
        await alice.ok("GET", detail),
        f"/api/learn/proposals/{alice.proposal_id}/validation-runs",
    )
    runs = await alice.ok("GET", report)
    await let_pass(skipping_env, alice, timedelta(days=90))
    assert await alice.ok("GET", detail) == before
    assert await alice.ok("GET", report) == runs
    rounds = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/rounds")
    assert len(rounds["rounds"]) == 2
    assert (await alice.propose_act("approve"))["proposal"]["proposal_state"] == "approved"


async def test_questions_unanswered_for_a_week_are_settled_by_the_best_inference(
    skipping: Stack, skipping_env: TimeSkipper
) -> None:
    alice = skipping.learner()
    await alice.demonstrate(ask_before_build=True)
    assert (await alice.propose())["session"]["state"] == "awaiting_questions"
    await let_pass(skipping_env, alice, timedelta(days=7) - SOON)
    assert await alice.state() == "awaiting_questions"
    await let_pass(skipping_env, alice, 2 * SOON)
    assert await alice.settled("awaiting_questions") == "drafting_proposal"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    interpretation = detail["interpretation"]
    assert interpretation["user_confirmed"] is False
    assert any(not field["confirmed"] for field in interpretation["confidences"])
    assert await alice.prove() == "ready_for_review"
