"""What a request says has an effect, or is refused: kinds of steps, safe targets, rooms, learning policies."""

import json
from typing import Any

import pytest
from sqlalchemy import update

from stores.platform.tables import capabilities
from tests.e2e.test_configuration_intents import intent
from tests.fixtures.installed import install
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

BINDING: dict[str, Any] = {"project_id": "harbour", "source_of_truth": "sharepoint"}


async def first_step(alice: Learner, **mark: Any) -> str:
    """The kind that the graph gives a step which a person marked like this."""
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await alice.act("mark-step", mark)
    await alice.observe()
    await alice.act("stop")
    await alice.propose()
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    kind: str = files["workflow_graph"]["graph"]["steps"][0]["step_type"]
    return kind


@pytest.mark.parametrize(
    ("mark", "kind"),
    [
        ({"step_label": "Look at the sales", "step_kind_hint": "decision"}, "decision"),
        ({"step_label": "Check the sales"}, "verification"),
    ],
)
async def test_a_marked_step_is_of_the_kind_that_was_said(
    stack: Stack, mark: dict[str, Any], kind: str
) -> None:
    assert await first_step(stack.learner(), **mark) == kind


async def test_a_requested_safe_target_becomes_the_test_policy(stack: Stack) -> None:
    alice = stack.learner()
    created = await alice.create(requested_safe_target_ref="reports")
    session = stack.services.sessions.owned(alice.session_id, "alice")
    assert session.test_policy is not None
    assert created["session"]["test_policy_ref"] == session.test_policy.policy_id
    assert session.test_policy.mode.value == "safe_target_only"
    (target,) = session.test_policy.safe_targets
    assert (target.target_kind.value, target.ref) == ("temp_folder", "reports")


@pytest.mark.parametrize("target", ["https://test.sharepoint.example/sites/a", "bob@example.org", "../away"])
async def test_a_safe_target_that_no_rehearsal_keeps_to_is_refused(stack: Stack, target: str) -> None:
    body = {"entry_mode": "demonstrating_skill", "requested_safe_target_ref": target}
    status, error = await stack.learner().refused("POST", "/api/learn/sessions", body)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert error["fields"][0]["path"] == "body.requested_safe_target_ref"


async def test_a_room_stands_for_the_project_that_was_worked_on_in_it(stack: Stack) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    for person in (alice, bob):
        await person.ok("POST", "/api/config/intents", intent({"project_bindings": [BINDING]}))
    await alice.create(room_id="room-7", project_id="harbour")
    await alice.act("cancel")
    asked = {"query": "get the latest draft in this matter", "room_id": "room-7"}
    found = await alice.ok("POST", "/api/mcp/project/resolve", asked)
    assert (found["resolution_state"], found["matches"][0]["binding"]["project_id"]) == (
        "resolved",
        "harbour",
    )
    for person, room in ((alice, "room-8"), (bob, "room-7")):
        nothing = await person.ok("POST", "/api/mcp/project/resolve", {**asked, "room_id": room})
        assert nothing["resolution_state"] == "none"


async def test_a_lookup_in_a_room_ranks_by_its_project(stack: Stack) -> None:
    alice = stack.learner()
    phrases = {"trigger_phrases": ("make the report",)}
    install(stack.database, "report", project_scopes=("other",), **phrases)
    install(stack.database, "harbour-report", project_scopes=("harbour",), **phrases)
    await alice.create(room_id="room-7", project_id="harbour")
    query = {"user_query": "make the report", "room_id": "room-7"}
    (best, *_) = (await alice.ok("POST", "/api/abilities/lookup", query))["matches"]
    assert best["ability_id"] == "learned.harbour-report"
    said = await alice.ok(
        "POST", "/api/abilities/lookup", {**query, "room_id": None, "project_id": "harbour"}
    )
    assert said["matches"][0] == best


async def test_what_may_not_be_taught_is_not_improved(stack: Stack) -> None:
    alice = stack.learner()
    name = install(stack.database, "report")
    with stack.database.write() as connection:
        manifest = json.loads(
            connection.scalar(capabilities.select().with_only_columns(capabilities.c.manifest))
        )
        manifest["learning_policy"]["teach_mode_allowed"] = False
        connection.execute(update(capabilities).values(manifest=json.dumps(manifest)))
    body = {"entry_mode": "improving_existing_skill", "target_skill_id": name}
    status, error = await alice.refused("POST", "/api/learn/sessions", body)
    assert (status, error["code"]) == (403, "FORBIDDEN")
    assert "learning policy" in error["message"]


async def test_connectors_and_bundles_that_are_there_go_into_a_category(stack: Stack) -> None:
    alice = stack.learner()
    install(stack.database, "report")
    made = await alice.ok(
        "POST",
        "/api/mcp/servers/register",
        {"provider": "custom_remote", "display_name": "Mail", "transport": "provider_native"},
    )
    await alice.demonstrate()
    await alice.propose()
    category = (await alice.ok("POST", "/api/categories", {"title": "Tools"}))["category_id"]
    items = (
        ("connector", made["server"]["registry"]["server_id"]),
        ("bundle", "report"),
        ("bundle", alice.proposal_id),
    )
    for kind, item_id in items:
        body = {"item_kind": kind, "item_id": item_id}
        await alice.ok("POST", f"/api/categories/{category}/assign", body)
