"""The registry of observation adapters over HTTP: phases, health, refusals with what to use instead."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.learning.observation import (
    AdapterPhase,
    ObservationAdapterKind,
    ToolCallReceipt,
    ToolEffect,
    ToolOutcome,
)
from domain.learning.adapters import ADAPTERS, DEPLOYED
from domain.learning.interpretation.meaningful import observed_tool_call
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio

LATER = sorted(kind.value for kind in ObservationAdapterKind if kind not in DEPLOYED)
NEW = {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"}


@pytest.fixture
async def without_terminals(tmp_path: Path, temporal_address: str) -> AsyncIterator[Stack]:
    """The application with two adapters taken out of use."""
    settings = stack_settings(tmp_path, disabled_adapters="terminal_command, process_launch")
    async with running_stack(settings, await connect(temporal_address)) as running:
        yield running


async def registry(learner: Learner) -> dict[str, dict[str, Any]]:
    answer = await learner.ok("GET", "/api/learn/adapters")
    return {entry["status"]["kind"]: entry for entry in answer["adapters"]}


def ingest_of(learner: Learner) -> str:
    return f"/api/learn/sessions/{learner.session_id}/observations"


def assert_unavailable(status: int, error: dict[str, Any], kind: str, *, passes: bool = False) -> None:
    """``passes`` where the same request may be taken later."""
    assert (status, error["code"], error["retryable"]) == (503, "ADAPTER_UNAVAILABLE", passes)
    assert error["alternatives"]
    assert kind in error["message"]
    assert all(instead in error["message"] for instead in error["alternatives"])
    (missing,) = error["adapters"]
    assert (missing["kind"], missing["alternatives"]) == (kind, error["alternatives"])
    assert set(error["alternatives"]) <= {deployed.value for deployed in DEPLOYED} - {kind}


async def test_the_registry_lists_all_thirteen_kinds_with_their_phase(stack: Stack) -> None:
    listed = await registry(stack.learner())
    assert list(listed) == [kind.value for kind in ADAPTERS]
    assert len(listed) == 13
    for kind, entry in listed.items():
        is_first = entry["status"]["phase"] == AdapterPhase.PHASE_1
        assert (entry["available"], entry["status"]["enabled"]) == (is_first, is_first), kind
        assert "last_seen_at" not in entry["status"] or entry["status"]["last_seen_at"] is None
        assert entry["alternatives"], kind


@pytest.mark.thorough
@pytest.mark.acceptance("R11.2-44")
@pytest.mark.parametrize("kind", LATER)
async def test_what_asks_for_a_later_adapter_is_told_what_to_use_instead(stack: Stack, kind: str) -> None:
    alice = stack.learner()
    asked = {**NEW, "required_adapters": ["terminal_command", kind]}
    assert_unavailable(*await alice.refused("POST", "/api/learn/sessions", asked), kind)
    assert (await alice.ok("GET", "/api/learn/sessions"))["total"] == 0

    await alice.create()
    events = alice.events()
    events[2] = {**events[2], "adapter_kind": kind}
    assert_unavailable(*await alice.refused("POST", ingest_of(alice), {"events": events}), kind)
    assert (await alice.ok("GET", ingest_of(alice)))["total"] == 0
    assert await alice.state() == "armed"

    status, error = await alice.refused("POST", f"/api/learn/adapters/{kind}/heartbeat", {})
    assert_unavailable(status, error, kind)


async def test_a_disabled_adapter_is_refused_as_one_that_is_not_there(without_terminals: Stack) -> None:
    alice = without_terminals.learner()
    listed = await registry(alice)
    assert not listed["terminal_command"]["available"]
    assert "disabled in the settings" in listed["terminal_command"]["reason"]
    assert "process_launch" not in listed["terminal_command"]["alternatives"]
    await alice.create()
    status, error = await alice.refused("POST", ingest_of(alice), {"events": alice.events()})
    assert_unavailable(status, error, "terminal_command")
    receipts = [{**event, "adapter_kind": "wrapper_receipt"} for event in alice.events()]
    assert (await alice.ok("POST", ingest_of(alice), {"events": receipts}))["accepted"] == len(receipts)


async def test_nothing_is_observed_where_nothing_can_observe(tmp_path: Path, temporal_address: str) -> None:
    settings = stack_settings(tmp_path, disabled_adapters=",".join(DEPLOYED))
    async with running_stack(settings, await connect(temporal_address)) as running:
        alice = running.learner()
        status, error = await alice.refused("POST", "/api/learn/sessions", NEW)
        assert (status, error["code"]) == (503, "ADAPTER_UNAVAILABLE")
        assert len(error["adapters"]) == len(DEPLOYED)
        assert error["alternatives"] == []
        await alice.create(observation_mode="none")


async def test_events_and_heartbeats_tell_when_an_adapter_was_last_seen_and_how_it_fares(
    stack: Stack,
) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    beat = "/api/learn/adapters/browser_dom/heartbeat"
    told = await alice.ok("POST", beat, {"error_code": "DEVTOOLS_UNREACHABLE"})
    assert (told["status"]["healthy"], told["status"]["last_error_code"]) == (False, "DEVTOOLS_UNREACHABLE")
    assert (await registry(alice))["browser_dom"] == told
    assert (await registry(bob))["browser_dom"]["status"]["healthy"]

    asked = {**NEW, "required_adapters": ["browser_dom"]}
    assert_unavailable(*await alice.refused("POST", "/api/learn/sessions", asked), "browser_dom", passes=True)
    assert (await alice.ok("POST", beat, {}))["status"]["healthy"]
    await alice.create(required_adapters=["browser_dom"])

    await alice.observe()
    seen = (await registry(alice))["terminal_command"]["status"]
    assert seen["healthy"]
    assert seen["last_seen_at"]
    assert (await registry(bob))["terminal_command"]["status"]["last_seen_at"] is None


async def test_a_broken_adapter_is_well_again_when_its_events_come_in(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.observe()
    await alice.ok("POST", "/api/learn/adapters/terminal_command/heartbeat", {"error_code": "SPOOL_FULL"})
    assert not (await registry(alice))["terminal_command"]["status"]["healthy"]
    await alice.observe()
    assert (await registry(alice))["terminal_command"]["status"]["healthy"]


async def test_an_adapter_that_cannot_record_is_not_armed(stack: Stack) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    await alice.ok("POST", "/api/learn/adapters/wrapper_receipt/heartbeat", {"error_code": "SPOOL_FULL"})
    every = {kind.value for kind in DEPLOYED}
    for learner, armed in ((alice, every - {"wrapper_receipt"}), (bob, every)):
        await learner.create()
        assert set((await learner.act("start"))["adapters_armed"]) == armed


async def test_a_session_that_was_created_is_answered_again_though_its_adapter_broke(stack: Stack) -> None:
    alice = stack.learner()
    asked = {**NEW, "required_adapters": ["wrapper_receipt"]}
    first = await alice.ok("POST", "/api/learn/sessions", asked, idempotency_key="mine")
    await alice.ok("POST", "/api/learn/adapters/wrapper_receipt/heartbeat", {"error_code": "SPOOL_FULL"})
    assert await alice.ok("POST", "/api/learn/sessions", asked, idempotency_key="mine") == first


@pytest.mark.acceptance("0A.33-3")
async def test_a_watched_task_of_wrapped_commands_becomes_an_ability(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    started = await alice.act("start")
    assert started["observation_active"]
    assert set(started["adapters_armed"]) == {kind.value for kind in DEPLOYED}
    receipts = [
        {**event, "adapter_kind": "wrapper_receipt", "control_surface": "wrapper_script"}
        for event in alice.events()
    ]
    receipts[-1]["action_label"] = "Pack the report"
    await alice.ok("POST", ingest_of(alice), {"events": receipts})
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert detail["interpretation"]["preferred_control_surfaces"] == ["wrapper_script"]
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    assert any("Pack the report" in file["content"] for file in files["files"])
    await alice.propose_act("approve")
    assert await alice.state() == "approved"
    found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": detail["proposal"]["title"]})
    assert found["matches"][0]["usable_now"]


async def test_a_tool_call_becomes_an_observation_of_a_session_that_watches_the_agent(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create(observation_mode="inside_agent")
    session = stack.services.sessions.owned(alice.session_id, alice.user).session
    receipt = ToolCallReceipt(
        receipt_id=str(uuid7()),
        server_id="calendar",
        tool_name="create_event",
        effect=ToolEffect.CREATE,
        outcome=ToolOutcome.OK,
        argument_names=("title",),
        finished_at=datetime.now(UTC),
    )
    event = observed_tool_call(receipt, session)
    assert event is not None
    body = {"events": [event.model_dump(mode="json")]}
    assert (await alice.ok("POST", ingest_of(alice), body))["accepted"] == 1
    assert (await alice.ok("POST", ingest_of(alice), body))["duplicate"] == 1
    assert await alice.state() == "capturing"
    await alice.act("stop")
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert detail["interpretation"]["preferred_control_surfaces"] == ["mcp_server"]
    assert (await registry(alice))["mcp_receipt"]["status"]["last_seen_at"]
