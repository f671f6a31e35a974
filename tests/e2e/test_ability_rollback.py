"""An older version's content made current again, and what somebody changed by hand kept."""

import pytest

from tests.e2e.ability_owner import SLUG, WHY, owner_of_one, taught_again
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
