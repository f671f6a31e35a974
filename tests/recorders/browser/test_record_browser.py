"""The browser recorder in a real Chromium: what is reported, what never is, and how it is steered and ended."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from contracts.backoff import Backoff
from recorders.browser.recording import BrowserRecorderOptions
from recorders.delivery import IngestTarget
from recorders.spool import RecorderError
from tests.fixtures.local_site import local_site
from tests.fixtures.recorded_browser import Recording, debuggable_chromium

PASSWORD = "Zebra-hunter-77"


@dataclass
class Watched:
    """A person's tab in a recorded browser, and the route that the recorder reports to."""

    page: Page
    context: BrowserContext
    site: str
    server: Any
    recording: Recording

    def events(self) -> list[dict[str, Any]]:
        with self.server.changed:
            return [dict(one) for one in self.server.accepted.values()]

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first event that is ``wanted``, waited for."""
        found: list[dict[str, Any]] = []

        def arrived() -> bool:
            found[:] = [dict(one) for one in self.server.accepted.values() if wanted(one["browser"])]
            return bool(found)

        with self.server.changed:
            assert self.server.changed.wait_for(arrived, 20), self.server.labels()
        return found[0]

    def sees(self, part: str, text: str) -> dict[str, Any]:
        """The first page summary with ``text``."""
        return self.wait_for(lambda b: text in (b.get("outcome") or {}).get(part, ()))

    def labels(self) -> list[str]:
        return [str(one["action_label"]) for one in self.events()]

    def finish(self) -> None:
        """Closes every tab, which ends the recording."""
        for page in self.context.pages:
            page.close()
        self.recording.ended()


@pytest.fixture
def watched(tmp_path: Path, ingest_server: Any, session_id: str) -> Iterator[Watched]:
    with local_site() as site, debuggable_chromium(tmp_path / "profile") as cdp_url:
        options = BrowserRecorderOptions(
            learn_session_id=session_id,
            target=IngestTarget(ingest_server.url, "token"),
            spool_folder=tmp_path / "spool",
            cdp_url=cdp_url,
            backoff=Backoff(first=0.01, cap=0.05, jitter=0.9),
        )
        recording = Recording(options).start()
        with sync_playwright() as playwright:
            context = playwright.chromium.connect_over_cdp(cdp_url).contexts[0]
            yield Watched(context.pages[0], context, site, ingest_server, recording)
            for page in context.pages:
                page.close()
    recording.ended()


def everything_in(page: Page) -> str:
    """The page's document, closed shadow trees included."""
    session = page.context.new_cdp_session(page)
    found = str(session.send("DOM.getDocument", {"depth": -1, "pierce": True}))
    session.detach()
    return found


def sign_in(watched: Watched) -> None:
    watched.page.goto(f"{watched.site}/?invitation=invited-by-zyx")
    watched.page.get_by_label("User name").fill("grace")
    watched.page.get_by_label("Password").fill(PASSWORD)
    watched.page.get_by_role("button", name="Sign in").click()
    watched.sees("headings", "Stock list")


def test_a_sign_in_is_told_by_role_and_name_and_the_password_by_nothing(
    watched: Watched, tmp_path: Path
) -> None:
    sign_in(watched)
    watched.finish()
    assert [label for label in watched.labels() if not label.startswith("See")] == [
        "Open the page “Sign in”",
        "Fill in the field “User name”",
        "Fill in the field “Password”",
        "Choose the button “Sign in”",
        "Submit the form “Sign in”",
        "Open the page “Stock”",
    ]
    password = watched.wait_for(lambda b: b.get("accessible_name") == "Password")["browser"]
    assert password["value"] == {"kind": "password", "length": 0}
    assert password["form_name"] == "Sign in"
    user = watched.wait_for(lambda b: b.get("accessible_name") == "User name")["browser"]
    assert user["value"] == {"kind": "text", "length": 5}
    assert (user["site"], user["page_path"]) == (watched.site, "/")
    sent = b"".join(watched.server.bodies)
    spooled = b"".join(path.read_bytes() for path in (tmp_path / "spool").rglob("*") if path.is_file())
    for secret in (PASSWORD, "grace", "invited-by-zyx", "secret-query-71", "zebra"):
        assert secret.encode() not in sent + spooled
    assert watched.recording.said[0].startswith("recording this browser")


@pytest.mark.thorough
def test_a_click_on_a_decoration_is_one_on_the_control_around_it_and_prose_is_none(watched: Watched) -> None:
    sign_in(watched)
    watched.page.locator(".prose").click()
    watched.page.locator("svg").click()
    link = watched.wait_for(lambda b: b.get("role") == "link")
    assert link["action_label"] == "Choose the link “New order”"
    watched.sees("headings", "New order")
    watched.page.locator("i").click()
    button = watched.wait_for(lambda b: b.get("role") == "button" and b["page_path"] == "/order")
    assert button["browser"]["accessible_name"] == "Save order"
    watched.finish()
    assert not any("Twelve" in label for label in watched.labels())
    assert "fragment-82" not in str(watched.events())


@pytest.mark.thorough
def test_a_refused_form_and_its_second_try_show_what_the_page_said(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.site}/order")
    page.get_by_label("Customer").fill("Grace Hopper")
    page.get_by_label("Shipping").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_text("Gift wrap").click()
    page.get_by_text("Save order").click()
    refused = watched.sees("alerts", "Quantity is missing")
    assert refused["browser"]["outcome"]["invalid_fields"] == ["Quantity"]
    page.get_by_label("Quantity").fill("3")
    page.keyboard.press("Enter")
    # The page repeats the customer's name: what was typed is left open.
    saved = watched.sees("messages", "Order 4711 for … is saved")
    assert saved["adapter_kind"] == "browser_snapshot"
    watched.finish()
    done = {
        (b["action"], b.get("accessible_name")): b.get("value")
        for b in (e["browser"] for e in watched.events())
    }
    assert done["select", "Shipping"] == {"kind": "choice", "length": 1}
    assert done["select", "Gift wrap"] == {"kind": "checked", "length": 1}
    assert done["input", "Quantity"] == {"kind": "number", "length": 1}
    assert [label for label in watched.labels() if label.startswith("Submit")] == [
        "Submit the form “New order”"
    ] * 2
    assert "Hopper" not in str(watched.server.bodies)
    assert "Express" not in str(watched.events())


@pytest.mark.thorough
def test_a_download_a_page_that_moves_by_itself_a_frame_and_a_new_tab_are_followed(watched: Watched) -> None:
    sign_in(watched)
    with watched.page.expect_download():
        watched.page.get_by_text("Download as CSV").click()
    download = watched.wait_for(lambda b: b["action"] == "download")
    assert (download["action_label"], download["window_title"]) == ("Download stock.csv", "Stock")

    with watched.context.expect_page() as opened:
        watched.page.get_by_text("Order in a new tab").click()
    watched.sees("headings", "New order")
    opened.value.get_by_label("Quantity").fill("12")
    opened.value.get_by_text("Save order").click()
    watched.sees("messages", "Order 4711 for is saved")

    watched.page.goto(f"{watched.site}/tasks")
    watched.page.get_by_text("Show the archive").click()
    watched.sees("headings", "Archived tasks")
    moved = watched.wait_for(lambda b: b["action"] == "navigate" and b["page_path"] == "/tasks/archive")
    assert moved["action_label"] == "Open the page “Archive”"

    watched.page.goto(f"{watched.site}/framed")
    watched.page.frame_locator("iframe").get_by_role("button", name="Subscribe").click()
    subscribed = watched.sees("messages", "You are subscribed")
    assert subscribed["window_title"] == "Newsletter"
    watched.finish()
    assert "Choose the button “Subscribe”" in watched.labels()


@pytest.mark.thorough
def test_a_frame_of_another_site_is_followed_as_well(watched: Watched) -> None:
    watched.page.goto(f"{watched.site}/abroad")
    watched.page.frame_locator("iframe").get_by_role("button", name="Subscribe").click()
    subscribed = watched.sees("messages", "You are subscribed")["browser"]
    assert subscribed["site"] == watched.site.replace("127.0.0.1", "localhost")
    assert subscribed["page_title"] == "Partners"


@pytest.mark.thorough
def test_free_text_files_and_searches_leave_only_their_kind(watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    page.goto(f"{watched.site}/note")
    page.get_by_label("Note text").click()
    page.keyboard.type("Divorce papers, first draft")
    (tmp_path / "secret-name.png").write_bytes(b"png")
    page.get_by_label("Picture").set_input_files(tmp_path / "secret-name.png")
    page.get_by_label("Find").fill("quicksilver")
    page.keyboard.press("Enter")
    watched.wait_for(lambda b: b["action"] == "submit")
    watched.finish()
    values = {
        b["accessible_name"]: b["value"]
        for b in (e["browser"] for e in watched.events())
        if b["action"] == "input"
    }
    assert values["Note text"] == {"kind": "text", "length": 27}
    assert values["Find"] == {"kind": "search", "length": 11}
    for typed in ("Divorce", "draft", "quicksilver", "secret-name"):
        assert typed.encode() not in b"".join(watched.server.bodies)


@pytest.mark.thorough
def test_nothing_is_lost_or_doubled_while_the_api_is_away(watched: Watched, tmp_path: Path) -> None:
    watched.server.refuse(503, times=6)
    sign_in(watched)
    watched.finish()
    summary = watched.recording.ended()
    assert summary.complete
    assert summary.delivery.retries >= 1
    assert summary.recorded == len(watched.events()) == summary.delivery.accepted
    assert list((tmp_path / "spool").iterdir()) == []


@pytest.mark.thorough
def test_a_session_that_takes_nothing_more_ends_the_recording(watched: Watched) -> None:
    watched.server.always = watched.server.refusing(
        409, code="INVALID_LEARN_STATE_TRANSITION", retryable=False
    )
    watched.page.goto(watched.site)
    summary = watched.recording.ended()
    assert not summary.complete
    assert summary.stopped_reason is not None
    assert "INVALID_LEARN_STATE_TRANSITION" in summary.stopped_reason
    # The browser stays, and says no longer that it is recorded.
    assert watched.page.title() == "Sign in"
    assert "Recording" not in everything_in(watched.page)


def test_a_port_without_a_browser_is_named(tmp_path: Path, ingest_server: Any, session_id: str) -> None:
    for address, reason in (
        ("http://127.0.0.1:9", "no browser answers"),
        ("http://shop.example", "this machine"),
    ):
        options = BrowserRecorderOptions(
            session_id, IngestTarget(ingest_server.url, "token"), tmp_path / "spool", cdp_url=address
        )
        with pytest.raises(RecorderError, match=reason):
            Recording(options).start()
