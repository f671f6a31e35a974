"""The phase table is the documents', and whatever cannot be used names what can."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import uuid_utils
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.adapters import (
    ADAPTERS,
    APPLICATIONS,
    DEPLOYED,
    alternatives_to,
    is_unknown_word,
    refuse_misnamed,
    refuse_unavailable,
)
from domain.learning.redaction.redaction import redact_event

ROOT = Path(__file__).parents[3]
KINDS = st.sampled_from(ObservationAdapterKind)

PHASES = {
    "phase_1": "browser_dom browser_snapshot mcp_receipt wrapper_receipt terminal_command process_launch",
    "phase_2": "keyboard_shortcut file_dialog midi",
    "phase_3": "accessibility_ui mouse_click clipboard text_entry",
}


def test_every_kind_has_the_phase_that_the_documents_give_it() -> None:
    assert set(ADAPTERS) == set(ObservationAdapterKind)
    for phase, kinds in PHASES.items():
        assert {kind.value for kind, rule in ADAPTERS.items() if rule.phase == phase} == set(kinds.split())


@pytest.mark.acceptance("R11.2-44")
@given(asked=st.lists(KINDS, max_size=5), disabled=st.sets(KINDS))
def test_what_is_refused_names_only_what_can_be_used(
    asked: list[ObservationAdapterKind], disabled: set[ObservationAdapterKind]
) -> None:
    missing = [kind for kind in asked if kind not in DEPLOYED or kind in disabled]
    if not missing:
        refuse_unavailable(asked, disabled)
        return
    with pytest.raises(Refusal) as refused:
        refuse_unavailable(asked, disabled)
    error = refused.value
    assert error.code is ErrorCode.ADAPTER_UNAVAILABLE
    assert len(error.message) <= 240
    assert {entry["kind"] for entry in error.extra["adapters"]} == {kind.value for kind in missing}  # type: ignore[attr-defined]
    usable = {kind.value for kind in DEPLOYED - disabled}
    assert set(error.extra["alternatives"]) <= usable  # type: ignore[call-overload]
    assert bool(error.extra["alternatives"]) is bool(usable)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("termnal", "terminal"),
        ("Terminals", "terminal"),
        ("browzer", "browser"),
        ("terminal_command", "terminal"),
    ],
)
def test_a_name_that_is_meant_as_a_recorders_is_refused_with_those_there_are(given: str, meant: str) -> None:
    with pytest.raises(Refusal) as refused:
        refuse_misnamed(["https://shop.example", given])
    assert refused.value.code is ErrorCode.VALIDATION_FAILED
    assert f"is {meant} meant?" in refused.value.message
    assert all(name in refused.value.message for name in APPLICATIONS)
    assert "body.target_app_whitelist.1" in str(refused.value.extra["fields"])


def test_sites_windows_and_what_other_recorders_report_are_taken() -> None:
    refuse_misnamed(
        [
            "terminal",
            " Terminal",
            "browser",
            "https://shop.example",
            "org.example.terminal",
            "Report - Editor",
            "ableton",
        ]
    )


@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("terminal", False),
        (" Browser", False),
        ("termnal", False),
        ("figma", True),
        ("Visual-Studio", True),
        ("localhost", False),
        ("shop.example", False),
        ("localhost:8000", False),
        ("https://shop.example", False),
        ("org.example.terminal", False),
        ("Report - Editor", False),
    ],
)
def test_a_single_word_that_no_recorder_here_reports_is_unknown(name: str, unknown: bool) -> None:
    assert is_unknown_word(name) is unknown


@given(kind=KINDS, disabled=st.sets(KINDS))
def test_an_alternative_is_there_as_long_as_any_adapter_is(
    kind: ObservationAdapterKind, disabled: set[ObservationAdapterKind]
) -> None:
    instead = alternatives_to(kind, disabled)
    assert kind not in instead
    assert set(instead) <= DEPLOYED - disabled
    assert bool(instead) is bool(DEPLOYED - disabled - {kind})


@pytest.mark.parametrize("kind", sorted(DEPLOYED))
def test_a_deployed_kind_has_code_that_makes_its_events_and_a_line_in_the_documents(
    kind: ObservationAdapterKind,
) -> None:
    makers = [ROOT / "domain/learning/interpretation/meaningful.py", *(ROOT / "recorders").rglob("*.py")]
    assert any(f"ObservationAdapterKind.{kind.name}" in file.read_text(encoding="utf-8") for file in makers)
    assert f"`{kind.value}`" in (ROOT / "docs/concepts.md").read_text(encoding="utf-8")


def test_the_kinds_whose_labels_can_hold_input_are_redacted_to_their_input_class() -> None:
    for kind, rule in ADAPTERS.items():
        event = ObservedActionEvent(
            event_id=str(uuid_utils.uuid7()),
            learn_session_id=str(uuid_utils.uuid7()),
            adapter_kind=kind,
            action_label="type: my holiday",
            redaction_mode=RedactionMode.MASK_TEXT,
            caused_state_change=True,
            created_at=datetime.now(UTC),
        )
        assert ("my holiday" in redact_event(event).action_label) is not rule.payload_in_label
