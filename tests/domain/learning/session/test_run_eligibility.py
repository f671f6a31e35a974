"""Which captured runs can be learned from, and which of them show the same task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import ObservedActionEvent
from contracts.learning.proposal import ProposalState
from domain.learning.comparison.comparison import compare
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps
from domain.learning.session.allowed_actions import compatible, success_share, why_not
from tests.domain.conftest import Teaching

T = Teaching()
COMMANDS = st.lists(st.sampled_from(["cat a", "sort a > b", "wc -l b", "gzip b", "cp a c"]), max_size=6)


def captured(*commands: str, exit_class: str = "ok") -> list[ObservedActionEvent]:
    return [
        T.command(n, command, f"+{n}.txt", exit_class=exit_class)
        for n, command in enumerate(commands, start=1)
    ]


def reason(
    events: list[ObservedActionEvent], *states: ProposalState, in_open_session: bool = False
) -> str | None:
    return why_not(events, captured_steps(events, []), states, in_open_session=in_open_session)


GOOD = captured("sort a > 1.txt", "wc -l a > 2.txt")


def test_a_rich_free_and_successful_run_can_be_learned_from() -> None:
    assert reason(GOOD) is None


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (ProposalState.APPROVED, "ability"),
        (ProposalState.INSTALLED_PRIVATE, "ability"),
        (ProposalState.DRAFT, "Another proposal"),
        (ProposalState.QUARANTINED, "Another proposal"),
        (ProposalState.REJECTED, None),
        (ProposalState.CANCELLED, None),
    ],
)
def test_a_run_is_free_when_nothing_rests_on_it(state: ProposalState, told: str | None) -> None:
    found = reason(GOOD, state)

    assert told is None if found is None else told is not None and told in found


def test_a_run_of_an_open_session_waits_for_it() -> None:
    assert "still open" in str(reason(GOOD, in_open_session=True))


def test_a_run_that_mostly_failed_is_not_offered() -> None:
    events = [*GOOD, *captured("false", "false", exit_class="failed")]

    assert success_share(events) == 0.5
    assert "succeeded" in str(reason(events))


def test_a_run_of_one_action_is_too_poor() -> None:
    assert "Too little" in str(reason(GOOD[:1]))


def test_a_run_without_any_effect_is_too_poor() -> None:
    assert "Too little" in str(reason([T.command(1, "cat a.txt"), T.command(2, "wc -l a.txt")]))


def test_of_no_action_none_succeeded() -> None:
    assert success_share([]) == 0.0


@given(COMMANDS, COMMANDS)
def test_runs_are_compatible_as_the_comparison_says(first: list[str], second: list[str]) -> None:
    steps = [
        tuple(DemonstratedStep(e.action_label, (e,)) for e in captured(*commands))
        for commands in (first, second)
    ]

    assert compatible(*steps) == compare([all_events(s) for s in steps]).compatible
