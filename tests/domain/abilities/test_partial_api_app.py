"""An app whose API covers a part of the work: read there, act where it has to be, verify each step (DOC3 §9.8)."""

from datetime import UTC, datetime

import pytest

from contracts.abilities.control_surface import ControlSurface as Surface
from domain.abilities.hybrid_plan import USER_INTERFACE, Attempt, Execution, StepNeed, plan, trace

EXECUTION = Execution("01890000-0000-7000-8000-000000000002", "cad", datetime(2026, 1, 1, tzinfo=UTC), 900)
BOTH = frozenset({Surface.APP_API, Surface.RAW_UI})
STEPS = (
    StepNeed(step_id="list", purpose="List the layers", act=BOTH, read=BOTH, verify=BOTH, writes=False),
    StepNeed(step_id="name", purpose="Name a layer", act=BOTH, read=BOTH, verify=BOTH),
    StepNeed(step_id="draw", purpose="Draw a line", act=frozenset({Surface.RAW_UI}), read=BOTH, verify=BOTH),
)


@pytest.mark.acceptance("9.8-51")
def test_the_api_is_chosen_wherever_it_reaches_and_every_step_has_where_it_is_verified() -> None:
    steps = {step.step_id: step for step in plan("cad.draw", "Add a line", STEPS).steps}
    assert {step.read_surface for step in steps.values()} == {Surface.APP_API}
    assert {step.verify_surface for step in steps.values()} <= BOTH
    assert steps["draw"].verify_surface is Surface.APP_API
    gaps = {name for name, step in steps.items() if step.act_surface in USER_INTERFACE}
    assert gaps == {"draw"}


@pytest.mark.acceptance("9.8-51")
def test_the_work_counts_as_done_only_if_no_step_was_disproved() -> None:
    made = plan("cad.draw", "Add a line", STEPS)
    tried = [Attempt(step.step_id, step.act_surface, success=True, verified=True) for step in made.steps]
    told = trace(made, tried, EXECUTION)
    assert told.success
    assert [one.passed for one in told.verification_results] == [True] * len(STEPS)
    for position, attempt in enumerate(tried):
        unseen = Attempt(attempt.step_id, attempt.surface, success=True, verified=False)
        spoiled = trace(made, [*tried[:position], unseen, *tried[position + 1 :]], EXECUTION)
        assert not spoiled.success
        assert not spoiled.steps[position].success
