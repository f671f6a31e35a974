"""What is offered: what the session takes, in the lanes that are open to it, and why the rest is not."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate, OpenInstall
from contracts.learning.session import LearningEntryMode, LearnSession, ObservationMode
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import LANES_OF, TAKEN_IN, SessionCommand, lane_refusal, refusal
from contracts.learning.views.allowed_actions import LearnSessionView
from contracts.mining.candidates import (
    CandidateAction,
    CandidateState,
    MiningCandidate,
    TraceSourceMode,
    WorkflowTraceCluster,
)
from domain.learning.session.allowed_actions import (
    PROPOSAL_COMMANDS,
    CandidateFacts,
    SessionFacts,
    already_active,
    candidate_actions,
    proposal_actions,
    session_actions,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AN_ID = "01936f5e-0000-7000-8000-000000000001"
PRACTICE = LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE


def aggregate(
    state: S, mode: LearningEntryMode = LearningEntryMode.DEMONSTRATING_SKILL, **fields: object
) -> LearnSessionAggregate:
    session = LearnSession(
        learn_session_id=AN_ID,
        owner_user_id="alice",
        entry_mode=mode,
        observation_mode=ObservationMode.NONE,
        state=state,
        created_at=NOW,
        updated_at=NOW,
    )
    return LearnSessionAggregate(session=session, change=1, state_since=NOW, lint_passed=True).changed(
        **fields
    )


OPEN_INSTALL = OpenInstall(saga_id=AN_ID, lane=InstallLane.APPROVED_WORKSPACE, ability_id="learned.x")
ANY_FACTS = st.builds(
    lambda state, mode, lint, install, captured, closed: SessionFacts(
        aggregate=aggregate(state, mode, lint_passed=lint, install=install),
        captured=captured,
        closed_lanes={lane: Refusal(ErrorCode.PROPOSAL_STALE, "It has moved.") for lane in closed},
    ),
    st.sampled_from(S),
    st.sampled_from(LearningEntryMode),
    st.booleans(),
    st.sampled_from([None, OPEN_INSTALL]),
    st.booleans(),
    st.sets(st.sampled_from([lane for lanes in LANES_OF.values() for lane in lanes])),
)


@given(ANY_FACTS)
def test_what_is_offered_is_taken_by_the_session_and_no_action_is_both_offered_and_refused(
    facts: SessionFacts,
) -> None:
    found = session_actions(facts)
    for command in found.allowed_actions:
        assert refusal(facts.aggregate, command) is None
    refused = [one.action for one in found.refused_actions]
    assert not set(refused) & set(found.allowed_actions)
    assert len(set(refused)) == len(refused)
    assert SessionCommand.CREATE not in (*found.allowed_actions, *refused)


@given(ANY_FACTS)
def test_every_command_that_belongs_to_the_state_is_offered_or_its_refusal_explained(
    facts: SessionFacts,
) -> None:
    found = session_actions(facts)
    told = {*found.allowed_actions, *(one.action for one in found.refused_actions)}
    belonging = {command for command, states in TAKEN_IN.items() if facts.aggregate.session.state in states}
    assert belonging - {SessionCommand.CREATE} <= told


@given(ANY_FACTS)
def test_an_install_is_offered_exactly_where_a_lane_is_open_to_it(facts: SessionFacts) -> None:
    found = session_actions(facts)
    for command, lanes in LANES_OF.items():
        open_lanes = [
            lane
            for lane in lanes
            if lane not in facts.closed_lanes and lane_refusal(facts.aggregate, lane) is None
        ]
        taken = refusal(facts.aggregate, command) is None
        assert (command in found.allowed_actions) == (taken and bool(open_lanes))
        if command in found.allowed_actions:
            assert [lane for lane in found.allowed_lanes if lane in lanes] == open_lanes
    offered = [lane for command in found.allowed_actions for lane in LANES_OF.get(command, ())]
    assert set(found.allowed_lanes) <= set(offered)


@given(ANY_FACTS)
def test_a_proposal_takes_what_its_session_takes_of_what_is_addressed_to_it(facts: SessionFacts) -> None:
    session, proposal = session_actions(facts), proposal_actions(facts)
    assert set(proposal.allowed_actions) == PROPOSAL_COMMANDS & set(session.allowed_actions)
    assert proposal.allowed_lanes == session.allowed_lanes


def test_what_was_practised_goes_private_first_and_is_approved_after_its_trial() -> None:
    ready = session_actions(SessionFacts(aggregate(S.READY_FOR_REVIEW, PRACTICE)))
    assert SessionCommand.INSTALL in ready.allowed_actions
    assert SessionCommand.APPROVE not in ready.allowed_actions
    assert ready.allowed_lanes == (InstallLane.EXPERIMENTAL_PRIVATE,)
    assert [(one.action, one.code) for one in ready.refused_actions] == [
        (SessionCommand.APPROVE, ErrorCode.INSTALL_LANE_DENIED)
    ]
    tried = session_actions(SessionFacts(aggregate(S.INSTALLED_PRIVATE, PRACTICE)))
    assert tried.allowed_actions == (SessionCommand.APPROVE,)
    assert tried.allowed_lanes == LANES_OF[SessionCommand.APPROVE]


def test_an_improvement_whose_base_has_moved_is_revised_or_rejected_and_not_installed() -> None:
    stale = Refusal(ErrorCode.PROPOSAL_STALE, "Revise it.")
    lanes = {lane: stale for lanes in LANES_OF.values() for lane in lanes}
    found = session_actions(SessionFacts(aggregate(S.READY_FOR_REVIEW), closed_lanes=lanes))
    assert {SessionCommand.REVISE, SessionCommand.REJECT} <= set(found.allowed_actions)
    assert {one.action: one.code for one in found.refused_actions} == {
        SessionCommand.INSTALL: ErrorCode.PROPOSAL_STALE,
        SessionCommand.APPROVE: ErrorCode.PROPOSAL_STALE,
    }


def test_a_draft_that_fails_the_lint_is_not_to_be_validated_but_revised() -> None:
    found = session_actions(SessionFacts(aggregate(S.DRAFTING_PROPOSAL, lint_passed=False)))
    assert SessionCommand.REVISE in found.allowed_actions
    assert SessionCommand.VALIDATE not in found.allowed_actions
    assert {one.code for one in found.refused_actions} == {ErrorCode.CHECKPOINT_LINT_FAILED}


def test_a_session_as_it_is_stored_knows_nothing_of_what_is_offered() -> None:
    stored = aggregate(S.ARMED).session
    assert LearnSessionView.model_validate_json(stored.model_dump_json()).allowed_actions == ()
    offering = LearnSessionView.model_validate({**dict(stored), "allowed_actions": ["start"]})
    with pytest.raises(ValidationError):
        LearnSession.model_validate_json(offering.model_dump_json())


@pytest.mark.parametrize("state", [S.ARMED, S.CAPTURING, S.DRAFTING_PROPOSAL, S.READY_FOR_REVIEW])
def test_who_may_not_begin_another_session_is_told_what_the_first_takes_that_ends_it(state: S) -> None:
    present = aggregate(state)
    told = already_active(present)
    ending = told.extra["allowed"]
    assert isinstance(ending, list)
    assert ending
    for command in ending:
        assert refusal(present, SessionCommand(command)) is None
        assert command in told.message
    assert ("cancel" in ending) is (state is not S.READY_FOR_REVIEW)


def test_a_session_that_is_being_installed_is_waited_for() -> None:
    told = already_active(aggregate(S.READY_FOR_REVIEW, install=OPEN_INSTALL))
    assert told.extra["allowed"] == []
    assert "wait until its install has ended" in told.message


def candidate(state: CandidateState) -> MiningCandidate:
    return MiningCandidate(
        candidate_id=AN_ID,
        owner_user_id="alice",
        title="Pack the photos",
        cluster=WorkflowTraceCluster(
            cluster_id=AN_ID,
            normalized_goal="pack photos",
            app_family="terminal",
            source_mode=TraceSourceMode.USER_GUIDED,
            created_at=NOW,
            updated_at=NOW,
        ),
        source_session_ids=(AN_ID,),
        representative_session_id=AN_ID,
        state=state,
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        (CandidateState.OPEN, {CandidateAction.ACCEPT, CandidateAction.DISMISS}),
        (CandidateState.FAILED, {CandidateAction.ACCEPT, CandidateAction.DISMISS}),
        (CandidateState.EXPIRED, {CandidateAction.DISMISS}),
        (CandidateState.BUILDING, set()),
        (CandidateState.BUILT, set()),
        (CandidateState.DISMISSED, set()),
    ],
)
def test_a_candidate_offers_what_may_still_be_said_of_it(
    state: CandidateState, offered: set[CandidateAction]
) -> None:
    assert set(candidate_actions(CandidateFacts(candidate(state))).allowed_actions) == offered


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"active_session": aggregate(S.ARMED)}, ErrorCode.LEARN_SESSION_ALREADY_ACTIVE),
        ({"traces_spent": True}, ErrorCode.CONFLICT),
    ],
)
def test_a_candidate_that_cannot_be_built_now_says_why_and_may_be_dismissed(
    facts: dict[str, object], code: ErrorCode
) -> None:
    found = candidate_actions(CandidateFacts(candidate(CandidateState.OPEN), **facts))  # type: ignore[arg-type]
    assert found.allowed_actions == (CandidateAction.DISMISS,)
    assert [(one.action, one.code) for one in found.refused_actions] == [(CandidateAction.ACCEPT, code)]
