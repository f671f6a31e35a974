"""A session answers for itself at every moment; what is not deployed says so."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import update
from uuid_utils import uuid7

from contracts.learning.session import LearningEntryMode
from domain.learning.session.deployment import (
    COMPONENTS,
    Pending,
    components,
    missing_for,
    partial_deployment,
)
from stores.platform.projection.projector import Projector
from stores.platform.tables import documents
from tests.fixtures.learner import Learner
from tests.fixtures.mined import add_mined
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def account_of(learner: Learner) -> dict[str, object]:
    """What the session says of itself."""
    return await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/account")


@pytest.mark.acceptance("learn_read_routes_not_appendix_only")
async def test_every_read_of_learning_answers_what_it_is_named_for(stack: Stack) -> None:
    learner = stack.learner()
    await learner.teach()
    session_id, proposal_id = learner.session_id, learner.proposal_id
    sessions = await learner.ok("GET", "/api/learn/sessions")
    assert [one["learn_session_id"] for one in sessions["sessions"]] == [session_id]
    proposals = await learner.ok("GET", "/api/learn/proposals")
    assert [one["proposal_id"] for one in proposals["proposals"]] == [proposal_id]
    receipts = await learner.ok("GET", "/api/learn/receipts")
    assert {one["learn_session_id"] for one in receipts["receipts"]} == {session_id}
    session = await learner.ok("GET", f"/api/learn/sessions/{session_id}/detail")
    assert session["learn_session_id"] == session_id
    detail = await learner.ok("GET", f"/api/learn/proposals/{proposal_id}/detail")
    assert detail["proposal"]["proposal_id"] == proposal_id
    await learner.propose_act("reject", {"reason": "not this way"})
    history = await learner.ok("GET", "/api/learn/history")
    assert [one["learn_session_id"] for one in history["items"]] == [session_id]
    events = await learner.call("GET", f"/api/learn/sessions/{session_id}/events")
    assert events.status_code == 200
    assert events.headers["content-type"].startswith("text/event-stream")
    assert "event: " in events.text


async def test_a_session_answers_the_eleven_questions_from_its_beginning_to_its_use(stack: Stack) -> None:
    learner = stack.learner()
    await learner.create(allow_private_install=True)
    told = await account_of(learner)
    assert told["mode"]["entry_mode"] == "demonstrating_skill"
    assert told["session"]["is_active"]
    assert "start" in told["session"]["actions"]
    assert [told[name] for name in ("meaning", "proposal", "tests", "use")] == [None] * 4

    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await learner.observe()
    told = await account_of(learner)
    assert told["observing"]["capture_state"] == "capturing"
    assert told["boundary"]["goal"] == "Summarise the sales figures"

    await learner.act("stop")
    await learner.propose()
    told = await account_of(learner)
    assert told["proposal"]["proposal_id"] == learner.proposal_id
    assert told["meaning"]["checkpoints"]
    assert told["tests"] is None

    assert await learner.prove() == "ready_for_review"
    told = await account_of(learner)
    assert (told["tests"]["overall_result"], told["tests"]["stale"], told["tests"]["failed"]) == (
        "passed",
        False,
        [],
    )

    await learner.propose_act("install", {"install_lane": "experimental_private"})
    told = await account_of(learner)
    assert (told["use"]["install_lane"], told["use"]["usable_now"]) == ("experimental_private", True)
    assert told["use"]["found_by"]
    assert told["records"]["receipts"] > 3
    assert len(told["records"]["workflows"]) == 3


@pytest.mark.acceptance("0A.33-11")
async def test_a_payload_reopens_exactly_the_session_and_proposal_it_came_from(stack: Stack) -> None:
    learner = stack.learner()
    await learner.demonstrate()
    await learner.propose()
    told = await account_of(learner)
    assert await learner.ok("POST", "/api/learn/reopen", told["reopens"]) == told

    by_proposal = {"source_surface": "inbox", "proposal_id": learner.proposal_id}
    assert (await learner.ok("POST", "/api/learn/reopen", by_proposal))[
        "learn_session_id"
    ] == learner.session_id

    mixed = {**by_proposal, "learn_session_id": str(uuid7())}
    status, error = await learner.refused("POST", "/api/learn/reopen", mixed)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    status, error = await learner.refused("POST", "/api/learn/reopen", {"source_surface": "inbox"})
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")


@pytest.mark.acceptance("0A.33-13")
@pytest.mark.acceptance("9.20-1")
@pytest.mark.acceptance("0.11C-13")
async def test_what_is_not_deployed_is_said_to_the_session_that_needs_it(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = stack.learner()
    deployment = await learner.ok("GET", "/api/learn/deployment")
    assert [part["component"] for part in deployment["components"] if not part["deployed"]] == []

    state = stack.app.state
    monkeypatch.setattr(state, "operations", state.operations - {"skill_pack_install"})
    deployment = await learner.ok("GET", "/api/learn/deployment")
    missing = [part["component"] for part in deployment["components"] if not part["deployed"]]
    assert missing == ["skill packs"]
    await learner.create(entry_mode="import_skill", observation_mode="none")
    told = await account_of(learner)
    assert any("skill packs is not deployed" in sentence for sentence in told["missing"])


async def test_files_that_lag_behind_are_told_and_the_snapshot_blocks_installs(stack: Stack) -> None:
    learner = stack.learner()
    await learner.teach(allow_private_install=True)
    await learner.propose_act("install", {"install_lane": "experimental_private"})
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    with stack.database.write() as connection:
        connection.execute(
            update(documents).where(documents.c.path.like("%availability_current.json")).values(dirty=True)
        )
    told = (await learner.ok("GET", "/api/learn/deployment"))["partial_deployment"]
    assert (told["state"], told["blocking"]) == ("availability_pending", True)


def test_without_a_part_its_operations_are_not_offered() -> None:
    everything = {name for part in COMPONENTS for name in part.operations}
    for part in COMPONENTS:
        (state,) = [one for one in components(everything - part.operations) if one.component == part.name]
        assert not state.deployed
        assert state.disables == part.disables
    assert all(one.deployed and not one.disables for one in components(everything))
    without = {one.component: one.disables for one in components(())}
    assert "mcp_dispatch_create" in without["connector policy"]
    assert "mining_candidate_accept" in without["skill mining"]
    assert missing_for(LearningEntryMode.DEMONSTRATING_SKILL, ()) == ()


def test_the_worst_of_what_is_pending_is_told() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    everything = Pending(availability=True, catalog=True, bridge=True, receipts=True, degraded="no_worker")
    order = []
    for name in ("degraded", "availability", "bridge", "catalog", "receipts"):
        found = partial_deployment(everything, now)
        order.append((found.state.value, found.blocking))
        everything = replace(everything, **{name: None if name == "degraded" else False})
    assert order == [
        ("degraded", True),
        ("availability_pending", True),
        ("bridge_pending", True),
        ("catalog_pending", False),
        ("receipt_pending", False),
    ]
    assert partial_deployment(everything, now).state.value == "none"


async def test_a_payload_of_an_ability_or_a_trace_cluster_leads_to_the_session_behind_it(
    stack: Stack,
) -> None:
    learner, bob = stack.learner(), stack.learner("bob")
    await learner.teach()
    await learner.propose_act("approve")
    (ability,) = (await learner.ok("GET", "/api/abilities/availability"))["abilities"]
    by_ability = {"source_surface": "skills", "referenced_ids": [ability["ability_id"]]}
    assert (await learner.ok("POST", "/api/learn/reopen", by_ability))[
        "learn_session_id"
    ] == learner.session_id
    # What is shared may be used by everybody; how it was taught is its owner's alone.
    status, error = await bob.refused("POST", "/api/learn/reopen", by_ability)
    assert (status, error["code"]) == (404, "PROPOSAL_NOT_FOUND")

    candidate_id = str(uuid7())
    add_mined(stack.database, learner.user, candidate_id, str(uuid7()), session_id=learner.session_id)
    candidate = await learner.ok("GET", f"/api/learn/mining/candidates/{candidate_id}")
    by_cluster = {"source_surface": "mining", "cluster_id": candidate["candidate"]["cluster"]["cluster_id"]}
    assert (await learner.ok("POST", "/api/learn/reopen", by_cluster))[
        "learn_session_id"
    ] == learner.session_id
    status, error = await bob.refused("POST", "/api/learn/reopen", by_cluster)
    assert (status, error["code"]) == (404, "NOT_FOUND")
