"""The console as a person meets it: the real application behind a real server, opened in a real Chromium."""

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.fixtures.learner import Learner
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first takes less than half of the others' processor time: it has no windows."""
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
PATIENCE_MS = 30_000
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One loop for the tests of a module, so that they share a browser."""
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncIterator[Browser]:
    """The Chromium of this machine."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the PATH; install it, or name it in CHROMIUM")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        await launched.close()


@dataclass(frozen=True)
class Console:
    """A person's browser at the console, and the same person at the API."""

    page: Page
    learner: Learner
    url: str
    complaints: list[str]
    refusals: set[int]
    """Statuses that the test brings about: the browser complains of each such answer by itself."""

    async def sign_in(self, secret: str | None = None) -> None:
        """Pastes a token: the learner's own, unless another is given."""
        await self.page.goto(self.url)
        await self.page.get_by_label("Access token").fill(secret or self.learner.secret)
        await self.page.get_by_role("button", name="Open the console").click()

    async def open(self, view: str) -> None:
        """Goes to a view by its address."""
        await self.page.goto(f"{self.url}#/{view}")


@pytest.fixture
async def origin(stack: Stack) -> AsyncIterator[str]:
    """Where the stack's API is served over HTTP."""
    async with served(stack) as address:
        try:
            yield address
        finally:
            # What a page still listens to would be waited for.
            stack.services.tail.close()


@pytest.fixture
async def console(browser: Browser, stack: Stack, origin: str) -> AsyncIterator[Console]:
    """A fresh browser profile; what the page complained of is checked when the test has ended."""
    context = await browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    complaints: list[str] = []
    refusals: set[int] = set()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    yield Console(page, stack.learner(), f"{origin}/console", complaints, refusals)
    await context.close()
    expected = [f"Failed to load resource: the server responded with a status of {one} " for one in refusals]
    assert [one for one in complaints if not one.startswith(tuple(expected))] == []
