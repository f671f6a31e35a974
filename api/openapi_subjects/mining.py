"""Skill mining in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, SESSION_ID, THEN, TITLE, TRACE_ID, example_id
from contracts.capabilities.control_surface import ControlSurface
from contracts.errors import ErrorCode
from contracts.learning.interpretation import ProjectScope
from contracts.learning.mining import (
    CandidateAction,
    MiningCandidate,
    MiningCandidatesResponse,
    MiningCandidateView,
    MiningGate,
    MiningSettings,
    MiningSettingsResponse,
    TraceSourceMode,
    WorkflowTraceCluster,
)
from contracts.learning.mining_runs import MiningProgress, MiningRun, MiningRunState, MiningTrigger

_RUN_ID = example_id(41)
_CANDIDATE_ID = example_id(42)
_VIEW = MiningCandidateView(
    candidate=MiningCandidate(
        candidate_id=_CANDIDATE_ID,
        owner_user_id="alice",
        title=TITLE,
        cluster=WorkflowTraceCluster(
            cluster_id=example_id(43),
            normalized_goal="summarise sales figures",
            app_family="terminal",
            source_mode=TraceSourceMode.USER_GUIDED,
            successful_trace_ids=(TRACE_ID, example_id(44), example_id(45)),
            dominant_control_surfaces=(ControlSurface.NATIVE_OPENCLAW_TOOL,),
            variation_score=0.25,
            verification_coverage_score=1.0,
            project_specificity=ProjectScope.GLOBAL,
            created_at=BEGUN,
            updated_at=THEN,
        ),
        source_session_ids=(SESSION_ID, example_id(46), example_id(47)),
        representative_session_id=SESSION_ID,
        created_at=BEGUN,
        updated_at=THEN,
    ),
    allowed_actions=(CandidateAction.ACCEPT, CandidateAction.DISMISS),
)

REQUESTS: dict[str, dict[str, Any]] = {
    "mining_settings_replace": {"mode": "ask_before_build", "observe_outside_agent": True},
    "mining_scan": {},
    "mining_candidate_accept": {"reason": "I do this every Monday"},
    "mining_candidate_dismiss": {"reason": "Not worth a skill"},
}
MODELS: tuple[BaseModel, ...] = (
    MiningSettingsResponse(settings=MiningSettings(), max_variation=0.4, min_verification_coverage=0.6),
    MiningRun(
        run_id=_RUN_ID,
        trigger=MiningTrigger.MANUAL,
        owner_user_id="alice",
        state=MiningRunState.COMPLETED,
        workflow_id=f"skill-mining/{_RUN_ID}",
        progress=MiningProgress(
            people=1,
            traces=5,
            clusters=2,
            candidates=1,
            closed_gates={MiningGate.ENOUGH_TRACES: 1},
            cursor="alice",
            finished=True,
        ),
        started_at=BEGUN,
        updated_at=THEN,
        finished_at=THEN,
    ),
    _VIEW,
    MiningCandidatesResponse(candidates=(_VIEW,), total=1, page=1, page_size=25),
)
_SENDING = (ErrorCode.TEMPORAL_UNAVAILABLE, ErrorCode.STORAGE_FULL)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mining_settings_replace": (ErrorCode.STORAGE_FULL,),
    "mining_scan": _SENDING,
    "mining_candidate_accept": (
        *_SENDING,
        ErrorCode.CONFLICT,
        ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
        ErrorCode.INSUFFICIENT_TRACES,
        ErrorCode.PARTIAL_DEPLOYMENT,
    ),
    "mining_candidate_dismiss": (ErrorCode.CONFLICT, ErrorCode.STORAGE_FULL),
}
PATH_IDS: dict[str, ErrorCode] = {
    "candidate_id": ErrorCode.NOT_FOUND,
    "mining_run_id": ErrorCode.NOT_FOUND,
}
TAG: dict[str, str] | None = {
    "name": "mining",
    "description": "Work that was shown again and again, and the skills that could be made of it.",
}
