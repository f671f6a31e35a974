"""A person shows a task in a real Chromium on a local site; it becomes an ability that is found."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, async_playwright

from contracts.learning.validation import REQUIRED_CHECKS
from recorders.browser.recording import BrowserRecorderOptions
from recorders.delivery import IngestTarget
from tests.fixtures.learner import Learner
from tests.fixtures.local_site import local_site
from tests.fixtures.recorded_browser import Recording, debuggable_chromium, needs_chromium
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

PASSWORD = "Zebra-hunter-77"
CUSTOMER = "Grace Hopper"


@pytest.fixture
async def shown(stack: Stack, tmp_path: Path) -> Learner:
    """A learner whose session holds a demonstration: sign in, enter an order, see that it is saved."""
    needs_chromium()
    alice = stack.learner()
    await alice.create(observation_mode="outside_agent")
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Enter an order in the shop"})
    async with served(stack) as api:
        with local_site() as site, debuggable_chromium(tmp_path / "profile") as cdp_url:
            recording = Recording(
                BrowserRecorderOptions(
                    learn_session_id=alice.session_id,
                    target=IngestTarget(api, alice.secret),
                    spool_folder=tmp_path / "spool",
                    cdp_url=cdp_url,
                )
            )
            await anyio.to_thread.run_sync(recording.start)
            async with async_playwright() as playwright:
                browser = await playwright.chromium.connect_over_cdp(cdp_url)
                await _demonstrate(alice, browser.contexts[0].pages[0], site)
                await browser.contexts[0].pages[0].close()
                await anyio.to_thread.run_sync(recording.ended)
        assert recording.ended().complete
    await alice.act("stop")
    return alice


async def _demonstrate(alice: Learner, page: Page, site: str) -> None:
    await page.goto(f"{site}/?invitation=invited-by-zyx")
    await page.get_by_label("User name").fill("grace")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await _seen(alice, "headings", "Stock list")
    await page.locator("svg").click()
    await _seen(alice, "headings", "New order")
    await page.get_by_label("Customer").fill(CUSTOMER)
    await page.get_by_text("Save order").click()
    await _seen(alice, "alerts", "Quantity is missing")
    await page.get_by_label("Quantity").fill("3")
    await page.get_by_text("Save order").click()
    await _seen(alice, "messages", "Order 4711 for … is saved")


async def _observed(alice: Learner) -> list[dict[str, Any]]:
    path = f"/api/learn/sessions/{alice.session_id}/observations?page_size=100"
    return list((await alice.ok("GET", path))["observations"])


async def _seen(alice: Learner, part: str, text: str) -> None:
    """Waits until a page summary with ``text`` is in the session."""
    with anyio.fail_after(30):
        while not any(
            text in ((one["browser"].get("outcome") or {}).get(part) or ()) for one in await _observed(alice)
        ):
            await anyio.sleep(0.05)


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-3")
async def test_a_demonstration_in_a_browser_becomes_an_ability_that_a_lookup_finds(
    stack: Stack, shown: Learner, tmp_path: Path
) -> None:
    drafted = await shown.propose()
    assert await shown.prove() == "ready_for_review", drafted
    runs = await shown.ok("GET", f"/api/learn/proposals/{shown.proposal_id}/validation-runs")
    approved = await shown.propose_act("approve", {"accept_unproved": True})

    # The rehearsal says that it could not be made, and nothing counts it as passed.
    (run,) = runs["runs"]
    assert (run["overall_result"], run["completed_at"] is None) == ("partial", False)
    rehearsed = [one for one in runs["steps"] if one["test_case_id"].startswith("rehearsal/")]
    assert {one["result"] for one in rehearsed} == {"skipped"}
    assert all("not applicable" in one["details"] for one in rehearsed)
    checked = {one["test_case_id"].partition("/")[0] for one in runs["steps"]}
    assert checked == {check.value for check in REQUIRED_CHECKS}

    assert approved["proposal"]["proposal_state"] == "approved"
    snapshot = json.loads(
        (stack.settings.memory_root / "system/abilities/availability_current.json").read_text()
    )
    (entry,) = snapshot["abilities"]
    found = await shown.ok("POST", "/api/abilities/lookup", {"user_query": "enter an order in the shop"})
    assert found["matches"][0]["ability_id"] == entry["ability_id"]
    skill = (stack.settings.workspace / "skills" / entry["skill_slug"] / "SKILL.md").read_text()
    assert "shows the message “Order … for … is saved”" in skill
    assert "click" not in skill.lower()
    # The fields of the form are inputs, also one that has only the name it is sent under; their values are not.
    inputs = skill.partition("## Inputs to ask for")[2].partition("##")[0]
    assert "The values for “Customer” and “Quantity”; none was kept." in inputs
    assert "Whether “Shipping”, “Gift wrap” and “order remark” of the same page should be filled in" in inputs
    assert CUSTOMER not in inputs


async def test_what_was_typed_in_the_browser_is_kept_nowhere(
    stack: Stack, shown: Learner, tmp_path: Path
) -> None:
    await shown.propose()
    typed = [PASSWORD, CUSTOMER, "invited-by-zyx", "secret-query-71", "fragment-82"]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and "profile" not in path.parts]
    assert any(path.suffix in (".db", ".sqlite", ".sqlite3") or "db" in path.name for path in written)
    for path in written:
        content = b""
        with suppress(FileNotFoundError):  # the projector renames its files while they are looked at
            content = path.read_bytes().lower()
        assert [text for text in typed if text.lower().encode() in content] == [], path
    fields = [one["browser"] for one in await _observed(shown) if one["browser"]["action"] == "input"]
    assert {"kind": "password", "length": 0} in [one["value"] for one in fields]
