"""The transition table and the commands that follow from it."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import InstallLane
from contracts.learning.aggregate import LearnSessionAggregate, OpenInstall
from contracts.learning.session import LearnSession
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import (
    AT_REST,
    TAKEN_IN,
    TERMINAL,
    TRANSITIONS,
    SessionCommand,
    legal_commands,
    may_go,
    refusal,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AN_ID = "01936f5e-0000-7000-8000-000000000001"


def aggregate(state: S, **fields: object) -> LearnSessionAggregate:
    session = LearnSession.model_validate(
        {
            "learn_session_id": AN_ID,
            "owner_user_id": "alice",
            "entry_mode": "demonstrating_skill",
            "state": state,
            "created_at": NOW,
            "updated_at": NOW,
        }
    )
    return LearnSessionAggregate(session=session, change=1, state_since=NOW).changed(**fields)


@pytest.mark.acceptance("R11.2-04")
def test_the_happy_path_is_legal() -> None:
    path = (
        S.IDLE,
        S.ARMED,
        S.CAPTURING,
        S.PAUSED,
        S.CAPTURING,
        S.STOPPED,
        S.REVIEWING,
        S.DRAFTING_PROPOSAL,
        S.TESTING_PROPOSAL,
        S.READY_FOR_REVIEW,
        S.APPROVED,
    )
    assert all(may_go(a, b) for a, b in pairwise(path))


@pytest.mark.acceptance("R11.2-05")
def test_idle_does_not_lead_straight_to_testing() -> None:
    assert not may_go(S.IDLE, S.TESTING_PROPOSAL)


def test_there_are_sixteen_states_and_nothing_leaves_a_terminal_one() -> None:
    assert set(TRANSITIONS) == set(S)
    assert len(S) == 16
    assert {state for state, targets in TRANSITIONS.items() if not targets} == TERMINAL
    assert TERMINAL < AT_REST


def test_every_state_can_be_reached_and_every_one_can_end() -> None:
    reached = {S.IDLE}
    while more := {t for s in reached for t in TRANSITIONS[s]} - reached:
        reached |= more
    assert reached == set(S)
    ending = set(AT_REST)
    while more := {s for s in S if TRANSITIONS[s] & ending} - ending:
        ending |= more
    assert ending == set(S)


@given(st.sampled_from(S), st.sampled_from(SessionCommand))
def test_a_command_is_taken_exactly_where_the_table_says(state: S, command: SessionCommand) -> None:
    found = refusal(aggregate(state), command)
    assert (found is None) == (state in TAKEN_IN[command])
    if found is not None:
        assert found.current_state is state
        assert command not in found.allowed
        assert found.allowed == legal_commands(aggregate(state))


@given(st.sampled_from(S))
def test_cancel_follows_the_transition_table(state: S) -> None:
    assert (SessionCommand.CANCEL in legal_commands(aggregate(state))) == may_go(state, S.CANCELLED)


@given(st.sampled_from(S))
def test_nothing_is_taken_while_an_install_is_open(state: S) -> None:
    install = OpenInstall(saga_id=AN_ID, lane=InstallLane.APPROVED_WORKSPACE, ability_id="learned.x")
    assert legal_commands(aggregate(state, install=install)) == ()
