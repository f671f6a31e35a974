"""Grouping, scores and gates of skill mining, with the laws they keep."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.interpretation import ProjectScope
from contracts.learning.validation import SafetyClass
from contracts.mining.candidates import MiningGate, TraceSourceMode
from domain.mining.grouping import (
    MiningRules,
    TraceGroup,
    ambiguities,
    closed_gates,
    cluster_of,
    common_steps,
    group_traces,
    representative,
    step_distance,
    title_of,
    variation_score,
    verification_coverage,
)
from domain.mining.traces import MinedTrace, TraceStanding

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
GOAL = "Summarise the sales figures"
STEPS = (
    "terminal:write:printf:created.csv",
    "terminal:sort:sort:created.txt",
    "terminal:archive:tar:created.tgz",
)


def trace(number: int, *steps: str, **changes: Any) -> MinedTrace:
    """One capture of the task; ``number`` is its identity and its age in minutes."""
    taken = steps or STEPS
    values: dict[str, Any] = {
        "trace_id": str(UUID(int=number)),
        "session_id": str(UUID(int=1000 + number)),
        "captured_at": START + timedelta(minutes=number),
        "app_family": "terminal",
        "goal": GOAL,
        "guided": True,
        "steps": taken,
        "verified": len(taken),
    }
    return MinedTrace(**(values | changes))


def only_group(*traces: MinedTrace) -> TraceGroup:
    (group,) = group_traces(traces)
    return group


KINDS = st.sampled_from(["sort", "copy", "pack", "count"])
TRACES = st.lists(
    st.builds(
        lambda steps, seen, goal, family, succeeded: (steps, min(seen, len(steps)), goal, family, succeeded),
        st.lists(KINDS, min_size=1, max_size=6).map(tuple),
        st.integers(0, 6),
        st.sampled_from(["", "Summarise the sales", "Pack the photos", "Summarise all the sales"]),
        st.sampled_from(["terminal", "browser"]),
        st.booleans(),
    ),
    max_size=7,
).map(
    lambda drawn: [
        trace(n, *steps, verified=seen, goal=goal, app_family=family, succeeded=succeeded)
        for n, (steps, seen, goal, family, succeeded) in enumerate(drawn)
    ]
)


@given(TRACES)
def test_scores_are_between_nothing_and_all(traces: list[MinedTrace]) -> None:
    assert 0 <= variation_score(traces) <= 1
    assert 0 <= verification_coverage(traces) <= 1


@given(TRACES, st.randoms(use_true_random=False))
def test_the_order_of_traces_does_not_matter(traces: list[MinedTrace], random: Any) -> None:
    shuffled = list(traces)
    random.shuffle(shuffled)
    assert variation_score(shuffled) == variation_score(traces)
    assert verification_coverage(shuffled) == verification_coverage(traces)
    assert group_traces(shuffled) == group_traces(traces)
    for group in group_traces(traces):
        if group.successful:
            reversed_group = replace(group, successful=group.successful[::-1])
            assert representative(reversed_group.successful) == representative(group.successful)
            assert closed_gates(reversed_group, MiningRules()) == closed_gates(group, MiningRules())


@given(TRACES.filter(bool), st.data())
def test_a_trace_like_one_that_is_there_never_raises_the_variation(
    traces: list[MinedTrace], data: st.DataObject
) -> None:
    again = replace(data.draw(st.sampled_from(traces)), trace_id=str(UUID(int=99)))
    assert variation_score([*traces, again]) <= variation_score(traces)


@given(TRACES)
def test_every_trace_that_counts_is_in_exactly_one_group(traces: list[MinedTrace]) -> None:
    grouped = [one.trace_id for group in group_traces(traces) for one in group.counted]
    assert sorted(grouped) == sorted(one.trace_id for one in traces)


@given(st.lists(KINDS, max_size=6), st.lists(KINDS, max_size=6), st.lists(KINDS, max_size=6))
def test_step_distance_is_symmetric_and_nothing_only_between_equals(
    one: list[str], other: list[str], third: list[str]
) -> None:
    assert step_distance(one, other) == step_distance(other, one)
    assert (step_distance(one, other) == 0) is (one == other)
    assert 0 <= step_distance(one, third) <= 1


def test_variation_is_the_distance_of_the_two_least_alike() -> None:
    traces = [trace(1), trace(2), trace(3, *STEPS[:2], "terminal:checksum:sha256sum:created.sum")]
    assert variation_score(traces) == pytest.approx(1 / 3)


def test_coverage_is_the_share_of_steps_with_a_visible_outcome() -> None:
    assert verification_coverage([trace(1), trace(2, verified=0)]) == 0.5
    assert verification_coverage([]) == 0


def test_goals_worded_a_little_differently_are_one_task_and_other_goals_are_not() -> None:
    march, april = "Summarise sales figures for March", "Summarise the sales figures for April"
    group = only_group(trace(1, goal=march), trace(2, goal=april))
    assert len(group.successful) == 2
    assert len(group_traces([trace(1), trace(2, goal="Pack the holiday photos")])) == 2
    assert len(group_traces([trace(1), trace(2, app_family="browser")])) == 2


def test_where_nobody_stated_a_goal_the_steps_tell() -> None:
    assert len(only_group(trace(1, goal=""), trace(2, goal=""), trace(3)).successful) == 3
    assert len(group_traces([trace(1, goal=""), trace(2, "a", "b", "c", goal="")])) == 2
    assert title_of(only_group(trace(1, goal="", guided=False))) == "Write, sort, archive in terminal"


THREE = (trace(1), trace(2), trace(3))
QUARANTINED = trace(9, standing=TraceStanding.QUARANTINED)
COVERED = trace(9, standing=TraceStanding.COVERED)


@pytest.mark.acceptance("9.16-1")
@pytest.mark.parametrize(
    ("traces", "closed"),
    [
        (THREE, ()),
        (THREE[:2], (MiningGate.ENOUGH_TRACES,)),
        ((*THREE[:2], trace(3, succeeded=False)), (MiningGate.ENOUGH_TRACES,)),
        (
            (trace(1), trace(2, *STEPS[:1], "x:1", "x:2"), trace(3)),
            (MiningGate.LOW_VARIATION,),
        ),
        ((trace(1, verified=1), trace(2, verified=1), trace(3, verified=1)), (MiningGate.VERIFIED,)),
        ((*THREE, QUARANTINED), (MiningGate.SAFE,)),
        ((*THREE[:2], trace(3, safety=SafetyClass.HIGH)), (MiningGate.SAFE,)),
        ((*THREE, COVERED), (MiningGate.NOT_COVERED,)),
        ((*THREE[:2], trace(3, friction=True)), (MiningGate.NO_FRICTION,)),
        (
            (trace(1, "x:1"), trace(2, "x:2"), trace(3, "x:3")),
            (MiningGate.LOW_VARIATION, MiningGate.REUSABLE),
        ),
    ],
)
def test_a_gate_closes_for_its_own_reason(
    traces: tuple[MinedTrace, ...], closed: tuple[MiningGate, ...]
) -> None:
    assert closed_gates(only_group(*traces), MiningRules()) == closed


def test_limits_may_be_met_exactly() -> None:
    group = only_group(*THREE)
    assert closed_gates(group, MiningRules(3, 0, 1)) == ()
    assert closed_gates(only_group(trace(1)), MiningRules(min_traces=1)) == ()


def test_what_only_stands_around_makes_no_group() -> None:
    assert group_traces([COVERED, QUARANTINED]) == ()
    assert common_steps([]) == frozenset()


def test_of_equal_traces_the_newest_stands_for_all() -> None:
    outlier = trace(7, "x:1", "x:2", "x:3")
    assert representative([*THREE, outlier]) == THREE[2]


def test_a_cluster_says_where_its_traces_come_from_and_how_far_they_reach() -> None:
    group = only_group(trace(1, project_id="p1"), trace(2, project_id="p1"), trace(3, succeeded=False))
    cluster = cluster_of(group, str(UUID(int=77)), START, START)
    assert cluster.normalized_goal == "summarise sales figures"
    assert cluster.source_mode is TraceSourceMode.USER_GUIDED
    assert cluster.project_specificity is ProjectScope.PROJECT_SCOPED
    assert cluster.failed_trace_ids == (str(UUID(int=3)),)
    across = only_group(trace(1, project_id="p1"), trace(2, project_id="p2"))
    assert cluster_of(across, str(UUID(int=77)), START, START).project_specificity is ProjectScope.GLOBAL
    unguided = only_group(trace(1, goal="", guided=False, outside=True))
    assert cluster_of(unguided, str(UUID(int=77)), START, START).source_mode is (
        TraceSourceMode.DESKTOP_OBSERVED
    )


def test_what_is_unclear_is_said() -> None:
    assert ambiguities(only_group(*THREE)) == ()
    assert ambiguities(only_group(trace(1, goal="", leaves_folder=True))) == (
        "Nobody has said what the task is for",
        "Some steps work on places outside the task's folder",
    )
