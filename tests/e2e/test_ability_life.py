"""The life of an installed ability, through the API on the real stack."""

import json

import anyio
import pytest

from contracts.errors import ErrorCode
from contracts.workflow_ids import ability_workflow_id
from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import EVENTS, JournalFilter, read_entries
from tests.e2e.ability_owner import WHY, Owner, owner_of_one
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


@pytest.mark.acceptance("R11.2-32")
async def test_a_deactivated_ability_is_out_of_use_until_it_is_activated(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    assert await owner.found_by(owner.learner)
    before = owner.file("SKILL.md")

    assert await owner.does("deactivate") == {"ability_id": owner.ability_id, "enabled": False}
    entry = await owner.learner.ok("GET", f"{owner.path}/availability")
    assert (entry["usable_now"], entry["enabled"]) == (False, False)
    assert "activate it" in entry["reason_unusable"]
    assert not await owner.found_by(owner.learner)
    assert owner.file("SKILL.md") is None
    assert (owner.bridge()["routing_eligible"], owner.bridge()["health_status"]) == (False, "disabled")

    assert await owner.does("activate") == {"ability_id": owner.ability_id, "enabled": True}
    assert await owner.found_by(owner.learner)
    assert owner.file("SKILL.md") == before
    assert owner.bridge()["routing_eligible"] is True


@pytest.mark.acceptance("R11.2-31", "0A.33-8", "9.9-55")
async def test_a_quarantined_ability_is_shown_with_its_reason_and_never_routed_to(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    bob = stack.learner("bob")
    assert await owner.found_by(bob)

    answer = await owner.does("quarantine", WHY)
    assert answer == {"ability_id": owner.ability_id, "quarantined": True, **WHY}
    assert not await owner.found_by(owner.learner)
    assert not await owner.found_by(bob)
    assert owner.file("SKILL.md") is None
    assert owner.bridge()["health_status"] == "quarantined"
    assert owner.bridge()["routing_eligible"] is False
    detail = await owner.detail()
    assert (detail["state"], detail["quarantine_reason"]) == ("quarantined", WHY["reason"])
    assert detail["ability"]["usable_now"] is False
    assert detail["skill_markdown"]
    assert await owner.learner.state() == "quarantined"

    status, error = await owner.may_not("unquarantine")
    assert (status, error["code"]) == (409, "VALIDATION_REQUIRED")
    assert await lifted_of(owner) == [False] * 3
    assert await owner.does("unquarantine", {"reason": "The folder was moved"}) == {
        "ability_id": owner.ability_id,
        "quarantined": False,
        "reason": "The folder was moved",
    }
    assert await lifted_of(owner) == [True] * 3
    entry = await owner.learner.ok("GET", f"{owner.path}/availability")
    assert (entry["install_lane"], entry["usable_now"]) == ("approved_workspace", True)
    assert await owner.found_by(bob)
    assert owner.file("SKILL.md") is not None


async def lifted_of(owner: Owner) -> list[bool]:
    """What the session's page, the list and the history say of the quarantine that it ended with."""
    learner = owner.learner
    page = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    listed = (await learner.ok("GET", "/api/learn/sessions"))["sessions"]
    history = (await learner.ok("GET", "/api/learn/history"))["items"]
    return [one["quarantine_lifted"] for one in (page, *listed, *history)]


async def test_validating_the_same_content_again_lifts_a_quarantine_without_a_reason(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    await owner.does("quarantine", WHY)
    await owner.learner.propose_act("revise", {"revision_instructions": "look again"})
    assert await owner.learner.prove() == "ready_for_review"
    detail = await owner.learner.ok("GET", f"/api/learn/proposals/{owner.learner.proposal_id}/detail")
    (version,) = (await owner.learner.ok("GET", f"{owner.path}/versions"))["versions"]
    assert detail["proposal"]["content_hash"] == version["content_hash"]
    await owner.does("unquarantine")
    assert (await owner.detail())["state"] == "active"


async def test_a_quarantined_ability_leaves_its_owner_free_to_teach(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    taught_in = owner.learner.session_id
    await owner.does("quarantine", WHY)
    await owner.learner.create()
    new = owner.learner.session_id
    status, error = await owner.learner.refused(
        "POST", f"/api/learn/proposals/{owner.learner.proposal_id}/revise", {"revision_instructions": "x"}
    )
    assert (status, error["code"]) == (409, "LEARN_SESSION_ALREADY_ACTIVE")
    assert error["active_session_id"] == new
    await owner.learner.act("cancel")
    revised = await owner.learner.propose_act("revise", {"revision_instructions": "x"})
    assert revised["proposal"]["proposal_state"] == "draft"
    owner.learner.session_id = taught_in
    assert await owner.learner.state() == "drafting_proposal"


async def test_installing_a_proven_revision_gives_a_quarantined_ability_back(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    await owner.does("quarantine", WHY)
    await owner.learner.propose_act(
        "revise", {"revision_instructions": "clearer", "edited_fields": {"goal_summary": "Rank the regions"}}
    )
    assert await owner.learner.prove() == "ready_for_review"
    await owner.learner.propose_act("approve")
    assert (await owner.detail())["state"] == "active"
    assert owner.bridge()["routing_eligible"] is True
    assert await owner.found_by(owner.learner)
    owner.assert_snapshot_equals_the_store()


@pytest.mark.acceptance("R11.2-33", "0A.33-7")
async def test_a_private_ability_is_shared_and_made_private_again(stack: Stack) -> None:
    owner = await owner_of_one(stack, lane="experimental_private")
    bob = stack.learner("bob")
    assert not await owner.found_by(bob)
    answer = await owner.does("promote-shared")
    assert answer == {"ability_id": owner.ability_id, "install_lane": "shared_promoted"}
    assert await owner.found_by(bob)
    assert await owner.learner.state() == "approved"
    assert (await owner.detail())["ability"]["source"] == "promoted"
    with stack.database.read() as connection:
        kept = [one.document for one in read_entries(connection, JournalFilter(streams=(EVENTS,)))]
    assert [one["event"] for one in kept] == ["capability.manifest.created", "skill.promoted"]

    status, error = await bob.refused("POST", f"{owner.path}/quarantine", WHY)
    assert (status, error["code"]) == (403, "FORBIDDEN")
    assert (await bob.ok("GET", owner.path))["allowed_actions"] == []

    answer = await owner.does("demote-private")
    assert answer == {"ability_id": owner.ability_id, "install_lane": "experimental_private"}
    assert not await owner.found_by(bob)
    assert await owner.found_by(owner.learner)
    status, error = await bob.refused("POST", f"{owner.path}/quarantine", WHY)
    assert (status, error["code"]) == (404, "ABILITY_NOT_FOUND")


async def test_an_admin_quarantines_what_belongs_to_somebody_else(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    root = stack.learner("root", ("admin",))
    await root.ok("POST", f"{owner.path}/quarantine", WHY)
    assert (await owner.detail())["state"] == "quarantined"


async def test_an_archived_ability_is_put_away_and_can_be_brought_back(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    bob = stack.learner("bob")
    assert await owner.does("archive") == {"ability_id": owner.ability_id, "archived": True}
    assert not await owner.found_by(owner.learner)
    assert owner.file("SKILL.md") is None
    status, error = await bob.refused("GET", owner.path)
    assert (status, error["code"]) == (404, "ABILITY_NOT_FOUND")
    detail = await owner.detail()
    assert (detail["state"], detail["allowed_actions"]) == ("archived", ["activate"])
    assert len((await owner.learner.ok("GET", f"{owner.path}/versions"))["versions"]) == 1
    await owner.does("activate")
    assert await owner.found_by(bob)


async def test_archiving_and_activating_does_not_lift_a_quarantine(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    await owner.does("quarantine", WHY)
    await owner.does("archive")
    await owner.does("activate")
    assert (await owner.detail())["state"] == "quarantined"
    assert not await owner.found_by(owner.learner)
    assert owner.file("SKILL.md") is None


async def test_a_command_that_the_state_does_not_take_says_what_it_takes(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    for action, body in (("activate", None), ("unquarantine", WHY), ("rollback", None)):
        status, error = await owner.may_not(action, body)
        assert (status, error["code"]) == (400, "INVALID_LEARN_STATE_TRANSITION")
        assert error["current_state"] == "active"
        detail = await owner.detail()
        assert error["allowed"] == detail["allowed_actions"]
    (item,) = (await owner.learner.ok("GET", "/api/abilities/availability"))["abilities"]
    assert item["allowed_actions"] == detail["allowed_actions"]
    await owner.does("quarantine", WHY)
    for action in ("promote-shared", "demote-private"):
        status, error = await owner.may_not(action)
        assert (status, error["code"]) == (403, ErrorCode.INSTALL_LANE_DENIED)


async def test_every_command_is_told_in_events_receipts_and_history(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    await owner.does("deactivate", {"reason": "not now"})
    await owner.does("activate")
    await owner.does("quarantine", WHY)
    session = owner.learner.session_id
    body = await owner.learner.ok("GET", f"/api/learn/receipts?learn_session_id={session}&page_size=9")
    told = [(one["event_kind"], one.get("reason")) for one in body["receipts"]]
    assert told == [
        ("availability_updated", None),
        ("bridge_rebuilt", None),
        ("quarantined", WHY["reason"]),
        ("availability_updated", None),
        ("bridge_rebuilt", None),
        ("activated", None),
        ("availability_updated", None),
        ("bridge_rebuilt", None),
        ("deactivated", "not now"),
    ]
    assert {one["ability_id"] for one in body["receipts"]} == {owner.ability_id}
    root = stack.settings.memory_root / "system"
    stack.projector.catch_up()
    history = (root / "abilities/activation_history.jsonl").read_text()
    commands = [json.loads(line) for line in history.splitlines()]
    assert [one["action"] for one in commands] == ["deactivate", "activate", "quarantine"]
    outcomes = await owner.learner.ok("GET", f"{owner.path}/outcomes")
    assert (outcomes["installs"], outcomes["quarantines"], outcomes["rollbacks"]) == (1, 1, 0)
    assert verify_chains(stack.database).intact


async def test_commands_at_once_are_carried_out_one_after_the_other(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    statuses: list[int] = []

    async def ask(action: str) -> None:
        answer = await owner.learner.call("POST", f"{owner.path}/{action}")
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for action in ("deactivate", "deactivate", "activate", "deactivate"):
            group.start_soon(ask, action)
    assert set(statuses) <= {200, 400}
    owner.assert_snapshot_equals_the_store()
    state = (await owner.detail())["state"]
    changed = statuses.count(200) % 2 == 1
    assert state == ("deactivated" if changed else "active")


async def test_the_workflow_of_an_ability_closes_when_everybody_is_answered(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    await owner.does("deactivate")
    await owner.does("activate")
    handle = stack.client.get_workflow_handle(ability_workflow_id(owner.ability_id))
    assert (await handle.result())["answered"] >= 1
    link = await owner.learner.ok("GET", f"/api/workflows/{ability_workflow_id(owner.ability_id)}")
    assert link["status"] == "completed"
    path = f"/api/workflows/{ability_workflow_id('learned.nothing')}"
    assert (await owner.learner.refused("GET", path))[1]["code"] == "ABILITY_NOT_FOUND"
