"""What a page reports becomes an event that holds no value, no credential and no query."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import (
    BrowserAction,
    ObservationAdapterKind,
    ObservedActionEvent,
    RedactionMode,
)
from domain.learning.redaction.redaction import redact_event
from recorders.browser.page_events import PageEvents, TypedEchoes, site_and_path

SESSION = "00000000-0000-7000-8000-000000000001"
PART = st.text("abcdefgh0123456789", min_size=4, max_size=12)


def made(
    action: BrowserAction, mode: RedactionMode = RedactionMode.MASK_TEXT, **report: Any
) -> ObservedActionEvent:
    events = PageEvents(SESSION, mode, TypedEchoes())
    event = events.event(action, "http://shop.example/orders", "Orders", report)
    assert event is not None
    return event


@given(user=PART, password=PART, query=PART, fragment=PART)
def test_an_address_keeps_site_and_path_only(user: str, password: str, query: str, fragment: str) -> None:
    address = f"https://U{user}:P{password}@shop.example:8443/a/b?q=Q{query}#F{fragment}"
    assert site_and_path(address) == ("https://shop.example:8443", "/a/b")


@pytest.mark.parametrize("address", ["about:blank", "chrome://settings", "data:text/html,hi", "http://[", ""])
def test_what_is_no_web_page_is_not_reported(address: str) -> None:
    events = PageEvents(SESSION, RedactionMode.MASK_TEXT, TypedEchoes())
    assert events.event(BrowserAction.NAVIGATE, address, "t", {}) is None


def test_an_action_is_told_by_role_and_name() -> None:
    event = made(BrowserAction.CLICK, role="button", name="Save order", form="New order")
    assert event.adapter_kind is ObservationAdapterKind.BROWSER_DOM
    assert event.action_label == "Choose the button “Save order”"
    assert event.target_ref == "the button “Save order”"
    assert event.window_title == "Orders"
    assert event.caused_state_change


def test_a_page_summary_is_bounded_and_belongs_to_the_other_adapter() -> None:
    summary = {"headings": [f"heading {n} " + "x" * 500 for n in range(90)], "messages": [], "strange": ["?"]}
    event = made(BrowserAction.SNAPSHOT, summary=summary)
    assert event.adapter_kind is ObservationAdapterKind.BROWSER_SNAPSHOT
    assert event.browser is not None
    assert event.browser.outcome is not None
    assert len(event.browser.outcome.headings) == 12
    assert max(map(len, event.browser.outcome.headings)) == 120
    assert not event.caused_state_change


def test_secrets_in_what_a_page_shows_are_masked() -> None:
    token = "ghp_" + "a1B2" * 9
    event = redact_event(made(BrowserAction.SNAPSHOT, summary={"messages": [f"Your token is {token}"]}))
    assert token not in event.model_dump_json()
    assert redact_event(event) == event


def test_hashing_leaves_no_name_and_nothing_that_was_shown() -> None:
    event = redact_event(
        made(BrowserAction.CLICK, RedactionMode.HASH_ONLY, role="link", name="Divorce papers")
    )
    shown = made(BrowserAction.SNAPSHOT, RedactionMode.HASH_ONLY, summary={"headings": ["Divorce papers"]})
    for kept in (event, redact_event(shown)):
        assert "Divorce" not in kept.model_dump_json()
        assert redact_event(kept) == kept
