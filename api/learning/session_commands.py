"""Commands on a session: capture, marks, policy, questions, proposal (DOC3 §0C.16, §0C.16A)."""

from datetime import UTC, datetime

from fastapi import APIRouter

from api.platform.commands import Commands
from api.platform.dependencies import CommandFrame, FrameDep, Learner, ServicesDep
from api.platform.paths import SessionId, masked, parse_uuid
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt
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
from contracts.learning.session import ObservationMode
from contracts.learning.state_machine import SessionCommand
from contracts.platform.identity import Principal
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
    command: SessionCommand,
    session_id: str,
    body: SessionActionRequest,
    caller: Principal,
    services: Services,
    frame: CommandFrame,
) -> CommandReceipt:
    return await services.gateway.send(command, session_id, _asked(body, caller, frame))


def _asked(body: SessionActionRequest, caller: Principal, frame: CommandFrame) -> LearnCommand:
    return LearnCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        reason=masked(body.reason),
    )


@router.post("/start", operation_id="learn_session_start")
async def start(
    session_id: SessionId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: SessionActionRequest = NOTHING,
) -> StartSessionResponse:
    """Begins capture."""
    asked = StartCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        reason=masked(body.reason),
    )
    receipt = await services.gateway.send(SessionCommand.START, session_id, asked)
    watching = receipt.session.observation_mode is not ObservationMode.NONE
    return StartSessionResponse(
        session=receipt.session,
        observation_active=watching,
        adapters_armed=tuple(kind.value for kind in services.adapters.available) if watching else (),
    )


@router.post("/pause", operation_id="learn_session_pause")
async def pause(
    session_id: SessionId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: SessionActionRequest = NOTHING,
) -> SessionActionResponse:
    """Pauses capture."""
    receipt = await _act(SessionCommand.PAUSE, session_id, body, caller, services, frame)
    return SessionActionResponse(session=receipt.session)


@router.post("/resume", operation_id="learn_session_resume")
async def resume(
    session_id: SessionId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: ResumeRequest = GO_ON,
) -> SessionActionResponse:
    """Resumes capture; a new demonstration shows the same task again, to be compared with the others."""
    asked = ResumeCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        reason=masked(body.reason),
        new_demonstration=body.new_demonstration,
    )
    receipt = await services.gateway.send(SessionCommand.RESUME, session_id, asked)
    return SessionActionResponse(session=receipt.session)


@router.post("/stop", operation_id="learn_session_stop")
async def stop(
    session_id: SessionId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: SessionActionRequest = NOTHING,
) -> StopSessionResponse:
    """Ends the capture and returns a summary of what was captured."""
    asked = _asked(body, caller, frame)
    receipt = await services.gateway.send(SessionCommand.STOP, session_id, asked)

    def compose() -> StopSessionResponse:
        captured = services.observations.counters(session_id).accepted
        return StopSessionResponse(
            session=receipt.session,
            captured_event_count=captured,
            captured_trace_ids=receipt.session.active_trace_ids if captured else (),
            next_action=StopNextAction.GENERATE_PROPOSAL if captured else StopNextAction.CANCEL,
        )

    return await Commands(services).first_answer(asked, compose, StopSessionResponse)


@router.post("/cancel", operation_id="learn_session_cancel")
async def cancel(
    session_id: SessionId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: SessionActionRequest = NOTHING,
) -> SessionActionResponse:
    """Cancels the session."""
    receipt = await _act(SessionCommand.CANCEL, session_id, body, caller, services, frame)
    return SessionActionResponse(session=receipt.session)


@router.post("/mark-goal", operation_id="learn_session_mark_goal")
async def mark_goal(
    session_id: SessionId, body: MarkGoalRequest, caller: Learner, services: ServicesDep, frame: FrameDep
) -> SessionActionResponse:
    """Says what the demonstration is for."""
    asked = MarkCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        kind=BoundaryKind.MARK_GOAL,
        label=masked(body.goal_description),
        at_event_id=body.at_event_id,
    )
    return await _mark(SessionCommand.MARK, session_id, asked, services)


@router.post("/mark-step", operation_id="learn_session_mark_step")
async def mark_step(
    session_id: SessionId, body: MarkStepRequest, caller: Learner, services: ServicesDep, frame: FrameDep
) -> SessionActionResponse:
    """Names the step that begins now."""
    asked = MarkCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        kind=BoundaryKind.MARK_STEP,
        label=masked(body.step_label),
        at_event_id=body.at_event_id,
    )
    return await _mark(SessionCommand.MARK, session_id, asked, services)


@router.post("/trim", operation_id="learn_session_trim")
async def trim(
    session_id: SessionId, body: TrimRequest, caller: Learner, services: ServicesDep, frame: FrameDep
) -> SessionActionResponse:
    """Cuts the capture at one of its events."""
    kind = BoundaryKind.TRIM_START if body.trim_kind is TrimKind.TRIM_START else BoundaryKind.TRIM_END
    asked = MarkCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        kind=kind,
        at_event_id=body.to_event_id,
    )

    def cut_is_there() -> None:
        if not services.observations.has(session_id, body.to_event_id):
            raise Refusal(
                ErrorCode.BOUNDARY_INVALID,
                f"The session has no event {body.to_event_id}; list them with GET …/observations.",
            )

    receipt = await services.gateway.send(SessionCommand.TRIM, session_id, asked, cut_is_there)
    return SessionActionResponse(session=receipt.session)


async def _mark(
    command: SessionCommand, session_id: str, asked: MarkCommand, services: Services
) -> SessionActionResponse:
    receipt = await services.gateway.send(command, session_id, asked)
    return SessionActionResponse(session=receipt.session)


@router.post("/set-test-policy", operation_id="learn_session_set_test_policy")
async def set_test_policy(
    session_id: SessionId, body: SetTestPolicyRequest, caller: Learner, services: ServicesDep, frame: FrameDep
) -> SessionActionResponse:
    """Sets the bounds of the rehearsal."""
    asked = SetTestPolicyCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        policy=body.test_policy,
    )
    receipt = await services.gateway.send(SessionCommand.SET_TEST_POLICY, session_id, asked)
    return SessionActionResponse(session=receipt.session)


@router.post("/answer-questions", operation_id="learn_session_answer_questions")
async def answer_questions(
    session_id: SessionId,
    body: AnswerQuestionsRequest,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
) -> AnswerQuestionsResponse:
    """Answers open questions; with the last one the draft is made."""
    aggregate = services.sessions.owned(session_id, caller.user_id)
    now = datetime.now(UTC)
    answers = tuple(
        LearningAnswer(
            question_id=_question_id(answer.question_id),
            proposal_id=aggregate.session.proposal_id or session_id,
            answer=masked(answer.answer_text),
            created_at=now,
        )
        for answer in body.answers
    )
    asked = AnswerQuestionsCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        answers=answers,
    )
    receipt = await services.gateway.send(SessionCommand.ANSWER_QUESTIONS, session_id, asked)
    left = receipt.remaining_questions
    return AnswerQuestionsResponse(
        session=receipt.session,
        remaining_questions=left,
        next_action=AnswerNextAction.MORE_QUESTIONS if left else AnswerNextAction.READY_FOR_REVIEW,
    )


def _question_id(value: str) -> str:
    return parse_uuid(value, ErrorCode.QUESTION_NOT_FOUND, "question")


@router.post("/generate-proposal", operation_id="learn_session_generate_proposal")
async def generate_proposal(
    session_id: SessionId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: GenerateProposalRequest = BY_POLICY,
) -> GenerateProposalResponse:
    """Drafts a proposal from what was captured, asking first where that is wanted."""
    asked = GenerateProposalCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        ask_before_build=body.ask_before_build,
    )
    receipt = await services.gateway.send(SessionCommand.GENERATE_PROPOSAL, session_id, asked)
    if receipt.proposal_id is None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The proposal was not made.")
    return GenerateProposalResponse(session=receipt.session, proposal_id=receipt.proposal_id)
