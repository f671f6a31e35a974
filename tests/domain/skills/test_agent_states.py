from itertools import product

import pytest

from contracts.skills.agents import AgentStatus
from domain.skills.agent_states import transition_problem

_ALLOWED = {
    ("active", "busy"),
    ("busy", "active"),
    ("active", "paused"),
    ("busy", "paused"),
    ("paused", "active"),
}
_WITH_A_REASON = {
    ("active", "error"),
    ("busy", "error"),
    ("paused", "error"),
    ("error", "active"),
    ("error", "paused"),
}


@pytest.mark.acceptance("CH-47")
@pytest.mark.parametrize(("before", "after"), list(product(AgentStatus, AgentStatus)))
@pytest.mark.acceptance("O-11")
def test_each_of_the_sixteen_pairs_is_as_the_table_says(before: AgentStatus, after: AgentStatus) -> None:
    pair = (before.value, after.value)
    free = before is after or pair in _ALLOWED
    assert (transition_problem(before, after, None) is None) == free
    assert (transition_problem(before, after, "its key was revoked") is None) == (
        free or pair in _WITH_A_REASON
    )


def test_a_reason_of_spaces_is_none() -> None:
    problem = transition_problem(AgentStatus.PAUSED, AgentStatus.ERROR, "  ")
    assert problem == "From paused to error needs a reason: state_updates.reason."
