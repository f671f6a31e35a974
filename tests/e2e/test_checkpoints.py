"""An agent's word on checkpoints: its receipt, what is handed over, and what it makes of the ability."""

import json
from typing import Any
from uuid import uuid4

import anyio
import pytest
from uuid_utils import uuid7

from stores.platform.projection.projector import Projector
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

VERIFY = "/api/bridge/verify-checkpoint"


def lines(stack: Stack, name: str) -> list[dict[str, Any]]:
    """What a JSONL file of the memory tree holds."""
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    path = stack.settings.memory_root / "system" / "learning" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
async def alice(stack: Stack) -> Learner:
    """A user whose ability is installed."""
    alice = stack.learner()
    await alice.teach(allow_private_install=True)
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    return alice


async def ability_of(alice: Learner) -> str:
    session = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/detail")
    return str(session["ability_id"])


async def report(alice: Learner, status: str, **fields: Any) -> dict[str, Any]:
    body = {"checkpoint_id": "cp-01", "status": status, "evidence": "seen", **fields}
    return await alice.ok("POST", VERIFY, body)


@pytest.mark.acceptance("R11.2-18")
async def test_a_reached_checkpoint_leaves_a_receipt_and_nothing_else_to_do(
    stack: Stack, alice: Learner
) -> None:
    receipt = await report(alice, "reached", learn_session_id=alice.session_id)
    assert lines(stack, "checkpoint_receipts") == [{k: v for k, v in receipt.items() if v is not None}]
    assert lines(stack, "friction_events") == lines(stack, "repair_candidates") == []
    listed = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/checkpoint-receipts")
    assert listed["receipts"] == [receipt]
    assert receipt["ability_id"] == await ability_of(alice)


@pytest.mark.acceptance("R11.2-19")
async def test_a_skipped_checkpoint_is_handed_over_as_friction(stack: Stack, alice: Learner) -> None:
    receipt = await report(alice, "skipped", learn_session_id=alice.session_id, reason="already there")
    (friction,) = lines(stack, "friction_events")
    assert (friction["receipt_id"], friction["reason"]) == (receipt["receipt_id"], "already there")
    assert lines(stack, "repair_candidates") == []


@pytest.mark.acceptance("R11.2-20")
async def test_a_failed_checkpoint_is_handed_over_as_a_repair_candidate(stack: Stack, alice: Learner) -> None:
    receipt = await report(alice, "failed", learn_session_id=alice.session_id, reason="no such button")
    (candidate,) = lines(stack, "repair_candidates")
    assert candidate["receipt_id"] == receipt["receipt_id"]
    assert candidate["failure_fingerprint"] == "checkpoint:cp-01"
    assert lines(stack, "friction_events") == []


async def test_an_ability_of_which_nobody_verifies_anything_stays_usable(
    stack: Stack, alice: Learner
) -> None:
    entry = await alice.ok("GET", f"/api/abilities/{await ability_of(alice)}/availability")
    assert (entry["usable_now"], entry["checkpoint_health"]) == (True, "no_data")
    assert lines(stack, "checkpoint_receipts") == []


async def test_secrets_in_what_was_seen_are_masked_before_they_are_kept(stack: Stack, alice: Learner) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    receipt = await report(
        alice,
        "failed",
        learn_session_id=alice.session_id,
        evidence=f"the header was Authorization: Bearer {secret}",
        reason=f"GITHUB_TOKEN={secret} was refused",
    )
    assert "[MASKED]" in receipt["evidence"]
    assert secret not in json.dumps(receipt)
    lines(stack, "checkpoint_receipts")
    for path in stack.settings.memory_root.rglob("*.jsonl"):
        assert secret not in path.read_text(), path
    for path in stack.settings.data_dir.rglob("*.db*"):
        assert secret.encode() not in path.read_bytes(), path


async def test_the_same_key_verifies_once_and_another_request_under_it_is_refused(
    stack: Stack, alice: Learner
) -> None:
    body = {
        "checkpoint_id": "cp-01",
        "status": "reached",
        "evidence": "seen",
        "learn_session_id": alice.session_id,
    }
    answers: list[dict[str, Any]] = []

    async def once() -> None:
        answers.append(await alice.ok("POST", VERIFY, body, idempotency_key="once"))

    async with anyio.create_task_group() as together:
        for _ in range(4):
            together.start_soon(once)
    assert all(answer == answers[0] for answer in answers)
    assert len(lines(stack, "checkpoint_receipts")) == 1
    status, error = await alice.refused("POST", VERIFY, {**body, "status": "failed"}, idempotency_key="once")
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_health_follows_the_newest_twenty_receipts_into_snapshot_and_lookup(
    stack: Stack, alice: Learner
) -> None:
    ability = await ability_of(alice)

    async def health() -> tuple[str, str]:
        entry = await alice.ok("GET", f"/api/abilities/{ability}/availability")
        Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
        snapshot = stack.settings.memory_root / "system/abilities/availability_current.json"
        (filed,) = json.loads(snapshot.read_text())["abilities"]
        return entry["checkpoint_health"], filed["checkpoint_health"]

    for _ in range(2):
        await report(alice, "reached", ability_id=ability)
    assert await health() == ("no_data", "no_data")
    await report(alice, "reached", ability_id=ability)
    assert await health() == ("strong", "strong")
    await report(alice, "skipped", ability_id=ability)
    assert await health() == ("moderate", "moderate")
    for _ in range(2):
        await report(alice, "skipped", ability_id=ability)
    assert await health() == ("weak", "weak")
    for _ in range(18):
        await report(alice, "reached", ability_id=ability)
    assert await health() == ("strong", "strong")
    listed = await alice.ok("GET", f"/api/abilities/{ability}/checkpoint-receipts")
    assert listed["total"] == 24


async def test_a_new_version_of_an_ability_keeps_its_checkpoint_health(stack: Stack, alice: Learner) -> None:
    ability = await ability_of(alice)
    for _ in range(3):
        await report(alice, "reached", ability_id=ability)
    await alice.propose_act("approve")
    entry = await alice.ok("GET", f"/api/abilities/{ability}/availability")
    assert (entry["install_lane"], entry["checkpoint_health"]) == ("approved_workspace", "strong")


async def test_progress_lays_the_newest_receipt_over_each_checkpoint_of_the_proposal(
    stack: Stack, alice: Learner
) -> None:
    path = f"/api/learn/sessions/{alice.session_id}/checkpoint-progress"
    before = await alice.ok("GET", path)
    assert before["total"] >= 2
    assert {one["status"] for one in before["checkpoints"]} == {"not_reached"}
    await report(alice, "failed", learn_session_id=alice.session_id, reason="too early")
    await report(alice, "reached", learn_session_id=alice.session_id)
    after = await alice.ok("GET", path)
    assert [one["checkpoint_id"] for one in after["checkpoints"]] == [
        one["checkpoint_id"] for one in before["checkpoints"]
    ]
    assert (after["reached"], after["checkpoints"][0]["status"]) == (1, "reached")
    assert after["checkpoints"][0]["evidence"] == "seen"


async def test_a_dispatch_has_its_own_receipts_and_progress(stack: Stack, alice: Learner) -> None:
    ability, dispatch = await ability_of(alice), str(uuid4())
    receipt = await report(alice, "reached", ability_id=ability, dispatch_id=dispatch)
    await report(alice, "reached", ability_id=ability, dispatch_id=str(uuid4()))
    listed = await alice.ok("GET", f"/api/dispatches/{dispatch}/checkpoint-receipts")
    assert listed["receipts"] == [receipt]
    progress = await alice.ok("GET", f"/api/dispatches/{dispatch}/checkpoint-progress")
    assert (progress["reached"], progress["checkpoints"][0]["checkpoint_id"]) == (1, "cp-01")
    mallory = stack.learner("mallory")
    assert (await mallory.refused("GET", f"/api/dispatches/{dispatch}/checkpoint-receipts"))[0] == 404


async def test_a_listener_of_the_session_hears_of_it_at_once(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await report(alice, "skipped", learn_session_id=alice.session_id, reason="not needed")
    await alice.act("cancel", {"reason": "enough"})
    response = await alice.call("GET", f"/api/learn/sessions/{alice.session_id}/events")
    block = next(part for part in response.text.split("\n\n") if "event: checkpoint.skipped" in part)
    data = json.loads(block.split("data: ", 1)[1])
    assert (data["session_id"], data["checkpoint_id"]) == (alice.session_id, "cp-01")
    assert (data["evidence"], data["data"]["payload"]["reason"]) == ("seen", "not needed")


async def test_what_is_somebody_elses_or_not_planned_is_refused_and_leaves_nothing(
    stack: Stack, alice: Learner
) -> None:
    ability, mallory = await ability_of(alice), stack.learner("mallory")
    body = {"checkpoint_id": "cp-01", "status": "reached", "evidence": "seen"}
    for who, fields, expected in (
        (mallory, {"learn_session_id": alice.session_id}, "LEARN_SESSION_NOT_FOUND"),
        (mallory, {"ability_id": ability}, "ABILITY_NOT_FOUND"),
        (alice, {"learn_session_id": str(uuid7())}, "LEARN_SESSION_NOT_FOUND"),
        (alice, {"ability_id": ability, "checkpoint_id": "cp-99"}, "VALIDATION_FAILED"),
        (alice, {"ability_id": ability, "checkpoint_id": "div-8472"}, "VALIDATION_FAILED"),
        (alice, {}, "VALIDATION_FAILED"),
    ):
        _, error = await who.refused("POST", VERIFY, {**body, **fields}, idempotency_key="k")
        assert error["code"] == expected
    assert lines(stack, "checkpoint_receipts") == []
