"""Sessions: create, read, delete, and the recent runs that a session can start from (DOC3 §0A.5, §0C.16, §0C.16A)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import anyio.to_thread
from fastapi import APIRouter
from pydantic import ValidationError
from uuid_utils import uuid7

from api.platform.commands import CommandFrame, LearnerFrame, masked, masked_fields
from api.platform.dependencies import AnyOf, PageDep, Reader, SearchQuery, ServicesDep, SessionId
from api.services import Services
from config.settings import Settings
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.create_session import (
    CreateLearnSessionRequest,
    CreateLearnSessionResponse,
    CreateNextAction,
    LearnUiMode,
)
from contracts.learning.observation import ObservationAdapterKind, ObservationScopeRuntime
from contracts.learning.proposal import BaseSkill
from contracts.learning.responses import (
    DeletedResponse,
    LearnCheckpointReceiptsResponse,
    LearnSessionsListResponse,
    RecentRunsResponse,
)
from contracts.learning.session import (
    ActorMode,
    Coaching,
    LearningEntryMode,
    LearnSession,
    LearnSessionState,
    ObservationMode,
    SourceRun,
)
from contracts.learning.state_machine import AT_REST, SessionCommand
from contracts.learning.test_policy import TestPolicy
from contracts.learning.views.allowed_actions import LearnSessionView
from domain.learning.adapters import DEPLOYED, refuse_misnamed
from domain.learning.policy_objections import policy_for_target, policy_objections
from gateways.learning.sessions import new_session
from workflows.learning.learn_session_messages import LearnCommand

_WITHOUT_RUNS = frozenset({LearningEntryMode.IMPORT_SKILL, LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE})


@dataclass(frozen=True)
class SessionOrigin:
    """The pinned base, and the runs to review."""

    base: BaseSkill | None = None
    runs: tuple[SourceRun, ...] = ()


def _check_origin(body: CreateLearnSessionRequest) -> None:
    """Validates what the session is to start from.

    Raises:
        Refusal: ``VALIDATION_FAILED`` for an improvement without an ability, runs where the mode takes none, or the
            misspelt name of an application.
    """
    refuse_misnamed(body.target_app_whitelist)
    if body.entry_mode is LearningEntryMode.IMPROVING_EXISTING_SKILL and not body.target_skill_id:
        raise _wrong("target_skill_id", "name the ability to improve")
    if body.source_trace_ids and body.entry_mode in _WITHOUT_RUNS:
        raise _wrong("source_trace_ids", f"{body.entry_mode.value} takes no recent runs")


def _origin_of(services: Services, body: CreateLearnSessionRequest, owner: str) -> SessionOrigin:
    """Pins the ability to improve and selects the recent runs.

    Raises:
        Refusal: ``ABILITY_NOT_FOUND``, ``FORBIDDEN``, ``RUN_NOT_ELIGIBLE``, ``INCOMPATIBLE_TRACES``.
    """
    improves = body.entry_mode is LearningEntryMode.IMPROVING_EXISTING_SKILL
    return SessionOrigin(
        base=services.bases.pin(body.target_skill_id, owner) if improves and body.target_skill_id else None,
        runs=services.recent_runs.choose(owner, body.source_trace_ids) if body.source_trace_ids else (),
    )


def _wrong(field: str, problem: str) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"{field}: {problem}.",
        fields=[{"path": f"body.{field}", "problem": problem}],
    )


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
_DELETABLE = frozenset(
    {
        LearnSessionState.IDLE,
        LearnSessionState.ARMED,
        LearnSessionState.CAPTURING,
        LearnSessionState.PAUSED,
        LearnSessionState.STOPPED,
        LearnSessionState.REVIEWING,
        LearnSessionState.AWAITING_QUESTIONS,
    }
)
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
async def create(body: CreateLearnSessionRequest, frame: LearnerFrame) -> CreateLearnSessionResponse:
    """Creates a session and arms it. One that is not at rest is allowed per user."""
    owner = frame.owner
    if body.clone_of is not None:
        await anyio.to_thread.run_sync(frame.services.sessions.owned, body.clone_of, owner)
    _check_origin(body)

    def compose() -> LearnSessionAggregate:
        origin = _origin_of(frame.services, body, owner)
        if wanted := _needed_adapters(body, frame.services):
            frame.services.adapters.refuse_unusable(owner, wanted)
        return _new_session(body, owner, frame.services.settings, origin)

    message = frame.message(LearnCommand, body)
    receipt = await frame.services.gateway.create(compose, message)
    ui_mode, next_action = _SHOWN_AS[body.entry_mode]
    if body.source_trace_ids and body.entry_mode is not LearningEntryMode.IMPROVING_EXISTING_SKILL:
        ui_mode, next_action = LearnUiMode.RECENT_RUN, CreateNextAction.SHOW_RECENT_RUN_PICKER
    return CreateLearnSessionResponse(session=receipt.session, ui_mode=ui_mode, next_action=next_action)


@router.get("", operation_id="learn_session_list")
def list_sessions(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: AnyOf[LearnSessionState] = None,
    search: SearchQuery = None,
) -> LearnSessionsListResponse:
    """The caller's sessions, newest first."""
    return services.session_reads.sessions(caller.user_id, page, state or (), search)


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
async def delete(session_id: SessionId, frame: LearnerFrame) -> DeletedResponse:
    """Cancels a session that has no draft yet, then purges its observations; at rest only purges."""
    message = frame.message(LearnCommand, None, reason="deleted")
    return await frame.answer_once(None, partial(_deleted, session_id, frame, message), DeletedResponse)


async def _deleted(session_id: str, frame: CommandFrame, message: LearnCommand) -> DeletedResponse:
    """Cancels a session that has no draft yet, then purges what was observed.

    Raises:
        Refusal: ``INVALID_LEARN_STATE_TRANSITION`` from the first draft until the session is at rest.
    """
    services = frame.services
    aggregate = await anyio.to_thread.run_sync(services.sessions.owned, session_id, frame.owner)
    state = aggregate.session.state
    if state in _DELETABLE:
        await frame.to_session(SessionCommand.CANCEL, session_id, message)
    elif state not in AT_REST:
        raise Refusal(
            ErrorCode.INVALID_LEARN_STATE_TRANSITION,
            f"A session that is {state.value} cannot be deleted; reject or cancel its proposal first.",
            current_state=state.value,
        )
    await anyio.to_thread.run_sync(_purge, services, session_id)
    return DeletedResponse()


def _purge(services: Services, session_id: str) -> None:
    with services.database.write() as connection:
        services.observations.purge(connection, session_id)


def _needed_adapters(
    body: CreateLearnSessionRequest, services: ServicesDep
) -> frozenset[ObservationAdapterKind]:
    """The adapters it names; and where it is to be observed and nothing can, all that could (DOC3 §17 rule 3)."""
    can_observe = body.observation_mode is ObservationMode.NONE or services.adapters.available
    named = frozenset(body.required_adapters)
    return named if can_observe else named | DEPLOYED


def _masked_coaching(coaching: Coaching) -> Coaching:
    """The frame as it is kept.

    Raises:
        Refusal: ``VALIDATION_FAILED`` where nothing usable is left of a field once what looks like a secret is masked.
    """
    try:
        return Coaching.model_validate(masked_fields(coaching.model_dump()))
    except ValidationError as error:
        places = [".".join(("body", "coaching", *map(str, one["loc"]))) for one in error.errors()]
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "This holds what looks like a secret, which is never kept; say it in other words, or rename the file.",
            fields=places,
        ) from None


def _new_session(
    body: CreateLearnSessionRequest, owner: str, settings: Settings, origin: SessionOrigin
) -> LearnSessionAggregate:
    now = datetime.now(UTC)
    coaching = _masked_coaching(body.coaching) if body.coaching else None
    policy = _policy_of(body)
    session = LearnSession(
        learn_session_id=str(uuid7()),
        owner_user_id=owner,
        state=LearnSessionState.IDLE,
        actor_mode=_ACTORS.get(body.entry_mode, ActorMode.MIXED),
        created_at=now,
        updated_at=now,
        coaching=coaching,
        test_policy_ref=policy.policy_id if policy else None,
        **body.model_dump(exclude=_NOT_SESSION_FIELDS),
    )
    return new_session(
        settings,
        session,
        ask_before_build=body.ask_before_build,
        allow_private_install=body.allow_private_install,
        base=origin.base,
        source_runs=origin.runs,
        test_policy=policy,
    )


def _policy_of(body: CreateLearnSessionRequest) -> TestPolicy | None:
    """The test policy that the requested safe target stands for.

    Raises:
        Refusal: ``VALIDATION_FAILED`` where no rehearsal here could keep to it.
    """
    if body.requested_safe_target_ref is None:
        return None
    policy = policy_for_target(masked(body.requested_safe_target_ref), str(uuid7()))
    if found := policy_objections(policy):
        path = "body.requested_safe_target_ref"
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            clipped(f"requested_safe_target_ref: {found[0][1]}", 240),
            fields=[{"path": path, "problem": found[0][1]}],
        )
    return policy


runs = APIRouter(prefix="/api/learn", tags=["sessions"])


@runs.get("/recent-runs", operation_id="learn_recent_runs")
def recent_runs(caller: Reader, services: ServicesDep, page: PageDep) -> RecentRunsResponse:
    """The caller's captured runs that can be learned from, newest first; a purged capture is not among them."""
    return services.recent_runs.listing(caller.user_id, page)
