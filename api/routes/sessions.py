"""Sessions: create, read, delete (DOC3 §0C.16, §0C.16A)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query
from uuid_utils import uuid7

from api.commands import Commands, answer_once
from api.dependencies import FrameDep, Learner, PageDep, Reader, SearchQuery, ServicesDep
from api.paths import SessionId
from api.session_origin import SessionOrigin, origin_of
from api.wording import masked_fields
from config.settings import Settings
from contracts.learning.aggregate import LearnSessionAggregate, LearnSettings
from contracts.learning.allowed_actions import LearnSessionView
from contracts.learning.coaching import Coaching
from contracts.learning.create_session import (
    CreateLearnSessionRequest,
    CreateLearnSessionResponse,
    CreateNextAction,
    LearnUiMode,
)
from contracts.learning.observation import ObservationAdapterKind, ObservationScopeRuntime
from contracts.learning.responses import (
    DeletedResponse,
    LearnCheckpointReceiptsResponse,
    LearnSessionsListResponse,
)
from contracts.learning.session import (
    ActorMode,
    LearningEntryMode,
    LearnSession,
    LearnSessionState,
    ObservationMode,
)
from domain.learning.adapters import DEPLOYED
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
    "coaching",
    "required_adapters",
    "source_trace_ids",
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
    origin = await anyio.to_thread.run_sync(origin_of, services, body, key)
    aggregate = _newborn(body, caller.user_id, _deadlines(services.settings), origin)
    wanted = _needed_adapters(body, services)
    check = partial(services.adapters.refuse_unusable, caller.user_id, wanted) if wanted else None
    receipt = await Commands(services).create(
        aggregate,
        Asked(commit_key=key, correlation_id=frame.correlation_id),
        check,
    )
    ui_mode, next_action = _SHOWN_AS[body.entry_mode]
    if body.source_trace_ids and body.entry_mode is not LearningEntryMode.IMPROVING_EXISTING_SKILL:
        ui_mode, next_action = LearnUiMode.RECENT_RUN, CreateNextAction.SHOW_RECENT_RUN_PICKER
    return CreateLearnSessionResponse(session=receipt.session, ui_mode=ui_mode, next_action=next_action)


@router.get("", operation_id="learn_session_list")
def list_sessions(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: Annotated[LearnSessionState | None, Query()] = None,
    search: SearchQuery = None,
) -> LearnSessionsListResponse:
    """The caller's sessions, newest first."""
    return services.session_reads.sessions(caller.user_id, page, state, search)


@router.get("/{session_id}/detail", operation_id="learn_session_detail")
def detail(session_id: SessionId, caller: Reader, services: ServicesDep) -> LearnSessionView:
    """One session, with what it takes now."""
    return services.session_reads.view(services.sessions.owned(session_id, caller.user_id))


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


def _needed_adapters(
    body: CreateLearnSessionRequest, services: ServicesDep
) -> frozenset[ObservationAdapterKind]:
    """The adapters it names; and where it is to be observed and nothing can, all that could (DOC3 §17 rule 3)."""
    can_observe = body.observation_mode is ObservationMode.NONE or services.adapters.available
    named = frozenset(body.required_adapters)
    return named if can_observe else named | DEPLOYED


def _deadlines(settings: Settings) -> LearnSettings:
    return LearnSettings(
        arm_timeout_seconds=int(settings.arm_timeout.total_seconds()),
        capture_timeout_seconds=int(settings.capture_timeout.total_seconds()),
        question_deadline_seconds=int(settings.question_deadline.total_seconds()),
        drafting_model=settings.model_name,
        drafting_timeout_seconds=int(settings.model_timeout.total_seconds()),
    )


def _newborn(
    body: CreateLearnSessionRequest, owner: str, settings: LearnSettings, origin: SessionOrigin
) -> LearnSessionAggregate:
    now = datetime.now(UTC)
    coaching = Coaching.model_validate(masked_fields(body.coaching.model_dump())) if body.coaching else None
    session = LearnSession(
        learn_session_id=str(uuid7()),
        owner_user_id=owner,
        state=LearnSessionState.IDLE,
        actor_mode=_ACTORS.get(body.entry_mode, ActorMode.MIXED),
        created_at=now,
        updated_at=now,
        coaching=coaching,
        **body.model_dump(exclude=_NOT_SESSION_FIELDS),
    )
    return LearnSessionAggregate(
        session=session,
        change=0,
        settings=settings,
        state_since=now,
        ask_before_build=body.ask_before_build,
        allow_private_install=body.allow_private_install,
        base=origin.base,
        source_runs=origin.runs,
    )
