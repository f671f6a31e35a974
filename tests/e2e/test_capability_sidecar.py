"""The sidecar of an installed capability tells what the store knows of it: pages, buckets, ways to fail."""

import json
from typing import Any

import pytest

from stores.platform.projection.projector import Projector
from tests.e2e.page_lesson import shown_in_a_page
from tests.e2e.test_route_explaining import bind, binding
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def sidecar_of(stack: Stack, learner: Learner) -> dict[str, Any]:
    """The file of the ability that the learner's session taught."""
    session = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    folder = stack.settings.memory_root / "system/capabilities/metadata"
    found: dict[str, Any] = json.loads((folder / f"{session['ability_id']}.json").read_text())
    return found


async def test_a_lesson_in_a_browser_names_its_pages_and_elements_and_the_buckets_of_its_project(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await bind(alice, binding("harbour-bridge", bucket_ids=["b-7"]), binding("tunnel", bucket_ids=["b-8"]))
    await shown_in_a_page(alice, "The report is published", project_id="harbour-bridge")
    await alice.propose_act("approve", {"accept_unproved": True})

    sidecar = await sidecar_of(stack, alice)
    assert sidecar["page_knowledge_refs"] == ["page:https://shop.example"]
    assert sidecar["ui_anchor_refs"] == ["anchor:https://shop.example#element:Publish"]
    assert sidecar["bucket_refs"] == ["bucket:b-7"]


async def test_what_failed_in_use_is_a_known_failure_mode_and_stays_one_when_it_is_installed_again(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach(allow_private_install=True)
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    assert (await sidecar_of(stack, alice))["known_failure_modes"] == []
    said = {"checkpoint_id": "cp-01", "evidence": "looked", "learn_session_id": alice.session_id}
    await alice.ok("POST", "/api/bridge/verify-checkpoint", {**said, "status": "reached"})
    assert (await sidecar_of(stack, alice))["known_failure_modes"] == []
    failed = {**said, "status": "failed", "reason": "no such folder"}
    await alice.ok("POST", "/api/bridge/verify-checkpoint", failed)

    known = [{"trigger": "checkpoint:cp-01: no such folder", "recovery_ref": "checkpoint:cp-01"}]
    assert (await sidecar_of(stack, alice))["known_failure_modes"] == known
    await alice.propose_act("approve")
    assert (await sidecar_of(stack, alice))["known_failure_modes"] == known
