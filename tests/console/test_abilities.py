"""An ability's life, mining and categories, in a real browser against the real application."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from contracts.abilities.capability_health import RuntimeInventory
from stores.platform.projection.projector import Projector, single_writer
from tests.console.conftest import PATIENCE_MS, Console
from tests.e2e.ability_owner import WHY, owner_of_one, taught_again
from tests.fixtures.learner import SALES_REPORT
from tests.fixtures.stack import Stack, connect, lone_stack, stack_settings
from tests.fixtures.taught import Taught

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

ACTIONS = {
    "activate": "Activate…",
    "deactivate": "Deactivate…",
    "quarantine": "Quarantine…",
    "unquarantine": "Lift the quarantine…",
    "promote_shared": "Share with everybody…",
    "demote_private": "Make private…",
    "archive": "Archive…",
    "rollback": "Roll back…",
}


async def test_an_ability_offers_exactly_what_the_service_allows_and_says_what_it_takes_away(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    await taught_again(owner)
    await console.sign_in()
    await console.open(f"skills/{owner.ability_id}")
    head = page.get_by_role("region", name="Where it stands")

    async def offers_what_is_allowed(state: str) -> None:
        await expect(head).to_contain_text(state)
        allowed = (await owner.detail())["allowed_actions"]
        await expect(head.get_by_role("button")).to_have_count(len(allowed))
        for name in allowed:
            await expect(head.get_by_role("button", name=ACTIONS[name], exact=True)).to_be_enabled()

    await offers_what_is_allowed("Active")
    await head.get_by_role("button", name="Quarantine…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("calls that run or wait are given up")
    await dialog.get_by_role("button", name="Quarantine").click()
    await expect(dialog).to_be_visible()
    await dialog.get_by_label("Reason").fill("It wrote to <i>the wrong</i> folder")
    await dialog.get_by_role("button", name="Quarantine").click()
    await expect(head).to_contain_text("Quarantined because: It wrote to <i>the wrong</i> folder")
    await offers_what_is_allowed("Quarantined")
    await expect(page.get_by_role("region", name="How it has done")).to_contain_text("Quarantined1 time")

    await head.get_by_role("button", name="Lift the quarantine…").click()
    await dialog.get_by_label("Reason").fill("The folder is right now")
    await dialog.get_by_role("button", name="Lift it").click()
    await offers_what_is_allowed("Active")
    await head.get_by_role("button", name="Deactivate…").click()
    await dialog.get_by_role("button", name="Go back").click()
    await expect(head).to_contain_text("Active")
    await head.get_by_role("button", name="Archive…").focus()
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_label("Reason")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await offers_what_is_allowed("Archived")


async def test_a_session_whose_ability_is_out_of_quarantine_says_so_on_its_page_and_in_the_lists(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    await owner.does("quarantine", WHY)
    await console.sign_in()
    row = page.get_by_role("row").filter(has_text="Summarise the sales figures")
    await console.open("history")
    await expect(row.locator(".pill")).to_have_text("Quarantined")
    await owner.does("unquarantine", WHY)
    await console.open("learn")
    await console.open("history")
    await expect(row.locator(".pill")).to_have_text("Quarantined, lifted since")
    await row.get_by_role("link").click()
    head = page.get_by_role("region", name="Where it stands")
    await expect(head).to_contain_text("Quarantined, lifted since")
    await expect(head).to_contain_text("the quarantine was lifted")
    await expect(head.get_by_role("link", name=owner.ability_id)).to_be_visible()


async def test_an_older_version_is_gone_back_to_and_the_versions_say_so(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    await taught_again(owner)
    await console.sign_in()
    await console.open(f"skills/{owner.ability_id}")
    versions = page.get_by_role("region", name="Versions")
    await expect(versions.get_by_role("listitem")).to_have_count(2)
    await expect(versions.get_by_role("listitem").first).to_contain_text("Current")
    await versions.get_by_role("button", name="Go back to this…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Go back to version 1?")
    await dialog.get_by_label("Reason").fill("The second one packs too little")
    await dialog.get_by_role("button", name="Roll back").click()
    await expect(versions).to_contain_text("Version 3 Current holds the content of version 1")
    assert (await owner.detail())["version"] == 3


async def test_what_agents_reported_of_its_checkpoints_is_shown_with_its_health(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    taught = Taught(stack, owner.learner, owner.ability_id, owner.bridge()["capability_id"])
    await console.sign_in()
    await console.open(f"skills/{taught.ability_id}")
    reported = page.get_by_role("region", name="What agents reported")
    await expect(reported).to_contain_text("No agent has reported yet")
    await taught.fails(1)
    await expect(reported).to_contain_text("Failed: cp-01 the file is not there")
    await expect(page.get_by_role("region", name="How it has done")).to_contain_text("0 reached, 1 failed")


async def test_a_token_that_may_only_read_sees_an_ability_and_why_its_buttons_are_off(
    console: Console, stack: Stack
) -> None:
    owner = await owner_of_one(stack)
    await console.sign_in(stack.learner("alice", ("read",)).secret)
    await console.open(f"skills/{owner.ability_id}")
    head = console.page.get_by_role("region", name="Where it stands")
    await expect(head.get_by_role("button", name="Archive…")).to_be_disabled()
    await expect(head).to_contain_text("Your token lacks")


@pytest.fixture
async def stack(
    request: pytest.FixtureRequest, tmp_path: Path, temporal_address: str
) -> AsyncIterator[Stack]:
    """The application; a test may name settings of its own."""
    settings = stack_settings(tmp_path, **getattr(request, "param", {}))
    async with lone_stack(settings, await connect(temporal_address)) as running:
        yield running


@pytest.mark.parametrize("stack", [{"categories_per_user": 3}], ids=["three"], indirect=True)
@pytest.mark.acceptance("category_limit_reached_error_rendered")
async def test_a_category_over_the_limit_is_refused_in_sight_and_none_is_shown_that_is_not_there(
    console: Console, stack: Stack
) -> None:
    page, learner = console.page, console.learner
    console.refusals.add(409)
    limit = stack.settings.categories_per_user
    for number in range(limit - 1):
        await learner.ok("POST", "/api/categories", {"title": f"Group {number}"})
    await console.sign_in()
    await console.open("categories")
    form = page.get_by_role("form", name="New category")
    await form.get_by_label("Title").fill("One too many")
    await learner.ok("POST", "/api/categories", {"title": "The last one"})
    await form.get_by_role("button", name="Create").click()
    await expect(page.get_by_role("alert")).to_contain_text("categories")
    await expect(page.get_by_role("heading", name="One too many")).to_have_count(0)
    listed = await learner.ok("GET", "/api/categories")
    assert "One too many" not in [one["title"] for one in listed["categories"]]
    await page.reload()
    await expect(page.get_by_text(f"You have {limit} categories, the most there may be")).to_be_visible()
    await expect(form).to_have_count(0)


@pytest.mark.acceptance("9.16-6", "0.11C-9")
async def test_mining_is_allowed_looks_now_and_its_suggestions_are_dismissed_or_built(
    console: Console,
) -> None:
    page, learner = console.page, console.learner
    for goal in ("Summarise the sales figures", "Pack the holiday photos"):
        for _ in range(3):
            await learner.demonstrate(goal)
            await learner.act("cancel")
    await console.sign_in()
    await console.open("mining")
    note = page.get_by_role("note", name="Skill mining")
    await expect(page.get_by_text("Nothing is suggested yet")).to_be_visible()
    await expect(note).to_have_count(0)
    form = page.get_by_role("form", name="Mining settings")
    await form.get_by_label("Off", exact=True).check()
    await form.get_by_role("button", name="Save settings").click()
    await page.get_by_role("button", name="Look now").click()
    run = page.get_by_role("region", name="The newest look")
    await expect(run).to_contain_text("Mining is off in your settings")
    await form.get_by_label("Ask before building").check()
    await form.get_by_label("Count what you show outside the agent").check()
    await form.get_by_role("button", name="Save settings").click()
    await expect(note).to_contain_text("outside the agent")
    await page.get_by_role("button", name="Look now").click()
    await expect(run).to_contain_text("Captures that counted6")
    await expect(run).to_contain_text("Finished")
    suggestions = page.get_by_role("list", name="Suggestions")
    photos = suggestions.get_by_role("listitem").filter(has_text="Pack the holiday photos").first
    await expect(photos).to_contain_text("0 %, at most")
    await expect(photos).to_contain_text("100 %, at least")
    await expect(photos).to_contain_text("3 succeeded, 0 failed")
    await photos.get_by_role("button", name="Dismiss…").click()
    await page.get_by_role("dialog").get_by_label("Reason").fill("Only this once")
    await page.get_by_role("dialog").get_by_role("button", name="Dismiss for good").click()
    await expect(photos).to_contain_text("Dismissed")
    await expect(photos.get_by_role("button")).to_have_count(0)
    sales = suggestions.get_by_role("listitem").filter(has_text="Summarise the sales figures").first
    await sales.get_by_role("button", name="Accept and build").click()
    await expect(sales.get_by_role("link", name="A session")).to_be_visible()
    await console.open("skills")
    await expect(note).to_contain_text("Mining settings")


async def test_categories_are_made_filled_emptied_and_deleted(console: Console, stack: Stack) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    ability_id = (await learner.propose_act("approve"))["proposal"]["ability_id"]
    await console.sign_in()
    await console.open("categories")
    await expect(page.get_by_text("No category yet")).to_be_visible()
    making = page.get_by_role("form", name="New category")
    await making.get_by_label("Title").fill("Month end")
    await making.get_by_label("Colour").fill("#aa3366")
    await page.keyboard.press("Tab")
    await making.get_by_role("button", name="Create").click()
    card = page.get_by_role("list", name="Categories").get_by_role("listitem").filter(has_text="Month end")
    swatch = card.first.locator(".swatch").first
    assert await swatch.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(170, 51, 102)"

    for view in (f"skills/{ability_id}", f"sessions/{learner.session_id}"):
        await console.open(view)
        within = page.get_by_role("region", name="Categories")
        await within.get_by_label("Add to a category").select_option("Month end")
        await within.get_by_role("button", name="Add").click()
        await expect(within.get_by_role("list", name="In these categories")).to_contain_text("Month end")
    await within.get_by_role("button", name="Remove").click()
    await expect(within.get_by_label("Add to a category")).to_be_visible()

    await console.open("categories")
    held = page.get_by_role("list", name="In Month end")
    await expect(held.get_by_role("listitem")).to_have_count(1)
    await expect(held).to_contain_text("Learned ability")
    await held.get_by_role("button", name="Remove").click()
    await expect(page.get_by_text("Empty. Open a skill")).to_be_visible()

    reading = asyncio.Lock()

    async def read(route: Route) -> None:
        if route.request.method == "GET":
            async with reading:
                await route.fulfill(response=await route.fetch())
        else:
            await route.continue_()

    await page.route("**/api/categories*", read)
    async with reading:  # the page has not heard that the last place is taken, so its form is still there
        stack.services.categories.limit = 1
        console.refusals.add(409)
        await making.get_by_label("Title").fill("One too many")
        await making.get_by_role("button", name="Create").click()
        await expect(page.get_by_text("You have 1 categories, the most there may be")).to_be_visible()
    await page.unroute_all(behavior="wait")
    await page.reload()
    await expect(page.get_by_text("Delete one below to make room")).to_be_visible()
    await page.get_by_role("button", name="Delete…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("No category yet")).to_be_visible()
    await expect(making).to_be_visible()


async def test_nothing_of_learning_is_cut_off_on_a_narrow_screen(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    ability_id = (await learner.propose_act("approve"))["proposal"]["ability_id"]
    await learner.ok("POST", "/api/categories", {"title": "-".join(["Quarterly"] * 8)})
    for _ in range(3):
        await learner.create()
        await learner.act("start")
        await learner.act("mark-goal", {"goal_description": "Pack " + "x" * 90})
        await learner.observe(SALES_REPORT)
        await learner.act("stop")
        await learner.act("cancel")
    await learner.ok(
        "PUT", "/api/learn/mining/settings", {"observe_outside_agent": True, "mode": "ask_before_build"}
    )
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.emulate_media(color_scheme="dark")
    await console.sign_in()
    for view in ("mining", "categories", "history", f"skills/{ability_id}", f"sessions/{learner.session_id}"):
        await console.open(view)
        await expect(page.locator(".loading")).to_have_count(0)
        await expect(page.get_by_role("note", name="Skill mining")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


async def test_what_is_behind_is_a_quiet_notice_beside_the_abilities_and_goes_when_it_is_not(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    projector = Projector(stack.database, stack.settings.memory_root, stack.settings.workspace)
    projector.catch_up()
    await console.sign_in()
    await console.open("skills")
    notice = page.locator("[data-freshness]")
    await expect(page.get_by_role("link", name=(await owner.detail())["ability"]["title"])).to_be_visible()
    await expect(notice).to_have_count(0)
    # While its place is taken, the worker's own projection cannot write what the page is to say is not written.
    with single_writer(stack.database, stack.settings.memory_root):
        stack.services.capabilities.keep_inventory(RuntimeInventory(checked_at=datetime.now(UTC)))
        await console.open("learn")
        await console.open("skills")
        await expect(notice).to_contain_text("Refreshing abilities…")
        await expect(notice).to_contain_text("not yet in the file that agents route by")
    projector.catch_up()
    await console.open("learn")
    await console.open("skills")
    await expect(notice).to_have_count(0)
