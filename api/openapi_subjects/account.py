"""A session's account and the deployment in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import (
    ABILITY_ID,
    BEGUN,
    HASH,
    PROPOSAL_ID,
    RUN,
    SESSION,
    SESSION_ID,
    TITLE,
    example_id,
)
from contracts.errors import ErrorCode
from contracts.learning.account import (
    BoundaryAccount,
    DeploymentResponse,
    MeaningAccount,
    ModeAccount,
    ProposalAccount,
    RecordsAccount,
    SessionAccount,
    StateAccount,
    TestsAccount,
    UseAccount,
)
from contracts.learning.commands import SessionCommand
from contracts.learning.observation import ObservationScopeRuntime
from contracts.learning.proposal import InstallLane, ProposalState
from contracts.learning.query_context import LearningQueryContextPayload
from domain.learning.deployment import Pending, components, partial_deployment

_REOPENS = LearningQueryContextPayload(
    source_surface="learn_session",
    source_id=SESSION_ID,
    learn_session_id=SESSION_ID,
    proposal_id=PROPOSAL_ID,
    current_state=SESSION.state.value,
)

REQUESTS: dict[str, dict[str, Any]] = {"learn_reopen": _REOPENS.model_dump(mode="json", exclude_none=True)}
MODELS: tuple[BaseModel, ...] = (
    SessionAccount(
        learn_session_id=SESSION_ID,
        mode=ModeAccount(
            entry_mode=SESSION.entry_mode,
            observation_mode=SESSION.observation_mode,
            actor_mode=SESSION.actor_mode,
            build_policy=SESSION.build_policy,
        ),
        session=StateAccount(
            state=SESSION.state,
            since=BEGUN,
            is_active=True,
            actions=(SessionCommand.START, SessionCommand.CANCEL),
        ),
        observing=ObservationScopeRuntime(
            learn_session_id=SESSION_ID, scope=SESSION.observation_mode, started_at=BEGUN
        ),
        boundary=BoundaryAccount(goal=TITLE),
        meaning=MeaningAccount(interpretation_id=example_id(41), goal_summary=TITLE, weakest_confidence=0.8),
        proposal=ProposalAccount(
            proposal_id=PROPOSAL_ID,
            title=TITLE,
            proposal_state=ProposalState.DRAFT,
            revision=1,
            content_hash=HASH,
            lint_passed=True,
        ),
        tests=TestsAccount(
            validation_run_id=RUN.validation_run_id,
            overall_result=RUN.overall_result,
            stale=False,
            passed=("lint",),
        ),
        use=UseAccount(
            ability_id=ABILITY_ID,
            install_lane=InstallLane.EXPERIMENTAL_PRIVATE,
            usable_now=True,
            found_by=(TITLE,),
        ),
        records=RecordsAccount(
            receipts=4,
            events=f"/api/learn/sessions/{SESSION_ID}/events",
            workflows=(f"learn-session/{SESSION_ID}",),
        ),
        reopens=_REOPENS,
    ),
    DeploymentResponse(partial_deployment=partial_deployment(Pending(), BEGUN), components=components(())),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "learn_reopen": (
        ErrorCode.LEARN_SESSION_NOT_FOUND,
        ErrorCode.PROPOSAL_NOT_FOUND,
        ErrorCode.NOT_FOUND,
        ErrorCode.ABILITY_NOT_FOUND,
    ),
}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = None
