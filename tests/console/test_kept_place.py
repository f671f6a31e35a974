"""Where a person is on a page is kept while the page changes around them: focus, typed text, how far they have read."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.console.conftest import PATIENCE_MS, Console
from tests.e2e.ability_owner import owner_of_one
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

WIDTHS = (400, 1280)
LONG = "Unbreakable" * 7


async def focused(page: Page) -> str:
    found: str = await page.evaluate("document.activeElement.id || document.activeElement.textContent")
    return found


async def test_a_button_keeps_the_focus_while_it_works_and_where_it_goes_a_heading_takes_it(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    await console.sign_in()
    await console.open("categories")
    await page.get_by_label("Title").fill("Figures")
    await page.get_by_label("Title").press("Enter")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Figures"))
    await expect(card).to_be_visible()
    assert await focused(page) == "title-new"

    await card.get_by_role("button", name="Delete…").press("Enter")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    await expect(page.get_by_text("No category yet")).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_be_focused()

    await console.open(f"skills/{owner.ability_id}")
    quarantine = page.get_by_role("button", name="Quarantine…")
    await quarantine.press("Enter")
    await page.get_by_role("dialog").get_by_label("Reason").fill("It is wrong")
    await page.get_by_role("dialog").get_by_role("button", name="Quarantine").press("Enter")
    await expect(page.get_by_role("region", name="Where it stands")).to_contain_text("Quarantined because")
    assert await page.evaluate("document.activeElement !== document.body")


async def test_what_was_typed_stays_when_the_list_around_it_changes(console: Console) -> None:
    page = console.page
    await console.learner.ok("POST", "/api/categories", {"title": "Figures"})
    await console.sign_in()
    await console.open("categories")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Figures"))
    await card.get_by_text("Change").click()
    await card.get_by_label("Title").fill("Numbers")
    await page.get_by_label("Title").first.fill("Letters")
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_role("heading", name="Letters")).to_be_visible()
    await expect(card.get_by_label("Title")).to_have_value("Numbers")


async def test_an_item_that_comes_leaves_the_others_where_they_are(console: Console) -> None:
    await console.page.goto(console.url)
    kept: dict[str, Any] = await console.page.evaluate(
        """() => import("/console/static/dom.js").then(({ h, Rows }) => {
            const rows = new Rows();
            document.body.append(rows.element);
            const key = ({ id }) => id;
            const text_of = () => h("pre", { tabindex: "0" }, "line\\n".repeat(200));
            const build = ({ id }) => [h("h3", { tabindex: "-1" }, id), text_of()];
            rows.show([{ id: "b" }], key, build);
            const text = rows.element.querySelector("pre");
            text.scrollTop = 300;
            text.focus();
            rows.show([{ id: "a" }, { id: "b" }, { id: "c" }], key, build);
            const order = () => [...rows.element.querySelectorAll("h3")].map((one) => one.textContent);
            const found = { order: order(), focused: document.activeElement === text, scrolled: text.scrollTop };
            rows.show([{ id: "c" }], key, build);
            return { ...found, left: order(), then: document.activeElement.textContent };
        })"""
    )
    assert kept == {"order": ["a", "b", "c"], "focused": True, "scrolled": 300, "left": ["c"], "then": "c"}


async def test_a_refusal_is_said_in_sight_and_a_folder_that_was_not_chosen_at_its_field(
    console: Console, stack: Stack
) -> None:
    page = console.page
    owner = await owner_of_one(stack)
    await console.sign_in()
    await console.open(f"skills/{owner.ability_id}")
    await page.get_by_role("button", name="Try it").click()
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("Choose one that has files in it")
    await expect(alert).not_to_contain_text("doctor")
    folder = page.get_by_label("Folder", exact=True)
    await expect(folder).to_be_focused()
    await expect(folder).to_have_attribute("aria-invalid", "true")
    await expect(page.locator(".field-problem").filter(has_text="Choose one")).to_be_in_viewport()

    await page.evaluate(
        """() => import("/console/static/parts/trouble.js").then(({ trouble }) => {
            document.activeElement.blur();
            scrollTo(0, document.body.scrollHeight);
            trouble.report(new Error("It did not work"));
        })"""
    )
    await expect(page.get_by_text("It did not work")).to_be_in_viewport()


@pytest.mark.parametrize("width", WIDTHS)
async def test_no_page_scrolls_sideways_whatever_things_are_called(
    console: Console, learner_of_long_names: Learner, width: int
) -> None:
    page = console.page
    await page.set_viewport_size({"width": width, "height": 800})
    await console.sign_in()
    for view in ("learn", "active", "pending", "mining", "history", "skills", "categories", "connectors"):
        await console.open(view)
        await expect(page.get_by_text("Loading")).to_have_count(0)
        for size, spacing in (("100%", "normal"), ("200%", "normal"), ("200%", "0.12em")):
            wide = await page.evaluate(SET_AND_MEASURE, [size, spacing])
            assert wide <= 0, f"{view} at {width} px, {size} and {spacing} is {wide} px too wide"


SET_AND_MEASURE = """([size, spacing]) => {
    const root = document.documentElement;
    root.style.fontSize = size;
    root.style.letterSpacing = spacing;
    // While a page connects and after, its masthead has words of several lengths; this is the longest.
    document.getElementById("connection-text").textContent = "Reconnecting";
    return root.scrollWidth - root.clientWidth;
}"""
"""Sets the size of text and the space between letters (WCAG 1.4.4, 1.4.12), and says how much is out of sight."""


@pytest.fixture
async def learner_of_long_names(console: Console) -> Learner:
    """A person whose things have names without a place to break at."""
    learner = console.learner
    await learner.ok("POST", "/api/categories", {"title": LONG})
    await learner.teach(f"Pack {LONG}", allow_private_install=True)
    await learner.propose_act("install", {"install_lane": "approved_workspace"})
    await learner.create()
    await learner.act("start")
    return learner
