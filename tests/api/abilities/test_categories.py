"""Categories: a user's own groups of what there is."""

import json

import pytest
from sqlalchemy import func, select
from uuid_utils import uuid7

from stores.platform.projection.projector import Projector
from stores.platform.tables import category_items
from tests.api.world import World
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


def somebody(stack: Stack) -> Learner:
    """A user without categories."""
    return stack.learner(f"user-{uuid7()}")


async def made(learner: Learner, title: str, **fields: str) -> str:
    """The id of a new category."""
    answer = await learner.ok("POST", "/api/categories", {"title": title, **fields})
    return str(answer["category_id"])


async def items_of(learner: Learner, category_id: str) -> list[str]:
    """The ids of what is in a category."""
    answer = await learner.ok("GET", f"/api/categories/{category_id}/items")
    return [item["item_id"] for item in answer["items"]]


def assignments_in(stack: Stack, category_id: str) -> int:
    """How many rows the store holds for a category."""
    rows = select(func.count()).where(category_items.c.category_id == category_id)
    with stack.database.read() as connection:
        return int(connection.execute(rows).scalar_one())


@pytest.mark.acceptance("R11.2-41")
async def test_an_ability_put_into_a_category_is_found_there_and_in_the_catalog(world: World) -> None:
    category_id = await made(world.alice, "Weekly")
    ability_id = world.waiting.ability_id
    body = {"item_kind": "skill", "item_id": ability_id}
    await world.alice.ok("POST", f"/api/categories/{category_id}/assign", body)
    assert await items_of(world.alice, category_id) == [ability_id]
    catalog = await world.alice.ok("GET", "/api/abilities/catalog")
    (entry,) = [item for item in catalog["items"] if item["ability_id"] == ability_id]
    assert category_id in entry["category_ids"]


async def test_the_items_of_a_category_say_what_they_are_called(world: World) -> None:
    category_id = await made(world.alice, "Named")
    waiting, path = world.waiting, f"/api/categories/{category_id}"
    for kind, item in (
        ("skill", waiting.ability_id),
        ("proposal", waiting.proposal_id),
        ("automation", "nightly"),
    ):
        await world.alice.ok("POST", f"{path}/assign", {"item_kind": kind, "item_id": item})
    ability = await world.alice.ok("GET", f"/api/abilities/{waiting.ability_id}")
    proposal = (await world.alice.ok("GET", f"/api/learn/proposals/{waiting.proposal_id}/detail"))["proposal"]
    items = (await world.alice.ok("GET", f"{path}/items"))["items"]
    assert {one["item_kind"]: (one["title"], one["learn_session_id"]) for one in items} == {
        "skill": (ability["ability"]["title"], None),
        "proposal": (proposal["title"], proposal["learn_session_id"]),
        "automation": (None, None),
    }


@pytest.mark.acceptance("R11.2-42")
async def test_an_ability_may_be_in_several_categories(world: World) -> None:
    ids = [await made(world.alice, title) for title in ("Litigation", "Henderson")]
    body = {"item_kind": "learned_ability", "item_id": world.waiting.ability_id}
    for category_id in ids:
        await world.alice.ok("POST", f"/api/categories/{category_id}/assign", body)
        await world.alice.ok("POST", f"/api/categories/{category_id}/assign", body)
    for category_id in ids:
        assert await items_of(world.alice, category_id) == [world.waiting.ability_id]


@pytest.mark.acceptance("R11.2-43")
async def test_deleting_a_category_removes_its_assignments_and_no_item(world: World) -> None:
    category_id = await made(world.alice, "Short-lived")
    body = {"item_kind": "proposal", "item_id": world.waiting.proposal_id}
    await world.alice.ok("POST", f"/api/categories/{category_id}/assign", body)
    ability = {"item_kind": "learned_ability", "item_id": world.waiting.ability_id}
    await world.alice.ok("POST", f"/api/categories/{category_id}/assign", ability)
    assert assignments_in(world.stack, category_id) == 2
    await world.alice.ok("DELETE", f"/api/categories/{category_id}")
    assert assignments_in(world.stack, category_id) == 0
    catalog = await world.alice.ok("GET", "/api/abilities/catalog")
    assert category_id not in json.dumps(catalog)
    again = await made(world.alice, "Short-lived")
    assert await items_of(world.alice, again) == []
    await world.alice.ok("DELETE", f"/api/categories/{again}")
    status, error = await world.alice.refused("GET", f"/api/categories/{category_id}/items")
    assert (status, error["code"]) == (404, "NOT_FOUND")
    await world.alice.ok("GET", f"/api/learn/proposals/{world.waiting.proposal_id}/detail")


async def test_an_item_is_taken_out_by_its_kind_and_id(shared: Stack) -> None:
    learner = somebody(shared)
    category_id = await made(learner, "Tools")
    for kind in ("task_template", "automation"):
        await learner.ok(
            "POST", f"/api/categories/{category_id}/assign", {"item_kind": kind, "item_id": "mail"}
        )
    await learner.ok("DELETE", f"/api/categories/{category_id}/items/task_template/mail")
    await learner.ok("DELETE", f"/api/categories/{category_id}/items/task_template/mail")
    answer = await learner.ok("GET", f"/api/categories/{category_id}/items")
    assert [(item["item_kind"], item["item_id"]) for item in answer["items"]] == [("automation", "mail")]


async def test_titles_are_unique_for_each_user_whatever_their_case(shared: Stack) -> None:
    learner, other = somebody(shared), somebody(shared)
    await made(learner, "Daily")
    await made(other, "Daily")
    second = await made(learner, "Weekly")
    for method, path in [("POST", "/api/categories"), ("PUT", f"/api/categories/{second}")]:
        status, error = await learner.refused(method, path, {"title": "DAILY"})
        assert (status, error["code"]) == (409, "CATEGORY_TITLE_TAKEN")
    changed = await learner.ok("PUT", f"/api/categories/{second}", {"title": "weekly", "color": "#000000"})
    assert (changed["title"], changed["color"]) == ("weekly", "#000000")


async def test_there_is_a_limit_and_deleting_one_makes_room(
    tmp_path_factory: pytest.TempPathFactory, temporal_address: str
) -> None:
    settings = stack_settings(tmp_path_factory.mktemp("limit"), categories_per_user=2)
    async with running_stack(settings, await connect(temporal_address)) as stack:
        learner = stack.learner()
        first = await made(learner, "one")
        await made(learner, "two")
        status, error = await learner.refused("POST", "/api/categories", {"title": "three"})
        assert (status, error["code"], error["limit"]) == (409, "CATEGORY_LIMIT_REACHED", 2)
        await learner.ok("DELETE", f"/api/categories/{first}")
        await made(learner, "three")


async def test_a_creation_sent_twice_under_one_key_makes_one_category(shared: Stack) -> None:
    learner = somebody(shared)
    answers = [
        await learner.ok("POST", "/api/categories", {"title": "Once"}, idempotency_key="k1") for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len((await learner.ok("GET", "/api/categories"))["categories"]) == 1


async def test_what_is_somebody_elses_or_not_there_cannot_be_put_into_a_category(world: World) -> None:
    learner = somebody(world.stack)
    category_id = await made(learner, "Mine")
    for kind, item_id, code in [
        ("proposal", world.waiting.proposal_id, "PROPOSAL_NOT_FOUND"),
        ("proposal", "no-such", "PROPOSAL_NOT_FOUND"),
        ("skill", "learned.no-such", "ABILITY_NOT_FOUND"),
        ("connector", "no-such-server", "MCP_SERVER_NOT_FOUND"),
        ("bundle", "no-such-bundle", "PROPOSAL_NOT_FOUND"),
        ("bundle", world.waiting.proposal_id, "PROPOSAL_NOT_FOUND"),
    ]:
        body = {"item_kind": kind, "item_id": item_id}
        status, error = await learner.refused("POST", f"/api/categories/{category_id}/assign", body)
        assert (status, error["code"]) == (404, code)
    status, error = await world.mallory.refused("GET", f"/api/categories/{category_id}/items")
    assert (status, error["code"]) == (404, "NOT_FOUND")


async def test_the_memory_tree_holds_the_current_categories_and_every_change(shared: Stack) -> None:
    learner = somebody(shared)
    category_id = await made(learner, "Kept")
    await learner.ok(
        "POST", f"/api/categories/{category_id}/assign", {"item_kind": "automation", "item_id": "starter"}
    )
    root = shared.settings.memory_root
    Projector(shared.database, root, shared.settings.workspace).catch_up()
    current = json.loads((root / "system/categories/categories_current.json").read_text())
    assert category_id in {category["category_id"] for category in current}
    lines = [
        json.loads(line) for line in (root / "system/categories/assignments.jsonl").read_text().splitlines()
    ]
    told = [line["change"] for line in lines if line["category_id"] == category_id]
    assert told == ["created", "assigned"]
