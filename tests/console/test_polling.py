"""How often a page of the console asks the service while something is under way."""

import pytest

from tests.console.conftest import Console

pytestmark = pytest.mark.anyio


async def test_a_page_that_is_shown_again_and_again_looks_again_once(console: Console) -> None:
    page = console.page
    await page.clock.install()
    await page.goto(console.url)
    await page.evaluate(
        """() => import("/console/static/parts/polling.js").then(({ lookAgain }) => {
            const left = new AbortController();
            window.left = left;
            window.looked = 0;
            const shown = { signal: left.signal, refresh: () => { window.looked += 1; } };
            window.show = () => lookAgain(shown);
            for (let time = 0; time < 5; time += 1) window.show();
        })"""
    )
    await page.clock.run_for(5_000)
    assert await page.evaluate("window.looked") == 1

    await page.evaluate("window.show(); window.left.abort(); window.show()")
    await page.clock.run_for(5_000)
    assert await page.evaluate("window.looked") == 1, "a page that was left looks no more"
