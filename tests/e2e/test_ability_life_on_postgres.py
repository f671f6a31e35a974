"""The life of an ability on PostgreSQL, where commands and installs really run at the same time."""

from pathlib import Path

import anyio
import pytest

from stores.platform.journal.chains import verify_chains
from tests.e2e.ability_owner import WHY, owner_of_one, taught_again
from tests.fixtures.stack import connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


async def test_an_ability_is_quarantined_rolled_back_and_given_back_on_postgres(
    tmp_path: Path, temporal_address: str, migrated_postgres_url: str
) -> None:
    client = await connect(temporal_address)
    settings = stack_settings(tmp_path, database_url=migrated_postgres_url)
    async with running_stack(settings, client) as stack:
        owner = await owner_of_one(stack)
        first = owner.file("SKILL.md")
        await taught_again(owner)
        await owner.does("quarantine", WHY)
        await owner.does("rollback")
        await owner.does("unquarantine", {"reason": "the first one was right"})
        assert owner.file("SKILL.md") == first
        assert await owner.found_by(stack.learner("bob"))
        async with anyio.create_task_group() as group:
            for action in ("deactivate", "promote-shared", "demote-private"):
                group.start_soon(owner.learner.call, "POST", f"{owner.path}/{action}")
        owner.assert_snapshot_equals_the_store()
        assert verify_chains(stack.database).intact
