"""The screen before redaction never lets through what redaction would change."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from uuid_utils import uuid7

from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.redaction.redaction import (
    joined,
    mask_by_rules,
    may_hold_secret,
    may_need_redaction,
    redact_event,
    texts_of,
)
from domain.learning.redaction.secret_shapes import MIN_LENGTH, RULES

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SESSION = str(uuid7())

PIECES = st.one_of(
    st.sampled_from([trigger for rule in RULES for trigger in rule.triggers]),
    st.sampled_from(
        ["=", ": ", " ", "\n", "\\", "/", "'", '"', "@", "İ", "\u212a", "٤", "4111 1111 1111 1111"]
    ),
    st.text(alphabet="aZ09+/_=~.-Bk\u212a", max_size=MIN_LENGTH + 4),
    st.text(max_size=8),
)
TEXTS = st.lists(PIECES, max_size=6).map(lambda pieces: "".join(pieces)[:80])


def observed(label: str, title: str | None, command: str | None, **fields: object) -> ObservedActionEvent:
    terminal = {"command": command, "exit_class": "ok", "working_folder": "."}
    return ObservedActionEvent.model_validate(
        {
            "event_id": str(uuid7()),
            "learn_session_id": SESSION,
            "adapter_kind": "terminal_command",
            "action_label": label,
            "window_title": title,
            "terminal": None if command is None else terminal,
            "created_at": NOW,
            **fields,
        }
    )


@given(
    label=TEXTS,
    title=st.none() | TEXTS,
    command=st.none() | TEXTS,
    kind=st.sampled_from(ObservationAdapterKind),
    mode=st.sampled_from(RedactionMode),
)
@example(label="x", title="C:\\", command="a" * 30, kind=ObservationAdapterKind.MIDI, mode=RedactionMode.NONE)
def test_what_the_screen_lets_through_redaction_leaves_as_it_is(
    label: str, title: str | None, command: str | None, kind: ObservationAdapterKind, mode: RedactionMode
) -> None:
    event = observed(label, title, command, adapter_kind=kind, redaction_mode=mode)
    if not may_need_redaction(event):
        assert redact_event(event) == event


@given(text=TEXTS)
@example(text="C:\\")
def test_no_rule_changes_a_text_that_the_screen_lets_through(text: str) -> None:
    if not may_hold_secret(text):
        assert mask_by_rules(text) == text


@given(labels=st.lists(TEXTS.filter(bool), max_size=4))
def test_what_is_let_through_of_many_events_is_let_through_of_each(labels: list[str]) -> None:
    events = [observed(label, None, None) for label in labels]
    texts = [text for event in events for text in texts_of(event)]
    if not may_hold_secret(joined(texts)):
        assert not any(may_need_redaction(event) for event in events)


@pytest.mark.parametrize(
    "command",
    ["export API_KEY=hunter2", "echo AKIAABCDEFGHIJKLMNOP", "PASSWORD=x make", "pay 4111 1111 1111 1111"],
)
def test_the_screen_stops_secrets(command: str) -> None:
    assert may_need_redaction(observed("Run", None, command))


@pytest.mark.parametrize(
    "command", ["python export.py --month 3", "git commit -m 'Fix the report'", "make test"]
)
def test_the_screen_lets_ordinary_commands_through(command: str) -> None:
    assert not may_need_redaction(observed("Run a command", "zsh - reports", command))
