"""How goals move: by what comes of invocations, and by what people say (003 L96; AI-25)."""

from contracts.memory.goals import MOST_OUTCOMES, Goal, GoalOutcome, GoalState

_DONE = frozenset({"success", "partial"})
_LIVING = frozenset({GoalState.ACTIVE, GoalState.PROGRESSED})

_BY_PEOPLE: dict[GoalState, frozenset[GoalState]] = {
    GoalState.CANDIDATE: frozenset({GoalState.ACTIVE, GoalState.DROPPED}),
    GoalState.ACTIVE: frozenset({GoalState.PROGRESSED, GoalState.COMPLETED, GoalState.DROPPED}),
    GoalState.PROGRESSED: frozenset({GoalState.COMPLETED, GoalState.DROPPED, GoalState.ACTIVE}),
    GoalState.COMPLETED: frozenset({GoalState.ACTIVE}),
    GoalState.DROPPED: frozenset({GoalState.ACTIVE}),
}


def after_outcome(goal: Goal, outcome: GoalOutcome) -> Goal:
    """A goal after an invocation for it has ended; the same invocation counts once.

    What was done moves a goal that was taken up; all effects of ``done_when`` together complete it. What failed moves
    nothing and marks it as in need of adjustment. A candidate stays one: a person takes it up.
    """
    if any(one.invocation_id == outcome.invocation_id for one in goal.outcomes):
        return goal
    outcomes = (*goal.outcomes, outcome)[-MOST_OUTCOMES:]
    state = goal.state
    if state in _LIVING and outcome.status in _DONE:
        satisfied = {name for one in outcomes for name in one.satisfied}
        complete = bool(goal.done_when) and satisfied.issuperset(goal.done_when)
        state = GoalState.COMPLETED if complete else GoalState.PROGRESSED
    return goal.changed(
        outcomes=outcomes,
        state=state,
        needs_adjustment=outcome.status != "success",
        updated_at=outcome.at,
    )


def may_become(goal: Goal, wanted: GoalState) -> bool:
    """Whether a person may move a goal to a state; the same state is allowed."""
    return wanted is goal.state or wanted in _BY_PEOPLE[goal.state]
