"""Planning over several control surfaces, and the trace of it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.capability_plan import SupervisionClass
from contracts.abilities.control_surface import ControlSurface as Surface
from domain.abilities.hybrid_plan import (
    ORDER,
    USER_INTERFACE,
    Attempt,
    CannotPlan,
    Execution,
    StepNeed,
    Truth,
    plan,
    ranked,
    trace,
)

SURFACES = st.frozensets(st.sampled_from(Surface))
EXECUTION = Execution("01890000-0000-7000-8000-000000000001", "word", datetime(2026, 1, 1, tzinfo=UTC), 1200)


def need(**fields: object) -> StepNeed:
    """A step that writes and can be verified by the app's API."""
    base: dict[str, object] = {
        "step_id": "s1",
        "purpose": "Start the transport",
        "act": frozenset({Surface.RAW_UI}),
        "verify": frozenset({Surface.APP_API}),
    }
    return StepNeed(**{**base, **fields})  # type: ignore[arg-type]


@pytest.mark.acceptance("9.8-49")
def test_a_shortcut_or_an_api_comes_before_the_user_interface() -> None:
    act = frozenset({Surface.RAW_UI, Surface.KEYBOARD_SHORTCUT, Surface.PAGE_KNOWLEDGE_UI})
    (step,) = plan("bitwig.transport", "Start playing", [need(act=act)]).steps
    assert step.act_surface is Surface.KEYBOARD_SHORTCUT
    assert step.fallback_surfaces == (Surface.PAGE_KNOWLEDGE_UI, Surface.RAW_UI)
    (step,) = plan("bitwig.transport", "Start playing", [need(act=act | {Surface.APP_API})]).steps
    assert step.act_surface is Surface.APP_API


@pytest.mark.acceptance("9.8-50")
def test_falling_back_to_the_user_interface_is_on_record() -> None:
    made = plan("word.redline", "Show the changes", [need(act=frozenset({Surface.APP_API, Surface.RAW_UI}))])
    attempts = [
        Attempt("s1", Surface.APP_API, success=False),
        Attempt("s1", Surface.RAW_UI, success=True, verified=True),
    ]
    told = trace(made, attempts, EXECUTION)
    assert (told.fallback_used, told.success) == (True, True)
    assert told.surfaces_attempted == ("app_api", "raw_ui")
    assert told.failure_fingerprint is None


@pytest.mark.acceptance("9.8-51")
def test_each_step_reads_acts_and_is_verified_where_that_is_best() -> None:
    steps = [
        need(
            step_id="read",
            act=frozenset({Surface.APP_API, Surface.RAW_UI}),
            read=frozenset({Surface.APP_API}),
            verify=frozenset(),
            writes=False,
        ),
        need(
            step_id="draw",
            act=frozenset({Surface.RAW_UI}),
            verify=frozenset({Surface.APP_API, Surface.RAW_UI}),
        ),
    ]
    read, draw = plan("cad.draw", "Add a line", steps).steps
    assert (read.read_surface, read.act_surface) == (Surface.APP_API, Surface.APP_API)
    assert (draw.act_surface, draw.verify_surface) == (Surface.RAW_UI, Surface.APP_API)


def test_a_write_that_nothing_can_verify_is_not_planned() -> None:
    with pytest.raises(CannotPlan, match="s1 writes"):
        plan("x", "y", [need(verify=frozenset())])
    with pytest.raises(CannotPlan, match="no surface"):
        plan("x", "y", [need(act=frozenset())])
    with pytest.raises(CannotPlan, match="at least one"):
        plan("x", "y", [])


def test_what_cannot_be_undone_is_always_confirmed() -> None:
    kinds = [need(irreversible=True), need(), need(writes=False)]
    assert [step.supervision_class for step in plan("x", "y", kinds).steps] == [
        SupervisionClass.ALWAYS_CONFIRM,
        SupervisionClass.CONFIRM_CRITICAL,
        SupervisionClass.NONE,
    ]


def test_a_step_that_was_seen_not_to_work_has_failed_whatever_it_said() -> None:
    made = plan("word.redline", "Show the changes", [need(act=frozenset({Surface.APP_API}))])
    told = trace(made, [Attempt("s1", Surface.APP_API, success=True, verified=False)], EXECUTION)
    again = trace(made, [Attempt("s1", Surface.APP_API, success=False)], EXECUTION)
    assert not told.success
    assert told.failure_fingerprint == again.failure_fingerprint


def test_a_surface_outside_the_plan_has_no_place_in_its_trace() -> None:
    made = plan("x", "y", [need(act=frozenset({Surface.APP_API}))])
    with pytest.raises(ValueError, match="raw_ui"):
        trace(made, [Attempt("s1", Surface.RAW_UI, success=True)], EXECUTION)


def test_every_surface_has_its_place_in_both_orders() -> None:
    for order in ORDER.values():
        assert sorted(order) == sorted(Surface)


def test_a_remote_truth_prefers_a_connector_to_the_bridge_and_the_browser() -> None:
    available = [Surface.NATIVE_OPENCLAW_BROWSER, Surface.BRIDGE_TOOL, Surface.MCP_CONNECTOR]
    assert ranked(available, Truth.REMOTE)[0] is Surface.MCP_CONNECTOR
    assert ranked(available, Truth.LOCAL)[0] is Surface.BRIDGE_TOOL


@given(act=SURFACES.filter(bool), verify=SURFACES.filter(bool), truth=st.sampled_from(Truth))
def test_the_user_interface_is_acted_on_only_where_nothing_else_is_there(
    act: frozenset[Surface], verify: frozenset[Surface], truth: Truth
) -> None:
    (step,) = plan("x", "y", [need(act=act, verify=verify, truth=truth)]).steps
    assert (step.act_surface in USER_INTERFACE) is (act <= USER_INTERFACE)
    assert {step.act_surface, *step.fallback_surfaces} == act
    assert step.verify_surface in verify
    assert step.verify_surface is not step.act_surface or verify == {step.act_surface}
