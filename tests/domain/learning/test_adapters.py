"""The phase table is the documents', and whatever cannot be used names what can."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind
from domain.learning.adapters import ADAPTERS, DEPLOYED, alternatives_to, refuse_unavailable

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


@given(kind=KINDS, disabled=st.sets(KINDS))
def test_an_alternative_is_there_as_long_as_any_adapter_is(
    kind: ObservationAdapterKind, disabled: set[ObservationAdapterKind]
) -> None:
    instead = alternatives_to(kind, disabled)
    assert kind not in instead
    assert set(instead) <= DEPLOYED - disabled
    assert bool(instead) is bool(DEPLOYED - disabled - {kind})
