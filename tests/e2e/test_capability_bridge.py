"""The bridge through the API: what it says, and what it says when it cannot be rebuilt (DOC3 §1.1C, §1.1D)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from contracts.abilities.capability_health import RuntimeCapabilityCheck, RuntimeInventory
from domain.abilities.availability import STALE_AFTER
from stores.abilities.derived_files import rebuild_bridge
from stores.platform.projection.projector import Projector
from stores.platform.tables import capabilities
from tests.fixtures.stack import Stack
from tests.fixtures.taught import Taught, taught

pytestmark = pytest.mark.anyio

__all__ = ["taught"]


@pytest.mark.acceptance("9.6-41", "9.6-42")
@pytest.mark.acceptance("0.11C-2")
async def test_an_installed_ability_has_a_bridge_entry_that_names_health_owner_and_sidecar(
    taught: Taught,
) -> None:
    entry = await taught.entry()
    assert (entry["health_status"], entry["origin_owner"]) == ("healthy", "doc3")
    assert entry["routing_eligible"] is True
    Projector(
        taught.stack.database, taught.stack.settings.memory_root, taught.stack.settings.workspace
    ).catch_up()
    sidecar = taught.stack.settings.memory_root.parent / entry["metadata_ref"]
    assert json.loads(sidecar.read_text())["capability_id"] == taught.capability_id
    filed = taught.stack.settings.memory_root / "system/capabilities/bridge_entries_current.json"
    assert json.loads(filed.read_text())["entries"] == [
        {name: value for name, value in entry.items() if value is not None}
    ]


@pytest.mark.thorough
@pytest.mark.acceptance("9.6-43")
async def test_what_the_runtime_lacks_is_installed_and_healthy_yet_not_usable_now(taught: Taught) -> None:
    assert (await taught.health())["session_availability"] == "unknown"
    needed = taught.stack.services.capabilities.required_caps()
    assert "program:tar" in needed
    _inventory(taught, datetime.now(UTC), missing="program:tar")
    health = await taught.health()
    assert (health["installed_state"], health["health_status"]) == ("present", "healthy")
    assert health["session_availability"] == "unsupported"
    assert await taught.usable() == (
        False,
        "The runtime lacks program:tar; it comes back once that is there.",
    )
    _inventory(taught, datetime.now(UTC))
    assert (await taught.health())["session_availability"] == "supported"
    assert await taught.usable() == (True, "")


@pytest.mark.thorough
@pytest.mark.acceptance("9.6-44")
async def test_a_stale_inventory_is_told_instead_of_an_availability_that_nobody_has_seen(
    taught: Taught,
) -> None:
    _inventory(taught, datetime.now(UTC))
    assert (await taught.alice.ok("GET", "/api/capabilities/bridge"))["bridge_state"] == "fresh"
    _inventory(taught, datetime.now(UTC) - STALE_AFTER - timedelta(minutes=1))
    assert (await taught.alice.ok("GET", "/api/capabilities/bridge"))["bridge_state"] == "stale"
    assert (await taught.health())["session_availability"] == "degraded"


@pytest.mark.thorough
@pytest.mark.acceptance("9.19-3")
async def test_a_failed_rebuild_keeps_the_last_good_bridge_and_says_that_it_is_stale(taught: Taught) -> None:
    good = await taught.entry()
    _damage(taught)
    answer = await taught.alice.ok("GET", "/api/capabilities/bridge")
    assert (answer["bridge_state"], answer["entries"]) == ("stale", [good])
    assert (await taught.health())["session_availability"] == "unknown"


async def test_of_a_bridge_that_can_be_rebuilt_in_part_the_rest_is_the_last_good_one(taught: Taught) -> None:
    good = await taught.entry()
    with taught.stack.database.write() as connection:
        (row,) = connection.execute(capabilities.select()).mappings()
        manifest = {**json.loads(row["manifest"]), "capability_id": "learned.another"}
        connection.execute(
            capabilities.insert().values(
                {**row, "capability_id": "learned.another", "manifest": json.dumps(manifest)}
            )
        )
    _damage(taught, taught.capability_id)
    answer = await taught.alice.ok("GET", "/api/capabilities/bridge")
    assert answer["bridge_state"] == "partial"
    assert {one["capability_id"] for one in answer["entries"]} == {"learned.another", good["capability_id"]}
    assert good in answer["entries"]
    await taught.fails(1)


async def test_where_a_part_is_not_deployed_a_fresh_bridge_says_so(taught: Taught) -> None:
    state = taught.stack.app.state
    state.operations = state.operations - {"ability_lookup"}
    answer = await taught.alice.ok("GET", "/api/capabilities/bridge")
    assert (answer["bridge_state"], len(answer["entries"])) == ("partial_deployment", 1)
    _inventory(taught, datetime.now(UTC) - STALE_AFTER - timedelta(minutes=1))
    assert (await taught.alice.ok("GET", "/api/capabilities/bridge"))["bridge_state"] == "stale"


async def test_capabilities_of_private_abilities_are_their_owners_alone(stack: Stack) -> None:
    alice, mallory = stack.learner(), stack.learner("mallory")
    await alice.teach(allow_private_install=True)
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    capability = (await alice.ok("GET", "/api/capabilities/bridge"))["entries"][0]["capability_id"]
    assert (await mallory.ok("GET", "/api/capabilities/bridge"))["entries"] == []
    assert (await mallory.ok("GET", "/api/capabilities/health"))["capabilities"] == []
    assert (await mallory.ok("GET", "/api/capabilities/stats"))["capabilities"] == []
    status, error = await mallory.refused("POST", "/api/capabilities/reprobe", {"capability_id": capability})
    assert (status, error["code"]) == (404, "NOT_FOUND")


def _inventory(taught: Taught, at: datetime, missing: str = "") -> None:
    store = taught.stack.services.capabilities
    checks = tuple(
        RuntimeCapabilityCheck(name=name, present=name != missing) for name in store.required_caps()
    )
    store.keep_inventory(RuntimeInventory(checks=checks, checked_at=at))


def _damage(taught: Taught, capability_id: str | None = None) -> None:
    with taught.stack.database.write() as connection:
        statement = update(capabilities).values(manifest="{}")
        if capability_id is not None:
            statement = statement.where(capabilities.c.capability_id == capability_id)
        connection.execute(statement)
        rebuild_bridge(connection, datetime.now(UTC))
