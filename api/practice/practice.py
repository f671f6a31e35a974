"""Autonomous practice: start it, read its progress (DOC3 §0A.7, §0C.4)."""

from datetime import UTC, datetime, timedelta
from functools import partial

import anyio.to_thread
from fastapi import APIRouter

from api.platform.commands import LearnerFrame, masked
from api.platform.dependencies import Reader, ServicesDep, SessionId
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.session import LearningEntryMode, ObservationMode
from contracts.learning.session import LearnSessionState as S
from contracts.practice.practice import PRACTISED_SURFACES, PracticeRun, PracticeState, StartPracticeRequest
from contracts.workflow_ids import practice_id
from domain.learning.redaction.redaction import redact
from gateways.practice.practice import PracticeGateway
from stores.practice.practice import PracticeStore

router = APIRouter(prefix="/api/learn/sessions/{session_id}/practice", tags=["practice"])

_UNWRITTEN = "0" * 64
_FROM_INSIDE = frozenset({ObservationMode.INSIDE_AGENT, ObservationMode.MIXED})


@router.post("", status_code=202, operation_id="learn_session_practice")
async def practise(session_id: SessionId, body: StartPracticeRequest, frame: LearnerFrame) -> PracticeRun:
    """Sets the agent practising towards a goal, in the rehearsal sandbox and within a budget.

    It ends when the success conditions are seen to hold, when the budget is used, or with a question. What
    worked is in the session's capture then; nothing is installed by it.
    """
    practices = PracticeStore(frame.services.database)

    async def start() -> PracticeRun:
        load = partial(frame.services.sessions.owned, session_id, frame.owner)
        aggregate = await anyio.to_thread.run_sync(load)
        request = _without_secrets(body)
        if await anyio.to_thread.run_sync(practices.known, session_id, request) is None:
            _refuse_unfit(aggregate, request)
        run = _opened(aggregate, request, frame.correlation_id)
        gateway = PracticeGateway(frame.services.client, frame.services.settings.task_queue, practices)
        return await gateway.start(run, request)

    return await frame.answer_once(body, start, PracticeRun)


@router.get("", operation_id="learn_session_practice_progress")
def progress(session_id: SessionId, caller: Reader, services: ServicesDep) -> PracticeRun:
    """The session's practice: every attempt, what is left of the budget, and how it ended."""
    services.sessions.owned(session_id, caller.user_id)
    return PracticeStore(services.database).get(session_id)


def _without_secrets(body: StartPracticeRequest) -> StartPracticeRequest:
    """The request with its goal masked.

    Raises:
        Refusal: ``TEST_POLICY_VIOLATION`` for a secret where masking it would change what is practised.
    """
    texts = {f"start_files/{file.name}": file.content for file in body.start_files}
    texts |= {f"allowed_commands/{n}": command for n, command in enumerate(body.allowed_commands)}
    for number, condition in enumerate(body.success_conditions):
        texts[f"success_conditions/{number}"] = condition.text or condition.command or ""
    held = [name for name, text in texts.items() if redact(text).masked_count]
    if held:
        raise Refusal(
            ErrorCode.TEST_POLICY_VIOLATION,
            f"{held[0][:120]} seems to hold a secret; practise with made-up values.",
            fields=held,
        )
    return body.changed(goal=masked(body.goal), client_request_id=None)


def _refuse_unfit(aggregate: LearnSessionAggregate, request: StartPracticeRequest) -> None:
    session = aggregate.session
    if session.state not in (S.ARMED, S.CAPTURING):
        raise Refusal(
            ErrorCode.INVALID_LEARN_STATE_TRANSITION,
            f"A session that is {session.state.value} does not practise; start a new one.",
            current_state=session.state.value,
        )
    if session.entry_mode is not LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE:
        raise Refusal(
            ErrorCode.CONFLICT,
            "Only a session created with entry_mode autonomous_agent_practice can practise.",
            retryable=False,
        )
    if session.observation_mode not in _FROM_INSIDE:
        raise Refusal(
            ErrorCode.CONFLICT,
            "Practice is watched from inside: create the session as inside_agent or mixed.",
            retryable=False,
        )
    if not PRACTISED_SURFACES & set(request.allowed_surfaces):
        surfaces = ", ".join(sorted(PRACTISED_SURFACES))
        raise Refusal(
            ErrorCode.ADAPTER_UNAVAILABLE,
            f"Only these surfaces can be practised: {surfaces}.",
            retryable=False,
        )


def _opened(
    aggregate: LearnSessionAggregate, request: StartPracticeRequest, correlation_id: str
) -> PracticeRun:
    now = datetime.now(UTC)
    session = aggregate.session
    return PracticeRun(
        learn_session_id=session.learn_session_id,
        owner_user_id=session.owner_user_id,
        state=PracticeState.RUNNING,
        goal=request.goal,
        success_conditions=request.success_conditions,
        allowed_commands=request.allowed_commands,
        start_files=tuple(file.name for file in request.start_files),
        budget=request.budget,
        request_blob=_UNWRITTEN,
        model=aggregate.settings.drafting_model,
        workflow_id=practice_id(session.learn_session_id),
        correlation_id=correlation_id,
        started_at=now,
        updated_at=now,
        ends_by=now + timedelta(minutes=request.budget.max_minutes),
    )
