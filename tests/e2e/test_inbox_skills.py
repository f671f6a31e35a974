"""Messages, check-ins and questions of skills: they arrive once, wait over restarts, and are answered once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import TimeSkipper

from contracts.inbox.items import SentKind
from contracts.workflow_ids import check_in_workflow_id, skill_invocation_id
from stores.platform.database import PageRequest
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.recovery import recover_check_ins, recover_invocations

pytestmark = pytest.mark.anyio

AGENT, PERSON = ("read", "call"), ("read", "call", "approve")
MONTH = timedelta(days=30)


@pytest.fixture
async def skipping(tmp_path: Path, skipping_env: TimeSkipper) -> AsyncIterator[Stack]:
    async with running_stack(stack_settings(tmp_path), skipping_env.client) as stack:
        yield stack


async def _run(who: Learner, skill: str, **given: Any) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given}, prefer="wait=30")


def _arrived(stack: Stack, kind: SentKind, owner: str = "alice") -> list[str]:
    page = stack.services.skills.inbox.page(owner, PageRequest(), (kind,))
    return [one.text for one in page.documents]


async def _ended(who: Learner, invocation_id: str) -> dict[str, Any]:
    view: dict[str, Any] = {}
    for _ in range(600):
        view = await who.ok("GET", f"/api/skills/invocations/{invocation_id}")
        if view["status"] not in ("queued", "running"):
            return view
        await asyncio.sleep(0.05)
    raise AssertionError(view)


def _question(stack: Stack) -> str:
    page = stack.services.skills.inbox.page("alice", PageRequest(), (SentKind.QUESTION,))
    return page.documents[0].item_id


@pytest.mark.acceptance("AI-30")
async def test_a_message_arrives_once_in_the_inbox_and_says_where(stack: Stack) -> None:
    agent = stack.learner("alice", AGENT)
    told = await _run(agent, "send_message_to_user", message="The report\nis ready")
    assert (told["status"], told["outputs"]["channel"]) == ("success", "console_inbox"), told
    assert _arrived(stack, SentKind.MESSAGE) == ["The report\nis ready"]
    assert _arrived(stack, SentKind.MESSAGE, "bob") == []
    (item,) = (await agent.ok("GET", "/api/inbox"))["items"]
    assert (item["kind"], item["text"]) == ("message", "The report\nis ready")


async def _scheduled(who: Learner, ahead: timedelta = MONTH) -> dict[str, Any]:
    due = (datetime.now(UTC) + ahead).isoformat()
    done = await _run(who, "schedule_check_in", text="How is the cello?", due_at=due)
    assert done["status"] == "success", done
    return done["outputs"]


@pytest.mark.acceptance("AI-36")
async def test_a_check_in_a_month_ahead_fires_once_after_a_restart(
    tmp_path: Path, skipping_env: TimeSkipper
) -> None:
    settings = stack_settings(tmp_path)
    async with running_stack(settings, skipping_env.client) as stack:
        check_in = (await _scheduled(stack.learner("alice", AGENT)))["check_in_id"]
    async with running_stack(settings, skipping_env.client) as stack:
        # A worker that starts finds what is scheduled, and joins what runs.
        assert await recover_check_ins(stack.client, settings, stack.database) == 1
        handle = stack.client.get_workflow_handle(check_in_workflow_id(check_in))
        await skipping_env.fast_forward(handle, MONTH - timedelta(hours=1))
        assert _arrived(stack, SentKind.CHECK_IN) == []
        await skipping_env.fast_forward(handle, timedelta(hours=2))
        await handle.result()
        assert _arrived(stack, SentKind.CHECK_IN) == ["How is the cello?"]
        assert await recover_check_ins(stack.client, settings, stack.database) == 0


@pytest.mark.acceptance("AI-36")
async def test_a_cancelled_check_in_never_fires(skipping: Stack, skipping_env: TimeSkipper) -> None:
    alice = skipping.learner("alice", PERSON)
    check_in = (await _scheduled(alice))["check_in_id"]
    path = f"/api/memory/check-ins/{check_in}/cancel"
    assert (await alice.ok("POST", path, {}))["state"] == "cancelled"
    handle = skipping.client.get_workflow_handle(check_in_workflow_id(check_in))
    await handle.result()
    assert _arrived(skipping, SentKind.CHECK_IN) == []
    mallory = skipping.learner("mallory", PERSON)
    assert (await mallory.refused("POST", path, {}))[0] == 404
    listed = await alice.ok("GET", "/api/memory/check-ins")
    assert [one["state"] for one in listed["check_ins"]] == ["cancelled"]


@pytest.mark.acceptance("AI-36")
@pytest.mark.parametrize("ahead", [timedelta(minutes=-1), timedelta(days=-400), timedelta(days=5_000)])
async def test_a_check_in_in_the_past_or_too_far_ahead_is_refused(stack: Stack, ahead: timedelta) -> None:
    due = (datetime.now(UTC) + ahead).isoformat()
    agent = stack.learner("alice", AGENT)
    done = await _run(agent, "schedule_check_in", text="too late", due_at=due)
    assert (done["status"], done["error"]["code"]) == ("failure", "INVALID_INPUT"), done
    assert (await agent.ok("GET", "/api/memory/check-ins"))["total"] == 0


@pytest.mark.acceptance("AI-32")
async def test_an_answer_after_a_restart_reaches_who_asked(tmp_path: Path, temporal_address: str) -> None:
    settings = stack_settings(tmp_path)
    client = await connect(temporal_address)
    async with running_stack(settings, client) as stack:
        agent = stack.learner("alice", AGENT)
        asked = await _run(agent, "ask_clarifying_question", question="Which Anna?", options=["A", "B"])
        assert asked["status"] == "queued", asked
        assert "inbox" in asked["next_action"]
        assert _arrived(stack, SentKind.QUESTION) == ["Which Anna?"]
        (item,) = (await agent.ok("GET", "/api/inbox?kind=question"))["items"]
        assert (item["text"], item["arguments"]) == ("Which Anna?", {"options": ["A", "B"]})
    async with running_stack(settings, client) as stack:
        await recover_invocations(stack.client, settings, stack.database)
        alice = stack.learner("alice", PERSON)
        path = f"/api/inbox/{_question(stack)}/answer"
        assert (await stack.learner("alice", AGENT).refused("POST", path, {"answer": "A"}))[0] == 403
        assert (await stack.learner("bob", PERSON).refused("POST", path, {"answer": "A"}))[0] == 404
        status, error = await alice.refused("POST", path, {"answer": "C"})
        assert (status, error["code"]) == (422, "VALIDATION_FAILED")
        assert (await alice.ok("POST", path, {"answer": "B"}))["state"] == "answered"
        done = await _ended(alice, asked["invocation_id"])
        assert (done["status"], done["outputs"]["answer"]) == ("success", "B"), done
        assert done["record"]["retry_count"] == 0
        assert (await alice.ok("GET", "/api/inbox"))["items"] == []
        status, error = await alice.refused("POST", path, {"answer": "A"})
        assert (status, error["code"], error["current_state"]) == (409, "CONFLICT", "answered")


@pytest.mark.acceptance("AI-32")
async def test_a_question_that_nobody_answers_in_time_ends_in_part(
    skipping: Stack, skipping_env: TimeSkipper
) -> None:
    alice = skipping.learner("alice", PERSON)
    asked = await _run(alice, "ask_clarifying_question", question="Which Anna?")
    handle = skipping.client.get_workflow_handle(skill_invocation_id(asked["invocation_id"]))
    await skipping_env.fast_forward(handle, timedelta(days=6))
    assert (await alice.ok("GET", f"/api/skills/invocations/{asked['invocation_id']}"))["status"] == "queued"
    await skipping_env.fast_forward(handle, timedelta(days=2))
    done = await _ended(alice, asked["invocation_id"])
    assert (done["status"], done["outputs"]["answered"]) == ("partial", False), done
    path = f"/api/inbox/{_question(skipping)}/answer"
    status, error = await alice.refused("POST", path, {"answer": "late"})
    assert (status, error["current_state"]) == (409, "expired")


async def test_a_question_whose_call_is_given_up_waits_no_longer(stack: Stack) -> None:
    alice = stack.learner("alice", PERSON)
    asked = await _run(alice, "ask_clarifying_question", question="Which Anna?")
    path = f"/api/skills/invocations/{asked['invocation_id']}/cancel"
    assert (await alice.ok("POST", path, {}))["status"] == "cancelled"
    path = f"/api/inbox/{_question(stack)}/answer"
    status, error = await alice.refused("POST", path, {"answer": "late"})
    assert (status, error["current_state"]) == (409, "withdrawn")


async def test_what_is_remembered_is_listed_and_erased_by_its_owner(stack: Stack) -> None:
    alice, bob = stack.learner("alice", PERSON), stack.learner("bob", PERSON)
    kept = await _run(alice, "store_memory_item", text="The key is under the mat")
    await _run(alice, "upsert_world_fact", subject="Anna", predicate="lives_in", object="Lisbon")
    listed = await alice.ok("GET", "/api/memory?kind=memory")
    assert [one["text"] for one in listed["memories"]] == ["The key is under the mat"]
    assert (await alice.ok("GET", "/api/memory/facts?subject=anna"))["total"] == 1
    assert (await bob.ok("GET", "/api/memory"))["total"] == 0
    path = f"/api/memory/{kept['outputs']['memory_id']}"
    assert (await bob.refused("DELETE", path))[0] == 404
    await alice.ok("DELETE", path)
    assert (await alice.ok("GET", "/api/memory?kind=memory"))["total"] == 0
