from datetime import UTC, datetime
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.memory.goals import Goal, GoalOutcome, GoalState
from domain.memory.goals import after_outcome, may_become

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def _goal(state: GoalState, **fields: Any) -> Goal:
    given = {"title": "Learn the cello", "reason": "asked for", "created_at": NOW, "updated_at": NOW}
    return Goal(goal_id=str(uuid7()), owner_user_id="alice", state=state, **given, **fields)


def _outcome(status: str, *satisfied: str) -> GoalOutcome:
    return GoalOutcome(invocation_id=str(uuid7()), skill_id="x", status=status, satisfied=satisfied, at=NOW)


@pytest.mark.acceptance("AI-25")
@pytest.mark.parametrize(
    ("before", "status", "after", "adjust"),
    [
        (GoalState.ACTIVE, "success", GoalState.PROGRESSED, False),
        (GoalState.ACTIVE, "partial", GoalState.PROGRESSED, True),
        (GoalState.ACTIVE, "failure", GoalState.ACTIVE, True),
        (GoalState.PROGRESSED, "outcome_unknown", GoalState.PROGRESSED, True),
        (GoalState.CANDIDATE, "success", GoalState.CANDIDATE, False),
        (GoalState.DROPPED, "success", GoalState.DROPPED, False),
    ],
)
def test_an_outcome_moves_a_goal(before: GoalState, status: str, after: GoalState, adjust: bool) -> None:
    moved = after_outcome(_goal(before), _outcome(status))
    assert (moved.state, moved.needs_adjustment, len(moved.outcomes)) == (after, adjust, 1)


@pytest.mark.acceptance("AI-25")
def test_all_effects_together_complete_a_goal_and_one_invocation_counts_once() -> None:
    goal = _goal(GoalState.ACTIVE, done_when=("a", "b"))
    first = _outcome("success", "a")
    goal = after_outcome(after_outcome(goal, first), first)
    assert (goal.state, len(goal.outcomes)) == (GoalState.PROGRESSED, 1)
    assert after_outcome(goal, _outcome("success", "b")).state is GoalState.COMPLETED


def test_very_many_outcomes_leave_the_newest() -> None:
    goal = _goal(GoalState.ACTIVE)
    for _ in range(120):
        goal = after_outcome(goal, _outcome("success"))
    assert len(goal.outcomes) == 100


@pytest.mark.parametrize(
    ("before", "wanted", "may"),
    [
        (GoalState.CANDIDATE, GoalState.ACTIVE, True),
        (GoalState.CANDIDATE, GoalState.COMPLETED, False),
        (GoalState.ACTIVE, GoalState.CANDIDATE, False),
        (GoalState.DROPPED, GoalState.ACTIVE, True),
        (GoalState.ACTIVE, GoalState.ACTIVE, True),
    ],
)
def test_people_move_goals_along_the_table(before: GoalState, wanted: GoalState, may: bool) -> None:
    assert may_become(_goal(before), wanted) is may
