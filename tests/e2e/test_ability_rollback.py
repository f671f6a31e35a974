"""An older version's content made current again, and what somebody changed by hand kept."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from contracts.base import rfc3339
from stores.abilities.ability_rows import ABILITIES, entry_of, manifest_of
from stores.platform.canonical import canonical_json
from stores.platform.journal.journal import EVENTS, JournalFilter, read_entries
from stores.platform.tables import capabilities
from tests.e2e.ability_owner import SLUG, WHY, Owner, owner_of_one, taught_again
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_a_rollback_makes_older_content_current_as_a_new_version(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    first = owner.file("SKILL.md")
    await taught_again(owner)
    second = owner.file("SKILL.md")
    assert second != first

    answer = await owner.does("rollback")
    versions = (await owner.learner.ok("GET", f"{owner.path}/versions"))["versions"]
    assert [(one["version"], one["current"], one.get("restored_from")) for one in versions] == [
        (3, True, 1),
        (2, False, None),
        (1, False, None),
    ]
    assert answer == {
        "ability_id": owner.ability_id,
        "version": 3,
        "restored_from": 1,
        "content_hash": versions[2]["content_hash"],
    }
    assert owner.file("SKILL.md") == first
    assert (await owner.detail())["skill_markdown"] == first
    assert await owner.found_by(owner.learner)

    assert (await owner.does("rollback", {"to_version": 2}))["version"] == 4
    assert owner.file("SKILL.md") == second
    status, error = await owner.may_not("rollback", {"to_version": 9})
    assert (status, error["code"]) == (404, "NOT_FOUND")
    status, error = await owner.may_not("rollback", {"to_version": 2})
    assert (status, error["code"]) == (400, "INVALID_LEARN_STATE_TRANSITION")


def under_another_name(owner: Owner, name: str) -> None:
    """The present version's capability is called otherwise than the one that the earlier version brought."""
    with owner.stack.database.write() as connection:
        entry = entry_of(connection, owner.ability_id)
        assert entry is not None
        known = {"version": 2, "updated_at": rfc3339(datetime.now(UTC))}
        ABILITIES.replace(connection, entry.changed(primary_capability_id=name), **known)
        manifest = manifest_of(connection, owner.ability_id)
        assert manifest is not None
        body = canonical_json(manifest.changed(capability_id=name))
        connection.execute(
            update(capabilities)
            .where(capabilities.c.ability_id == owner.ability_id)
            .values(capability_id=name, manifest=body)
        )


async def test_a_rollback_tells_which_manifest_is_back_and_which_is_gone(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    capability = (await owner.detail())["ability"]["primary_capability_id"]
    await taught_again(owner)
    under_another_name(owner, "learned.otherwise")
    await owner.does("rollback")
    with stack.database.read() as connection:
        wanted = JournalFilter(streams=(EVENTS,), ability_id=owner.ability_id)
        kept = [one.document for one in read_entries(connection, wanted)]
    told = [(one["event"].removeprefix("capability.manifest."), one["capability_id"]) for one in kept]
    assert [one for one in told if "." not in one[0]] == [
        ("deleted", "learned.otherwise"),
        ("created", capability),
    ]


async def test_a_rollback_of_a_quarantined_ability_leaves_it_quarantined(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    first = owner.file("SKILL.md")
    await taught_again(owner)
    await owner.does("quarantine", WHY)
    await owner.does("rollback")
    detail = await owner.detail()
    assert (detail["state"], detail["skill_markdown"]) == ("quarantined", first)
    assert owner.file("SKILL.md") is None
    assert not await owner.found_by(owner.learner)
    await owner.does("unquarantine", {"reason": "the old one was good"})
    assert owner.file("SKILL.md") == first


async def test_changes_made_by_hand_are_never_overwritten(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    await taught_again(owner)
    skill = stack.settings.workspace / "skills" / SLUG / "SKILL.md"
    skill.chmod(0o644)
    skill.write_text("# My own words\n")
    for action in ("rollback", "deactivate", "archive"):
        status, error = await owner.may_not(action)
        assert (status, error["code"], error["edited"]) == (409, "CONFLICT", [f"skills/{SLUG}/SKILL.md"])
    assert skill.read_text() == "# My own words\n"
    await owner.does("promote-shared")
    assert skill.read_text() == "# My own words\n"

    await owner.does("quarantine", WHY)
    assert not skill.exists()
    kept = f"abilities/set_aside/{owner.ability_id}/skills/{SLUG}/SKILL.md"
    assert (stack.settings.memory_root / "system" / kept).read_text() == "# My own words\n"
