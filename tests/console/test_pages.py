"""Lists that the service cuts have next pages in the console."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.console.conftest import PATIENCE_MS, Console

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)


def listed(page: Page, name: str) -> Locator:
    """The items of a list, without those of lists within them."""
    return page.get_by_role("list", name=name, exact=True).locator(":scope > li")


async def test_a_list_is_turned_page_by_page_and_falls_back_when_its_last_page_goes(console: Console) -> None:
    page, learner = console.page, console.learner
    made = [await learner.ok("POST", "/api/categories", {"title": f"Group {n:02}"}) for n in range(26)]
    for number in range(11):
        body = {"item_kind": "task_template", "item_id": f"template {number:02}"}
        await learner.ok("POST", f"/api/categories/{made[25]['category_id']}/assign", body)
    await console.sign_in()
    await console.open("categories")
    groups, turning = listed(page, "Categories"), page.get_by_role("navigation", name="Pages: categories")
    await expect(groups).to_have_count(25)
    await expect(turning).to_contain_text("Page 1 of 2, 26 in all")
    await expect(turning.get_by_role("button", name="Previous")).to_be_disabled()

    await turning.get_by_role("button", name="Next").click()
    await expect(groups).to_have_count(1)
    await expect(groups).to_contain_text("11 items")
    await expect(listed(page, "In Group 25")).to_have_count(10)
    await page.get_by_role("navigation", name="Pages: items").get_by_role("button", name="Next").click()
    await expect(listed(page, "In Group 25")).to_have_count(1)
    await expect(listed(page, "In Group 25")).to_contain_text("template 00")

    await groups.get_by_role("button", name="Delete…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(groups).to_have_count(25)
    await expect(turning).to_have_count(0)


async def test_a_search_begins_at_the_first_page_again(console: Console) -> None:
    page, learner = console.page, console.learner
    for number in range(26):
        app = "shop" if number < 2 else "office"
        await learner.create(target_app_family=app)
        await learner.act("cancel")
    await console.sign_in()
    await console.open("history")
    rows, turning = page.get_by_role("row"), page.get_by_role("navigation", name="Pages: sessions")
    await expect(rows).to_have_count(26)
    await turning.get_by_role("button", name="Next").click()
    await expect(rows).to_have_count(2)
    await page.get_by_role("searchbox", name="Search the history").fill("shop")
    await expect(rows).to_have_count(3)
    await expect(turning).to_have_count(0)
