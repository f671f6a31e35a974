"""Staleness is visible, never hidden: the answers about abilities say what is behind (DOC3 §0C.11B)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from contracts.abilities.capability_health import RuntimeInventory
from domain.abilities.availability import STALE_AFTER
from stores.abilities.derived_files import rebuild_bridge
from stores.platform.projection.projector import Projector, single_writer
from stores.platform.tables import capabilities
from tests.fixtures.agents import agent, agent_token, answer
from tests.fixtures.served import served
from tests.fixtures.stack import Stack
from tests.fixtures.taught import Taught, taught

pytestmark = pytest.mark.anyio

__all__ = ["taught"]


def written(stack: Stack) -> None:
    """The files are as the store says."""
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()


async def said(taught: Taught) -> list[dict[str, Any]]:
    """What the three answers about abilities say of themselves; they must agree."""
    answers = [
        await taught.alice.ok("GET", "/api/abilities/availability"),
        await taught.alice.ok("GET", "/api/abilities/catalog"),
        await taught.alice.ok("POST", "/api/abilities/lookup", {"user_query": "sales figures"}),
    ]
    assert answers[0]["freshness"] == answers[1]["freshness"] == answers[2]["freshness"]
    return [{"state": answers[0]["freshness"]["state"]}, *answers[0]["freshness"]["reasons"]]


async def test_a_change_that_is_not_in_the_files_yet_is_told_until_it_is(taught: Taught) -> None:
    written(taught.stack)
    assert await said(taught) == [{"state": "fresh"}]
    # As long as the writer's place is taken, the application's own loop writes nothing either.
    with single_writer(taught.stack.database, taught.stack.settings.memory_root):
        taught.report(success=False)
        taught.stack.services.capabilities.keep_inventory(RuntimeInventory(checked_at=datetime.now(UTC)))
        state, *reasons = await said(taught)
    assert state == {"state": "refreshing"}
    assert "bridge_not_written" in {reason["code"] for reason in reasons}
    written(taught.stack)
    assert await said(taught) == [{"state": "fresh"}]


async def test_a_runtime_that_nobody_has_looked_at_lately_is_told_with_what_that_means(
    taught: Taught,
) -> None:
    old = RuntimeInventory(checked_at=datetime.now(UTC) - STALE_AFTER - timedelta(minutes=1))
    taught.stack.services.capabilities.keep_inventory(old)
    written(taught.stack)
    state, reason = await said(taught)
    assert (state["state"], reason["code"]) == ("stale", "runtime_not_looked_at")
    assert "may lack something" in reason["meaning"]
    taught.stack.services.capabilities.keep_inventory(RuntimeInventory(checked_at=datetime.now(UTC)))
    written(taught.stack)
    assert await said(taught) == [{"state": "fresh"}]


async def test_a_bridge_that_could_not_be_rebuilt_is_told_to_people_and_to_agents(taught: Taught) -> None:
    with taught.stack.database.write() as connection:
        connection.execute(update(capabilities).values(manifest="{"))
        rebuild_bridge(connection, datetime.now(UTC))
    written(taught.stack)
    state, reason = await said(taught)
    assert (state["state"], reason["code"]) == ("stale", "bridge_rebuild_failed")
    async with served(taught.stack) as address, agent(address, agent_token(taught.stack)) as client:
        found = await answer(client, "find_ability", {"query": "sales figures"})
    assert found["behind"] == [reason["meaning"]]
