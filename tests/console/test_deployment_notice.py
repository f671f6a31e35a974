"""What this installation cannot do is in sight before somebody tries it."""

import pytest
from playwright.async_api import expect

from stores.abilities import derived_files
from tests.console.conftest import PATIENCE_MS, Console
from tests.e2e.ability_owner import owner_of_one
from tests.fixtures.stack import Stack
from tests.fixtures.stuck_snapshot import clear_snapshot, obstruct_snapshot

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-13")
async def test_while_nothing_may_be_installed_every_page_says_so_and_what_is_off(
    console: Console, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived_files, "SNAPSHOT_WAIT_SECONDS", 1.0)
    page, learner = console.page, console.learner
    await owner_of_one(stack, "bob", lane="experimental_private")
    await learner.teach("Pack the sales figures")
    obstruct_snapshot(stack)
    await console.sign_in()
    notice = page.get_by_role("note", name="Deployment")
    await expect(notice).to_contain_text("Nothing can be installed or shared right now")
    for view in ("skills", "pending", f"sessions/{learner.session_id}"):
        await console.open(view)
        await expect(notice).to_contain_text("approving a proposal")

    console.refusals.add(409)
    await page.get_by_role("button", name="Approve…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Approve and install").click()
    await expect(dialog).to_contain_text("Nothing was changed")
    assert await learner.state() == "ready_for_review"

    clear_snapshot(stack)
    await page.reload()
    await expect(page.get_by_role("button", name="Approve…")).to_be_visible()
    await expect(notice).to_have_count(0)


async def test_the_parts_that_are_missing_are_listed_with_what_is_off_without_them(
    console: Console, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = stack.app.state
    monkeypatch.setattr(state, "operations", state.operations - {"skill_pack_install"})
    await console.sign_in()
    missing = console.page.get_by_role("region", name="Not part of this installation")
    await expect(missing.get_by_role("listitem")).to_have_count(1)
    await expect(missing).to_contain_text("skill packs")
    await expect(missing).to_contain_text("Off: installing a skill pack")
