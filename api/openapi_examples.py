"""Examples of every body and every main answer."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from api.openapi_story import (
    ABILITY,
    ABILITY_ID,
    BEGUN,
    EVENT,
    EVENT_ID,
    HASH,
    LANE,
    MAINTENANCE,
    PROPOSAL,
    PROPOSAL_ACTIONS,
    PROPOSAL_ID,
    PROPOSAL_VIEW,
    RUN,
    SAGA,
    SAGA_ID,
    SESSION,
    SESSION_ID,
    SESSION_VIEW,
    SLUG,
    THEN,
    TITLE,
    TOKEN,
    TOKEN_ID,
    TRACE_ID,
    example_id,
)
from api.openapi_subjects import SUBJECTS
from contracts.abilities.availability import (
    AbilityAvailabilityItem,
    AbilityAvailabilityResponse,
    AbilityDetailResponse,
    AbilityVersion,
    AbilityVersionsResponse,
    SkillCatalogEntry,
    SkillCatalogResponse,
)
from contracts.abilities.freshness import (
    AbilityFreshness,
    FreshnessCode,
    FreshnessReason,
    FreshnessState,
)
from contracts.abilities.life import AbilityOutcomes
from contracts.abilities.lookup import AbilityExplainMatchResponse, AbilityLookupResult, AbilityMatch
from contracts.abilities.requests import (
    AbilityArchivedResponse,
    AbilityEnabledResponse,
    AbilityLaneResponse,
    AbilityQuarantineResponse,
    AbilityRollbackResponse,
)
from contracts.learning import responses as answers
from contracts.learning.adapter_registry import ObservationAdaptersResponse, RegisteredAdapter
from contracts.learning.checkpoint import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.create_session import CreateLearnSessionResponse, CreateNextAction, LearnUiMode
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind
from contracts.learning.observation import (
    AdapterPhase,
    IngestObservationsResponse,
    ObservationAdapterKind,
    ObservationAdapterStatus,
    ObservationListResponse,
    ObservationScopeRuntime,
)
from contracts.learning.proposal import (
    CheckpointLintReport,
    DraftedFile,
)
from contracts.learning.runtime_snapshot import LearningRuntimeSnapshot
from contracts.learning.session import (
    BuildPolicy,
    LearningEntryMode,
    LearnSessionState,
    ObservationMode,
)
from contracts.maintenance.runs import (
    MaintenanceRunsResponse,
)
from contracts.runtime.identity import (
    CreateTokenResponse,
    MeResponse,
    Scope,
    TokenListResponse,
)
from contracts.runtime.readiness import LivenessResponse, ReadinessResponse

_PAGE: dict[str, Any] = {"total": 1, "page": 1, "page_size": 25}

_ADAPTER = RegisteredAdapter(
    status=ObservationAdapterStatus(
        adapter_id="terminal_command",
        kind=ObservationAdapterKind.TERMINAL_COMMAND,
        enabled=True,
        healthy=True,
        phase=AdapterPhase.PHASE_1,
        last_seen_at=THEN,
    ),
    available=True,
    captures="Finished command lines of a recorded shell, masked, never what they print",
    alternatives=(ObservationAdapterKind.WRAPPER_RECEIPT,),
)

_MODELS: tuple[BaseModel, ...] = (
    SESSION_VIEW,
    SAGA,
    ABILITY,
    MAINTENANCE,
    CreateLearnSessionResponse(
        session=SESSION.model_copy(update={"state": LearnSessionState.ARMED, "active_trace_ids": ()}),
        ui_mode=LearnUiMode.OVERLAY,
        next_action=CreateNextAction.WAIT_FOR_FIRST_MEANINGFUL_EVENT,
    ),
    answers.LearnSessionsListResponse(sessions=(SESSION_VIEW,), **_PAGE),
    ObservationScopeRuntime(
        learn_session_id=SESSION_ID,
        adapters_active=("terminal_command",),
        scope=ObservationMode.OUTSIDE_AGENT,
        capture_state="capturing",
        active_runtime="bridge_observer",
        started_at=BEGUN,
    ),
    answers.LearnCheckpointReceiptsResponse(
        receipts=(
            CheckpointVerificationReceipt(
                receipt_id=example_id(8),
                checkpoint_id="cp-01",
                learn_session_id=SESSION_ID,
                status=CheckpointStatus.REACHED,
                evidence="top.txt lists the regions, the largest first",
                created_at=THEN,
            ),
        ),
        **_PAGE,
    ),
    answers.DeletedResponse(),
    answers.SessionActionResponse(session=SESSION),
    answers.StartSessionResponse(
        session=SESSION, observation_active=True, adapters_armed=("terminal_command",)
    ),
    answers.StopSessionResponse(
        session=SESSION.model_copy(update={"state": LearnSessionState.STOPPED}),
        captured_event_count=4,
        captured_trace_ids=(TRACE_ID,),
        next_action=answers.StopNextAction.GENERATE_PROPOSAL,
    ),
    answers.AnswerQuestionsResponse(
        session=SESSION.model_copy(update={"state": LearnSessionState.DRAFTING_PROPOSAL}),
        remaining_questions=0,
        next_action=answers.AnswerNextAction.READY_FOR_REVIEW,
    ),
    answers.GenerateProposalResponse(
        session=SESSION.model_copy(
            update={"state": LearnSessionState.DRAFTING_PROPOSAL, "proposal_id": PROPOSAL_ID}
        ),
        proposal_id=PROPOSAL_ID,
    ),
    IngestObservationsResponse(
        accepted=1,
        dropped_off_target=0,
        dropped_not_meaningful=0,
        duplicate=0,
        session_state=LearnSessionState.CAPTURING,
    ),
    ObservationListResponse(observations=(EVENT,), **_PAGE),
    _ADAPTER,
    ObservationAdaptersResponse(adapters=(_ADAPTER,)),
    answers.LearnProposalsListResponse(proposals=(PROPOSAL_VIEW,), **_PAGE),
    answers.ProposalDetailResponse(
        proposal=PROPOSAL, checkpoint_lint_report=CheckpointLintReport(passed=True), **dict(PROPOSAL_ACTIONS)
    ),
    answers.ProposalFilesResponse(
        proposal_id=PROPOSAL_ID,
        revision=1,
        files=(DraftedFile(path="SKILL.md", content=f"---\nname: {SLUG}\n---\n"),),
    ),
    answers.ProposalDiffResponse(proposal_id=PROPOSAL_ID, base_version=None, diff="+++ SKILL.md\n"),
    answers.ValidationRunResponse(validation_run=RUN),
    answers.ValidationRunsListResponse(runs=(RUN,), **_PAGE),
    answers.ProposalInstallResponse(proposal=PROPOSAL, ability_id=ABILITY_ID, saga_id=SAGA_ID),
    answers.LearnHistoryResponse(
        items=(
            answers.LearnHistoryItem(
                learn_session_id=SESSION_ID,
                entry_mode="demonstrating_skill",
                state="approved",
                title=TITLE,
                created_at=BEGUN,
                completed_at=THEN,
                proposal_id=PROPOSAL_ID,
                ability_id=ABILITY_ID,
                outcome=answers.HistoryOutcome.APPROVED,
            ),
        ),
        **_PAGE,
    ),
    answers.LearnReceiptsResponse(
        receipts=(
            LearningReceipt(
                receipt_id=example_id(9),
                learn_session_id=SESSION_ID,
                event_kind=LearningReceiptKind.CAPTURE_STARTED,
                correlation_id=example_id(10),
                created_at=THEN,
            ),
        ),
        **_PAGE,
    ),
    LearningRuntimeSnapshot(
        learn_session_id=SESSION_ID,
        entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
        observation_mode=ObservationMode.OUTSIDE_AGENT,
        build_policy=BuildPolicy.BUILD_THEN_REVIEW,
        state=LearnSessionState.CAPTURING,
        observed_data_classes=("terminal",),
        snapshot_as_of=THEN,
    ),
    answers.WorkflowLinkResponse(
        workflow_id=f"learn-session/{SESSION_ID}", status="running", run_id=example_id(11)
    ),
    AbilityAvailabilityResponse(
        abilities=(
            AbilityAvailabilityItem.model_validate(
                ABILITY.model_dump(include=set(AbilityAvailabilityItem.model_fields))
            ),
        ),
        snapshot_as_of=THEN,
        freshness=AbilityFreshness(
            state=FreshnessState.REFRESHING,
            reasons=(
                FreshnessReason(
                    code=FreshnessCode.SNAPSHOT_NOT_WRITTEN,
                    meaning="A change is decided and not yet in the files that agents read about abilities.",
                ),
            ),
        ),
    ),
    SkillCatalogResponse(
        items=(
            SkillCatalogEntry(
                **ABILITY.model_dump(
                    include={"ability_id", "owner_user_id", "title", "family", "source", "install_lane"}
                ),
                enabled=True,
                usable_now=True,
                created_at=BEGUN,
                updated_at=THEN,
            ),
        ),
        refreshed_at=THEN,
        freshness=AbilityFreshness(),
    ),
    AbilityLookupResult(
        matches=(AbilityMatch(ability_id=ABILITY_ID, score=0.72, install_lane=LANE, usable_now=True),),
        created_at=THEN,
        freshness=AbilityFreshness(),
    ),
    AbilityExplainMatchResponse(
        ability_id=ABILITY_ID,
        matched=True,
        score=0.72,
        match_reasons=('trigger_phrase_match: "summarise the sales figures"', "global_scope"),
    ),
    AbilityDetailResponse(
        ability=ABILITY,
        version=1,
        skill_path=f"skills/{SLUG}/SKILL.md",
        skill_markdown=f"---\nname: {SLUG}\n---\n",
    ),
    AbilityVersionsResponse(
        ability_id=ABILITY_ID,
        versions=(
            AbilityVersion(
                ability_id=ABILITY_ID,
                version=1,
                proposal_id=PROPOSAL_ID,
                content_hash=HASH,
                install_lane=LANE,
                installed_at=THEN,
                current=True,
            ),
        ),
    ),
    AbilityEnabledResponse(ability_id=ABILITY_ID, enabled=True),
    AbilityQuarantineResponse(ability_id=ABILITY_ID, quarantined=True, reason="It wrote to the wrong folder"),
    AbilityLaneResponse(ability_id=ABILITY_ID, install_lane=LANE),
    AbilityArchivedResponse(ability_id=ABILITY_ID),
    AbilityRollbackResponse(ability_id=ABILITY_ID, version=3, restored_from=1, content_hash=HASH),
    AbilityOutcomes(
        ability_id=ABILITY_ID,
        installs=2,
        rollbacks=1,
        quarantines=0,
        uses=5,
        last_used_at=THEN,
        checkpoints_reached=9,
        checkpoints_skipped=0,
        checkpoints_failed=1,
        checkpoint_success=0.9,
        last_failed_at=THEN,
    ),
    MaintenanceRunsResponse(runs=(MAINTENANCE,), **_PAGE),
    MeResponse(user_id="alice", token_id=TOKEN_ID, scopes=(Scope.READ, Scope.LEARN)),
    TokenListResponse(tokens=(TOKEN,)),
    CreateTokenResponse(token=TOKEN, secret="apr_" + "x" * 43),
    LivenessResponse(),
    ReadinessResponse(ready=True, parts={"store": "ok", "temporal": "ok"}),
    *(model for subject in SUBJECTS for model in subject.MODELS),
)

RESPONSES: Mapping[str, BaseModel] = {type(model).__name__: model for model in _MODELS}
"""An example of each response model, by the model's name."""

_NO_ARGUMENTS: dict[str, Any] = {"reason": "ready when you are"}
_CHECKS: dict[str, Any] = {"run_label": "before the review", "selected_tests": ["lint", "rehearsal"]}

REQUESTS: Mapping[str, dict[str, Any]] = {
    "learn_session_create": {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"},
    "learn_session_start": _NO_ARGUMENTS,
    "learn_session_pause": _NO_ARGUMENTS,
    "learn_session_resume": _NO_ARGUMENTS,
    "learn_session_stop": _NO_ARGUMENTS,
    "learn_session_cancel": {"reason": "changed my mind"},
    "learn_session_mark_goal": {"goal_description": TITLE},
    "learn_session_mark_step": {"step_label": "Sort the regions", "step_kind_hint": "action"},
    "learn_session_trim": {"trim_kind": "trim_start", "to_event_id": EVENT_ID},
    "learn_session_set_test_policy": {"test_policy": {"policy_id": example_id(12), "mode": "blank_artifact"}},
    "learn_session_answer_questions": {
        "answers": [{"question_id": example_id(13), "answer_text": "Whenever new figures are in"}]
    },
    "learn_session_generate_proposal": {"ask_before_build": False},
    "learn_observations_ingest": {"events": [EVENT.model_dump(mode="json", exclude_none=True)]},
    "observation_adapter_heartbeat": {"error_code": "DEVTOOLS_UNREACHABLE"},
    "learn_proposal_revise": {
        "revision_instructions": "Give it a clearer name",
        "edited_fields": {"title": "Rank regions by sales"},
    },
    "learn_proposal_validate": _CHECKS,
    "learn_proposal_request_more_tests": _CHECKS,
    "learn_proposal_install": {"install_lane": "experimental_private"},
    "learn_proposal_approve": {"approval_scope": "approved_workspace", "approval_note": "Looks right"},
    "learn_proposal_reject": {"reason": "Not what I meant"},
    "ability_lookup": {"user_query": "summarise the sales figures"},
    "ability_explain_match": {"user_query": "summarise the sales figures", "ability_id": ABILITY_ID},
    "ability_activate": {"reason": "Needed again"},
    "ability_deactivate": {"reason": "Not needed for now"},
    "ability_quarantine": {"reason": "It wrote to the wrong folder"},
    "ability_unquarantine": {"reason": "The folder was moved, not the ability wrong"},
    "ability_promote_shared": {"reason": "Everybody asks for it"},
    "ability_demote_private": {"reason": "Only for me after all"},
    "ability_archive": {"reason": "The report is no longer made"},
    "ability_rollback": {"to_version": 1, "reason": "The new one leaves a region out"},
    "maintenance_run_start": {"dry_run": True},
    "token_create": {"name": "Codex", "scopes": ["read", "call"], "runtime": "codex"},
    **{name: body for subject in SUBJECTS for name, body in subject.REQUESTS.items()},
}
"""An example body of each operation that takes one, by its id."""
