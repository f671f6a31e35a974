"""Commands on a session: capture, marks, policy, questions, proposal (DOC3 §0C.16, §0C.16A)."""

from collections.abc import Callable
from datetime import UTC, datetime

import anyio.to_thread
from fastapi import APIRouter

from api.platform.commands import CommandFrame, LearnerFrame, masked
from api.platform.dependencies import SessionId, parse_uuid
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import BoundaryKind
from contracts.learning.questions import LearningAnswer
from contracts.learning.requests import (
    AnswerQuestionsRequest,
    GenerateProposalRequest,
    MarkGoalRequest,
    MarkStepRequest,
    ResumeRequest,
    SessionActionRequest,
    SetTestPolicyRequest,
    TrimKind,
    TrimRequest,
)
from contracts.learning.responses import (
    AnswerNextAction,
    AnswerQuestionsResponse,
    GenerateProposalResponse,
    SessionActionResponse,
    StartSessionResponse,
    StopNextAction,
    StopSessionResponse,
)
from contracts.learning.session import LearnSessionState, ObservationMode
from contracts.learning.state_machine import SessionCommand
from domain.learning.policy_objections import policy_objections
from workflows.learning.learn_session_messages import (
    AnswerQuestionsCommand,
    GenerateProposalCommand,
    LearnCommand,
    MarkCommand,
    ResumeCommand,
    SetTestPolicyCommand,
    StartCommand,
)

router = APIRouter(prefix="/api/learn/sessions/{session_id}", tags=["sessions"])

NOTHING = SessionActionRequest()
GO_ON = ResumeRequest()
BY_POLICY = GenerateProposalRequest()


async def _act(
    command: SessionCommand, session_id: str, frame: CommandFrame, body: SessionActionRequest
) -> SessionActionResponse:
    message = frame.message(LearnCommand, body, reason=masked(body.reason))
    return await _sent(command, session_id, frame, message)


async def _sent(
    command: SessionCommand,
    session_id: str,
    frame: CommandFrame,
    message: LearnCommand,
    check: Callable[[], None] | None = None,
) -> SessionActionResponse:
    receipt = await frame.to_session(command, session_id, message, check)
    return SessionActionResponse(session=receipt.session)


@router.post("/start", operation_id="learn_session_start")
async def start(
    session_id: SessionId, frame: LearnerFrame, body: SessionActionRequest = NOTHING
) -> StartSessionResponse:
    """Begins capture."""
    message = frame.message(StartCommand, body, reason=masked(body.reason))
    session = (await frame.to_session(SessionCommand.START, session_id, message)).session
    watching = session.observation_mode is not ObservationMode.NONE
    armed = await anyio.to_thread.run_sync(frame.services.adapters.armed, frame.owner) if watching else ()
    names = tuple(kind.value for kind in armed)
    return StartSessionResponse(session=session, observation_active=watching, adapters_armed=names)


@router.post("/pause", operation_id="learn_session_pause")
async def pause(
    session_id: SessionId, frame: LearnerFrame, body: SessionActionRequest = NOTHING
) -> SessionActionResponse:
    """Pauses capture."""
    return await _act(SessionCommand.PAUSE, session_id, frame, body)


@router.post("/resume", operation_id="learn_session_resume")
async def resume(
    session_id: SessionId, frame: LearnerFrame, body: ResumeRequest = GO_ON
) -> SessionActionResponse:
    """Resumes capture; a new demonstration shows the same task again, to be compared with the others."""
    again = body.new_demonstration
    message = frame.message(ResumeCommand, body, reason=masked(body.reason), new_demonstration=again)
    return await _sent(SessionCommand.RESUME, session_id, frame, message)


@router.post("/stop", operation_id="learn_session_stop")
async def stop(
    session_id: SessionId, frame: LearnerFrame, body: SessionActionRequest = NOTHING
) -> StopSessionResponse:
    """Ends the capture and returns a summary of what was captured."""
    message = frame.message(LearnCommand, body, reason=masked(body.reason))
    receipt = await frame.to_session(SessionCommand.STOP, session_id, message)

    def compose() -> StopSessionResponse:
        captured = frame.services.observations.counters(session_id).accepted
        return StopSessionResponse(
            session=receipt.session,
            captured_event_count=captured,
            captured_trace_ids=receipt.session.active_trace_ids if captured else (),
            next_action=StopNextAction.GENERATE_PROPOSAL if captured else StopNextAction.CANCEL,
        )

    return await frame.first_answer(receipt, message.commit_key, compose, StopSessionResponse)


@router.post("/cancel", operation_id="learn_session_cancel")
async def cancel(
    session_id: SessionId, frame: LearnerFrame, body: SessionActionRequest = NOTHING
) -> SessionActionResponse:
    """Cancels the session."""
    return await _act(SessionCommand.CANCEL, session_id, frame, body)


@router.post("/mark-goal", operation_id="learn_session_mark_goal")
async def mark_goal(
    session_id: SessionId, body: MarkGoalRequest, frame: LearnerFrame
) -> SessionActionResponse:
    """Says what the demonstration is for."""
    label, place = masked(body.goal_description), body.at_event_id
    message = frame.message(MarkCommand, body, kind=BoundaryKind.MARK_GOAL, label=label, at_event_id=place)
    return await _sent(SessionCommand.MARK, session_id, frame, message)


@router.post("/mark-step", operation_id="learn_session_mark_step")
async def mark_step(
    session_id: SessionId, body: MarkStepRequest, frame: LearnerFrame
) -> SessionActionResponse:
    """Names the step that begins now."""
    label, place = masked(body.step_label), body.at_event_id
    message = frame.message(
        MarkCommand,
        body,
        kind=BoundaryKind.MARK_STEP,
        label=label,
        at_event_id=place,
        step_kind=body.step_kind_hint,
    )
    return await _sent(SessionCommand.MARK, session_id, frame, message)


@router.post("/trim", operation_id="learn_session_trim")
async def trim(session_id: SessionId, body: TrimRequest, frame: LearnerFrame) -> SessionActionResponse:
    """Cuts the capture at one of its events."""
    kind = BoundaryKind.TRIM_START if body.trim_kind is TrimKind.TRIM_START else BoundaryKind.TRIM_END

    def cut_is_there() -> None:
        if not frame.services.observations.has(session_id, body.to_event_id):
            raise Refusal(
                ErrorCode.BOUNDARY_INVALID,
                f"The session has no event {body.to_event_id}; list them with GET …/observations.",
            )

    message = frame.message(MarkCommand, body, kind=kind, at_event_id=body.to_event_id)
    return await _sent(SessionCommand.TRIM, session_id, frame, message, cut_is_there)


@router.post("/set-test-policy", operation_id="learn_session_set_test_policy")
async def set_test_policy(
    session_id: SessionId, body: SetTestPolicyRequest, frame: LearnerFrame
) -> SessionActionResponse:
    """Sets the bounds of the rehearsal; what no rehearsal here could keep is refused with its reason."""
    if found := policy_objections(body.test_policy):
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            clipped(f"test_policy.{found[0][0]}: {found[0][1]}", 240),
            fields=[{"path": f"body.test_policy.{path}", "problem": problem} for path, problem in found],
        )
    message = frame.message(SetTestPolicyCommand, body, policy=body.test_policy)
    return await _sent(SessionCommand.SET_TEST_POLICY, session_id, frame, message)


@router.post("/answer-questions", operation_id="learn_session_answer_questions")
async def answer_questions(
    session_id: SessionId, body: AnswerQuestionsRequest, frame: LearnerFrame
) -> AnswerQuestionsResponse:
    """Answers open questions; with the last one the draft is made."""
    aggregate = frame.services.sessions.owned(session_id, frame.owner)
    now = datetime.now(UTC)
    answers = tuple(
        LearningAnswer(
            question_id=parse_uuid(answer.question_id, ErrorCode.QUESTION_NOT_FOUND, "question"),
            proposal_id=aggregate.session.proposal_id or session_id,
            answer=masked(answer.answer_text),
            created_at=now,
        )
        for answer in body.answers
    )
    message = frame.message(AnswerQuestionsCommand, body, answers=answers)
    receipt = await frame.to_session(SessionCommand.ANSWER_QUESTIONS, session_id, message)
    left = receipt.remaining_questions
    if left:
        follows = AnswerNextAction.MORE_QUESTIONS
    elif receipt.session.state is LearnSessionState.READY_FOR_REVIEW:
        follows = AnswerNextAction.READY_FOR_REVIEW
    else:
        # The draft is made with the last answer; it has still to be proved.
        follows = AnswerNextAction.VALIDATE
    return AnswerQuestionsResponse(session=receipt.session, remaining_questions=left, next_action=follows)


@router.post("/generate-proposal", operation_id="learn_session_generate_proposal")
async def generate_proposal(
    session_id: SessionId, frame: LearnerFrame, body: GenerateProposalRequest = BY_POLICY
) -> GenerateProposalResponse:
    """Drafts a proposal from what was captured, asking first where that is wanted.

    A demonstration whose starting state is kept is replayed on it first, which takes up to a minute.
    """
    replay = await anyio.to_thread.run_sync(frame.services.starting_states.has_any, session_id)
    message = frame.message(
        GenerateProposalCommand, body, ask_before_build=body.ask_before_build, replay=replay
    )
    receipt = await frame.to_session(SessionCommand.GENERATE_PROPOSAL, session_id, message)
    if receipt.proposal_id is None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The proposal was not made.")
    return GenerateProposalResponse(session=receipt.session, proposal_id=receipt.proposal_id)
