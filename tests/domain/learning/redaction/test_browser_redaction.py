"""The browser's part of an event is redacted by the same rules, once and for all, and never let through unseen."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from uuid_utils import uuid7

from contracts.learning.observation import BrowserObservation, ObservedActionEvent, PageSummary, RedactionMode
from domain.learning.redaction.redaction import MASK, may_need_redaction, redact_event

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SESSION = str(uuid7())
SECRET = "AKIA" + "Q7ZXCVBNMASDFGHJ"
PIECES = st.one_of(
    st.sampled_from(
        ["password=", "Bearer ", "token: ", "@", "4111 1111 1111 1111", SECRET, "a1B2c3D4e5F6g7H8" * 2]
    ),
    st.text("aZ09 +/_=.-", max_size=12),
)
TEXTS = st.lists(PIECES, max_size=4).map(lambda pieces: "".join(pieces)[:80])


def observed(title: str, name: str, message: str, mode: RedactionMode) -> ObservedActionEvent:
    return ObservedActionEvent(
        event_id=str(uuid7()),
        learn_session_id=SESSION,
        adapter_kind="browser_dom",
        action_label="Choose something",
        redaction_mode=mode,
        browser=BrowserObservation(
            action="snapshot",
            site="https://shop.example",
            page_title=title,
            accessible_name=name,
            outcome=PageSummary(messages=(message,), headings=(title,)),
        ),
        created_at=NOW,
    )


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(RedactionMode))
def test_redacting_again_changes_nothing_and_the_screen_misses_nothing(
    title: str, name: str, message: str, mode: RedactionMode
) -> None:
    event = observed(title, name, message, mode)
    redacted = redact_event(event)
    assert redact_event(redacted) == redacted
    if not may_need_redaction(event):
        assert redacted == event


def test_a_key_in_a_name_or_a_message_is_masked() -> None:
    event = redact_event(observed("Keys", f"Copy {SECRET}", f"Your key is {SECRET}", RedactionMode.MASK_TEXT))
    assert SECRET not in event.model_dump_json()
    assert event.browser is not None
    assert event.browser.accessible_name == f"Copy {MASK}"
