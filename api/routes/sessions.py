"""Sessions: create, read, delete (DOC3 §0C.16, §0C.16A)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query
from uuid_utils import uuid7

from api.commands import Commands, answer_once
from api.dependencies import FrameDep, Learner, PageDep, Reader, ServicesDep
from api.paths import SessionId
from config.settings import Settings
from contracts.learning.aggregate import LearnSessionAggregate, LearnSettings
from contracts.learning.create_session import (
    CreateLearnSessionRequest,
    CreateLearnSessionResponse,
    CreateNextAction,
    LearnUiMode,
)
from contracts.learning.observation import ObservationScopeRuntime
from contracts.learning.responses import (
    DeletedResponse,
    LearnCheckpointReceiptsResponse,
    LearnSessionsListResponse,
)
from contracts.learning.session import ActorMode, LearningEntryMode, LearnSession, LearnSessionState
from workflows.learn_session_messages import Asked

router = APIRouter(prefix="/api/learn/sessions", tags=["sessions"])

_SHOWN_AS: dict[LearningEntryMode, tuple[LearnUiMode, CreateNextAction]] = {
    LearningEntryMode.DEMONSTRATING_SKILL: (
        LearnUiMode.OVERLAY,
        CreateNextAction.WAIT_FOR_FIRST_MEANINGFUL_EVENT,
    ),
    LearningEntryMode.COACHING_AGENT: (
        LearnUiMode.DRAWER,
        CreateNextAction.WAIT_FOR_FIRST_MEANINGFUL_EVENT,
    ),
    LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE: (
        LearnUiMode.EXPLORATORY,
        CreateNextAction.LAUNCH_EXPLORATION,
    ),
    LearningEntryMode.IMPROVING_EXISTING_SKILL: (
        LearnUiMode.DRAWER,
        CreateNextAction.SHOW_SKILL_DELTA_EDITOR,
    ),
    LearningEntryMode.IMPORT_SKILL: (LearnUiMode.IMPORT, CreateNextAction.SHOW_IMPORT_CONFIGURATOR),
}
_ACTORS = {
    LearningEntryMode.DEMONSTRATING_SKILL: ActorMode.USER_DRIVEN,
    LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE: ActorMode.AGENT_DRIVEN,
}
_NOT_SESSION_FIELDS = {
    "ask_before_build",
    "allow_private_install",
    "requested_safe_target_ref",
    "client_request_id",
    "schema_version",
}


@router.post("", status_code=201, operation_id="learn_session_create")
async def create(
    body: CreateLearnSessionRequest, caller: Learner, services: ServicesDep, frame: FrameDep
) -> CreateLearnSessionResponse:
    """Creates a session and arms it. One that is not at rest is allowed per user."""
    key = frame.key_for(caller.user_id, body)
    if body.clone_of is not None:
        await anyio.to_thread.run_sync(services.sessions.owned, body.clone_of, caller.user_id)
    aggregate = _newborn(body, caller.user_id, _deadlines(services.settings))
    receipt = await Commands(services).create(
        aggregate, Asked(commit_key=key, correlation_id=frame.correlation_id)
    )
    ui_mode, next_action = _SHOWN_AS[body.entry_mode]
    return CreateLearnSessionResponse(session=receipt.session, ui_mode=ui_mode, next_action=next_action)


@router.get("", operation_id="learn_session_list")
def list_sessions(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: Annotated[LearnSessionState | None, Query()] = None,
) -> LearnSessionsListResponse:
    """The caller's sessions, newest first."""
    return services.session_reads.sessions(caller.user_id, page, state)


@router.get("/{session_id}/detail", operation_id="learn_session_detail")
def detail(session_id: SessionId, caller: Reader, services: ServicesDep) -> LearnSession:
    """One session."""
    return services.sessions.owned(session_id, caller.user_id).session


@router.get("/{session_id}/observation-scope", operation_id="learn_session_observation_scope")
def scope(session_id: SessionId, caller: Reader, services: ServicesDep) -> ObservationScopeRuntime:
    """What the session observes right now."""
    return services.session_reads.observation_scope(services.sessions.owned(session_id, caller.user_id))


@router.get("/{session_id}/checkpoint-receipts", operation_id="learn_session_checkpoint_receipts")
def checkpoint_receipts(
    session_id: SessionId, caller: Reader, services: ServicesDep, page: PageDep
) -> LearnCheckpointReceiptsResponse:
    """The checkpoints verified in this session."""
    services.sessions.owned(session_id, caller.user_id)
    return services.session_reads.checkpoint_receipts(session_id, page)


@router.delete("/{session_id}", operation_id="learn_session_delete")
async def delete(
    session_id: SessionId, caller: Learner, services: ServicesDep, frame: FrameDep
) -> DeletedResponse:
    """Cancels a session that has no draft yet, then purges its observations; at rest only purges."""
    asked = Asked(
        commit_key=frame.key_for(caller.user_id, None),
        correlation_id=frame.correlation_id,
        reason="deleted",
    )
    act = partial(Commands(services).delete, session_id, asked)
    return await answer_once(services, frame.client_key(caller.user_id, None), act, DeletedResponse)


def _deadlines(settings: Settings) -> LearnSettings:
    return LearnSettings(
        arm_timeout_seconds=int(settings.arm_timeout.total_seconds()),
        capture_timeout_seconds=int(settings.capture_timeout.total_seconds()),
        question_deadline_seconds=int(settings.question_deadline.total_seconds()),
    )


def _newborn(body: CreateLearnSessionRequest, owner: str, settings: LearnSettings) -> LearnSessionAggregate:
    now = datetime.now(UTC)
    session = LearnSession(
        learn_session_id=str(uuid7()),
        owner_user_id=owner,
        state=LearnSessionState.IDLE,
        actor_mode=_ACTORS.get(body.entry_mode, ActorMode.MIXED),
        created_at=now,
        updated_at=now,
        **body.model_dump(exclude=_NOT_SESSION_FIELDS),
    )
    return LearnSessionAggregate(
        session=session,
        change=0,
        settings=settings,
        state_since=now,
        ask_before_build=body.ask_before_build,
        allow_private_install=body.allow_private_install,
    )
