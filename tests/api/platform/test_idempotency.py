"""The same key gets the same answer, whatever happened since, and stands for one request only."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import func, select
from uuid_utils import uuid7

from api.app import create_app
from api.platform.openapi import examples
from api.services import Services, open_mcp_services, open_services
from config.settings import Settings
from gateways.learning.sessions import LearnGateway
from stores.platform.tables import learn_sessions, maintenance_runs, observations
from tests.api.mcp.grant_world import add_standing_approval
from tests.api.mcp.sign_in_world import signed_in
from tests.api.platform.lives import (
    began,
    called,
    documents_read,
    imported,
    mined,
    registered,
    remembered,
    skills_run,
    tried,
)
from tests.api.route_table import KEYED
from tests.api.world import ALL_SCOPES, ROUTES, footprint
from tests.fixtures.learner import SALES_REPORT, Learner
from tests.fixtures.stack import Stack

EXAMPLES = examples().requests

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

ABILITY_COMMANDS: tuple[tuple[str, Any], ...] = (
    ("ability_rollback", {}),
    ("ability_deactivate", None),
    ("ability_activate", {}),
    ("ability_promote_shared", None),
    ("ability_demote_private", None),
    ("ability_quarantine", {"reason": "It looks wrong"}),
    ("ability_unquarantine", {"reason": "It was right"}),
    ("ability_archive", None),
)
"""A way through every state of an ability that has two versions."""

NEW = {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"}
POLICY = {"policy_id": "01936f5e-0000-7000-8000-000000000001", "mode": "blank_artifact"}


@dataclass(frozen=True)
class Sent:
    """A request that was carried out, and what it was answered."""

    operation_id: str
    path: str
    body: Any
    key: str
    answer: httpx.Response


@pytest.fixture(scope="module")
async def history(shared: Stack) -> list[Sent]:
    """A whole life of requests, one of every kind, each under a key of its own."""
    alice = shared.learner("alice", ALL_SCOPES)
    sent: list[Sent] = []

    async def ask(operation_id: str, body: Any = None, **ids: str) -> dict[str, Any]:
        route = ROUTES[operation_id]
        path = route.path.replace(":path", "").format(
            session_id=alice.session_id, proposal_id=alice.proposal_id, **ids
        )
        key = f"{operation_id} #{len(sent)}"
        answer = await alice.call(route.method, path, body, idempotency_key=key)
        assert answer.is_success, f"{operation_id}: {answer.text}"
        sent.append(Sent(operation_id, path, body, key, answer))
        found: dict[str, Any] = answer.json()
        return found

    async def create(**fields: Any) -> None:
        answer = await ask("learn_session_create", {**NEW, "allow_private_install": True, **fields})
        alice.session_id = answer["session"]["learn_session_id"]

    async def draft() -> None:
        await ask("learn_session_stop", {"reason": "done"})
        answer = await ask("learn_session_generate_proposal", {})
        alice.proposal_id = answer["proposal_id"]

    await create(ask_before_build=True)
    await ask("learn_session_start")
    await ask("learn_session_pause")
    await ask("learn_session_resume")
    await ask("learn_session_mark_goal", {"goal_description": "Summarise the sales figures"})
    await ask("learn_session_mark_step", {"step_label": "Prepare"})
    await began(alice, ask)
    events = alice.events()
    await ask("learn_observations_ingest", {"events": events})
    extra = alice.events([("touch left-over", ("left-over",))])
    await ask("learn_observations_ingest", {"events": extra})
    await ask("learn_session_trim", {"trim_kind": "trim_end", "to_event_id": extra[0]["event_id"]})
    await ask("learn_observation_remove", event_id=extra[0]["event_id"])
    await ask("learn_session_set_test_policy", {"test_policy": POLICY})
    await draft()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    replies = [{"question_id": q["question_id"], "answer_text": "As suggested"} for q in detail["questions"]]
    await ask("learn_session_answer_questions", {"answers": replies})
    await ask(
        "learn_proposal_revise", {"revision_instructions": "x", "edited_fields": {"goal_summary": "A report"}}
    )
    await ask("learn_proposal_validate", {})
    assert await alice.settled("testing_proposal") == "ready_for_review"
    await ask("learn_proposal_request_more_tests", {"selected_tests": ["lint"]})
    assert await alice.settled("testing_proposal") == "ready_for_review"
    await ask("learn_proposal_request_adapter", {"wanted": "The archive"})
    await ask("learn_proposal_install", {"install_lane": "experimental_private"})
    await ask("learn_proposal_approve", {"approval_note": "good"})
    await create()
    await ask("learn_session_start")
    await ask("learn_session_mark_goal", {"goal_description": "Summarise the sales figures"})
    await ask("learn_observations_ingest", {"events": alice.events(SALES_REPORT[:-1])})
    await draft()
    await ask("learn_proposal_validate", {})
    assert await alice.settled("testing_proposal") == "ready_for_review"
    installed = await ask("learn_proposal_install", {"install_lane": "experimental_private"})
    seen = {"checkpoint_id": "cp-01", "status": "reached", "ability_id": installed["ability_id"]}
    await ask("bridge_verify_checkpoint", {**seen, "dispatch_id": str(uuid7()), "evidence": "It is there"})
    await ask("capability_reprobe", {"capability_id": installed["ability_id"], "canaries": 1})
    await tried(alice, ask, installed["ability_id"])
    for command, body in ABILITY_COMMANDS:
        await ask(command, body, ability_id=installed["ability_id"])
    await create()
    await ask("learn_session_start")
    await ask("learn_session_mark_goal", {"goal_description": "Summarise the sales figures"})
    await ask("learn_observations_ingest", {"events": alice.events()})
    await draft()
    await ask("learn_proposal_validate", {})
    assert await alice.settled("testing_proposal") == "ready_for_review"
    await ask("learn_proposal_reject", {"reason": "no"})
    await create()
    await ask("learn_session_cancel", {"reason": "no"})
    await create(entry_mode="autonomous_agent_practice", observation_mode="inside_agent")
    await ask("learn_session_practice", EXAMPLES["learn_session_practice"])
    assert await alice.settled("armed", "capturing") == "stopped"
    await alice.act("cancel")
    await create()
    await ask("learn_session_delete")
    await ask("maintenance_run_start", {"dry_run": True})
    await mined(shared, alice, ask)
    grant_id = str(uuid7())
    add_standing_approval(shared.database, "alice", grant_id)
    await ask("mcp_grant_revoke", grant_id=grant_id)
    await called(shared, alice, ask)
    await ask("mcp_policy_update", EXAMPLES["mcp_policy_update"])
    await ask("mcp_policy_runtimes_replace", EXAMPLES["mcp_policy_runtimes_replace"])
    await registered(shared, alice, ask)
    await signed_in(shared, alice, ask)
    await documents_read(alice, ask)
    await skills_run(alice, ask)
    await remembered(alice, ask, shared.database)
    await imported(alice, ask)
    category = await ask("category_create", {"title": "Figures"})
    ids = {"category_id": category["category_id"], "item_kind": "automation", "item_id": "mail"}
    await ask("category_change", {"title": "Reports"}, **ids)
    await ask("category_assign", {"item_kind": "automation", "item_id": "mail"}, **ids)
    await ask("category_item_remove", **ids)
    await ask("category_delete", **ids)
    return sent


async def again(caller: Learner, sent: Sent, body: Any = ...) -> httpx.Response:
    content = sent.body if body is ... else body
    method = ROUTES[sent.operation_id].method
    return await caller.call(method, sent.path, content, idempotency_key=sent.key)


async def test_the_life_holds_every_write_that_takes_a_key(history: list[Sent]) -> None:
    # No import can be installed yet; and whether an install of a pack can still be given up is a matter of time.
    left_out = {"skill_import_install_private", "skill_pack_install_cancel"}
    assert {sent.operation_id for sent in history} == KEYED - left_out


async def test_every_write_answers_the_same_key_with_the_same_bytes_for_good(
    shared: Stack, history: list[Sent]
) -> None:
    alice = shared.learner("alice", ALL_SCOPES)
    before = footprint(shared)
    for sent in history:
        answer = await again(alice, sent)
        assert (answer.status_code, answer.content) == (sent.answer.status_code, sent.answer.content), (
            sent.key
        )
    assert footprint(shared) == before


async def test_a_key_stands_for_one_request_only(shared: Stack, history: list[Sent]) -> None:
    alice = shared.learner("alice", ALL_SCOPES)
    before = footprint(shared)
    for sent in history:
        other = CHANGED.get(sent.operation_id)
        if other is None:
            continue
        answer = await again(alice, sent, {**(sent.body or {}), **other})
        assert answer.status_code == 422, sent.key
        assert answer.json()["error"]["code"] == "IDEMPOTENCY_KEY_REUSED", sent.key
    start = next(sent for sent in history if sent.operation_id == "learn_session_start")
    for sent in history:
        if sent.operation_id != "learn_session_start":
            answer = await again(alice, replace(start, key=sent.key))
            assert answer.json()["error"]["code"] == "IDEMPOTENCY_KEY_REUSED", sent.key
            answer = await again(alice, replace(sent, key=start.key))
            assert answer.json()["error"]["code"] == "IDEMPOTENCY_KEY_REUSED", sent.key
    assert footprint(shared) == before


REASON = {"reason": "another one"}
CHANGED: dict[str, dict[str, Any]] = {
    "learn_session_create": {"entry_mode": "coaching_agent"},
    "learn_session_start": REASON,
    "learn_session_pause": REASON,
    "learn_session_resume": REASON,
    "learn_session_stop": REASON,
    "learn_session_cancel": REASON,
    "learn_session_mark_goal": {"goal_description": "Another goal"},
    "learn_session_mark_step": {"step_label": "Another step"},
    "learn_session_trim": {"trim_kind": "trim_start"},
    "learn_session_set_test_policy": {"test_policy": {**POLICY, "max_actions": 3}},
    "learn_session_generate_proposal": {"ask_before_build": True},
    "learn_session_answer_questions": {
        "answers": [{"question_id": POLICY["policy_id"], "answer_text": "Another"}]
    },
    "learn_proposal_revise": {"revision_instructions": "another"},
    "learn_proposal_validate": {"run_label": "another"},
    "learn_proposal_request_more_tests": {"run_label": "another"},
    "learn_proposal_request_adapter": {"wanted": "another"},
    "learn_proposal_install": {"install_lane": "approved_workspace"},
    "learn_proposal_approve": {"approval_note": "another"},
    "learn_proposal_reject": REASON,
    "learn_session_practice": {"goal": "Another goal"},
    "skill_import_scan": {"source": "anthropic_bundle"},
    "skill_import_stage": {"stage_notes": "another"},
    "skill_import_approve": {"approval_note": "another"},
    "skill_import_reject": REASON,
    "skill_import_discard": REASON,
    "skill_import_retry": {"retry_kind": "stage"},
    "skill_pack_put": {"title": "Another"},
    "skill_pack_install": {"target_scope": "workspace"},
    "mcp_server_register": {"display_name": "Another"},
    "mcp_server_patch": {"display_name": "Another"},
    "mcp_tool_review": {"declared_idempotent": True},
    "mcp_auth_profile_create": {"refresh_policy": "deny"},
    "mcp_auth_profile_patch": {"refresh_policy": "deny"},
    "mcp_auth_start": {"requested_scopes_override": ["another"]},
    "mcp_auth_refresh": {"force": False},
    "mcp_auth_revoke": {"revoke_remote": True},
    "mcp_auth_challenge_respond": {"decision": "retry"},
    "maintenance_run_start": {"dry_run": False},
    "mcp_policy_update": {"decision": {"mode": "disabled"}},
    "mcp_policy_runtimes_replace": {"provider": "codex"},
    **{name: REASON for name, _ in ABILITY_COMMANDS},
}


async def test_another_api_process_over_the_same_store_answers_the_same(
    shared: Stack, history: list[Sent]
) -> None:
    async with another_api(shared) as http:
        alice = shared.learner("alice", ALL_SCOPES)
        restarted = Learner(http, alice.secret, "alice")
        for sent in history:
            assert (await again(restarted, sent)).content == sent.answer.content, sent.key


@asynccontextmanager
async def another_api(stack: Stack) -> AsyncIterator[httpx.AsyncClient]:
    """A second API over the same store and Temporal."""

    async def opened(settings: Settings) -> Services:
        services = await open_services(settings)
        gateway = LearnGateway(stack.client, settings.task_queue, services.sessions)
        mcp = open_mcp_services(settings, services.database, stack.client)
        return replace(services, client=stack.client, gateway=gateway, mcp=mcp)

    app = create_app(stack.settings, opened)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://apprentice") as http,
    ):
        yield http


async def test_two_users_may_use_the_same_key(shared: Stack) -> None:
    carol, dave = shared.learner("carol"), shared.learner("dave")
    for caller in (carol, dave):
        first = await caller.ok("POST", "/api/learn/sessions", NEW, idempotency_key="mine")
        assert first["session"]["owner_user_id"] == caller.user
        assert await caller.ok("POST", "/api/learn/sessions", NEW, idempotency_key="mine") == first


async def test_the_key_may_stand_in_the_body_and_the_header_counts(shared: Stack) -> None:
    erin = shared.learner("erin")
    body = {**NEW, "client_request_id": "first"}
    first = await erin.ok("POST", "/api/learn/sessions", body)
    erin.session_id = first["session"]["learn_session_id"]
    assert await erin.ok("POST", "/api/learn/sessions", body) == first
    assert await erin.ok("POST", "/api/learn/sessions", NEW, idempotency_key="first") == first
    other = {**body, "entry_mode": "coaching_agent"}
    status, error = await erin.refused("POST", "/api/learn/sessions", other)
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    started = await erin.act("start", {"client_request_id": "ignored"}, idempotency_key="second")
    assert await erin.act("start", {"client_request_id": "second"}) == started


@pytest.mark.parametrize(
    "key", ["once-1", "learn-session/x#1", "client-1", "a b", "~!@#$%^&*()_+", "k" * 120]
)
async def test_a_key_may_look_like_anything(shared: Stack, key: str) -> None:
    user = shared.learner(f"user-{sorted(key)[0].encode().hex()}-{len(key)}")
    await user.create()
    await user.act("start", idempotency_key=key)
    await user.act("pause")
    assert (await user.act("start", idempotency_key=key))["session"]["state"] == "capturing"
    assert await user.state() == "paused"


async def test_a_client_cannot_take_the_key_of_a_decision_that_nobody_asks_for(shared: Stack) -> None:
    frank = shared.learner("frank")
    await frank.create()
    await frank.act("start")
    await frank.act("mark-goal", {"goal_description": "Begin the diary of today"})
    await frank.observe([("mkdir -p diary", ()), ("date > diary/today.txt", ("diary/today.txt",))])
    await frank.act("stop")
    for change in range(1, 25):
        key = f"learn-session/{frank.session_id}#{change}"
        await frank.act("set-test-policy", {"test_policy": POLICY}, idempotency_key=key)
    await frank.propose()
    assert await frank.prove() == "ready_for_review"


@pytest.mark.parametrize("times", [2, 8])
async def test_requests_at_once_under_one_key_are_carried_out_once(shared: Stack, times: int) -> None:
    grace = shared.learner(f"grace-{times}", ALL_SCOPES)
    session = await once(lambda: grace.call("POST", "/api/learn/sessions", NEW, idempotency_key="new"), times)
    grace.session_id = session["session"]["learn_session_id"]
    base = f"/api/learn/sessions/{grace.session_id}"
    await once(lambda: grace.call("POST", f"{base}/start", idempotency_key="begin"), times)
    mark = {"step_label": "Once"}
    await once(lambda: grace.call("POST", f"{base}/mark-step", mark, idempotency_key="mark"), times)
    batch = {"events": grace.events()}
    await once(lambda: grace.call("POST", f"{base}/observations", batch, idempotency_key="batch"), times)
    marks = [mark.kind.value for mark in shared.services.observations.boundaries_of(grace.session_id)]
    assert marks == ["start", "mark_step"]
    await once(lambda: grace.call("POST", f"{base}/stop", idempotency_key="stop"), times)
    await once(lambda: grace.call("POST", f"{base}/generate-proposal", {}, idempotency_key="draft"), times)
    with shared.database.read() as connection:
        owned = select(func.count()).select_from(learn_sessions).where(learn_sessions.c.owner == grace.user)
        held = select(func.count()).where(observations.c.session_id == grace.session_id)
        assert connection.scalar(owned) == 1
        assert connection.scalar(held) == len(batch["events"])


async def once(request: Callable[[], Awaitable[httpx.Response]], times: int) -> dict[str, Any]:
    """Sends the request several times at once; the one answer they all got."""
    answers: list[httpx.Response] = []

    async def send() -> None:
        answers.append(await request())

    async with anyio.create_task_group() as group:
        for _ in range(times):
            group.start_soon(send)
    assert {answer.is_success for answer in answers} == {True}, [answer.text for answer in answers]
    (content,) = {answer.content for answer in answers}
    found: dict[str, Any] = json.loads(content)
    return found


async def test_maintenance_asked_for_at_once_under_one_key_runs_once(shared: Stack) -> None:
    admin = shared.learner("heidi", ALL_SCOPES)
    count = select(func.count()).select_from(maintenance_runs)
    with shared.database.read() as connection:
        before = connection.scalar(count) or 0
    path, body = "/api/maintenance/runs", {"dry_run": True}
    run = await once(lambda: admin.call("POST", path, body, idempotency_key="tonight"), 4)
    with anyio.fail_after(30):
        while (await admin.ok("GET", f"{path}/{run['run_id']}"))["state"] == "running":
            await anyio.sleep(0.02)
    with shared.database.read() as connection:
        assert connection.scalar(count) == before + 1
    assert await admin.ok("POST", path, body, idempotency_key="tonight") == run
