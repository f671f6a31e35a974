"""Response bodies of the learning routes: sessions, proposals, history, receipts, live status, captured runs.

DOC3 §0C.16A, §0C.16E; §0C.7 (live status), §0C.6 (pending ability), §0A.5, rows SL-06 (captured runs).
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.availability import InstallLane, UnprovedStep
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text160,
    Text200,
    Text240,
    Text400,
    Text2000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.checkpoints import CheckpointVerificationReceipt
from contracts.learning.evidence import LeftOutCommand
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.lifecycle import LearningReceipt
from contracts.learning.proposal import (
    BaseStanding,
    CheckpointLintReport,
    DraftedFile,
    LearningDocumentDependency,
    SkillBundleProposal,
)
from contracts.learning.session import (
    BuildPolicy,
    LearningEntryMode,
    LearnSession,
    LearnSessionState,
    ObservationMode,
)
from contracts.learning.validation import ValidationRun, ValidationStepResult
from contracts.learning.views.allowed_actions import LearnSessionView, ProposalView, SessionActions
from contracts.learning.views.portability import ProposalPortability
from contracts.learning.views.review_graph import ReviewGraph
from contracts.platform.lists import Page


class SessionActionResponse(Contract):
    """The session after a command."""

    session: LearnSession


class StartSessionResponse(Contract):
    """The session after capture began."""

    session: LearnSession
    observation_active: bool
    adapters_armed: tuple[Text80, ...] = ()


class StopNextAction(StrEnum):
    """What to do with a finished capture."""

    REVIEW_CAPTURED = "review_captured"
    GENERATE_PROPOSAL = "generate_proposal"
    CANCEL = "cancel"


class StopSessionResponse(Contract):
    """What was captured."""

    session: LearnSession
    captured_event_count: int = Field(ge=0)
    captured_trace_ids: tuple[Uuid, ...] = ()
    next_action: StopNextAction


class AnswerNextAction(StrEnum):
    """What follows an answer."""

    MORE_QUESTIONS = "more_questions"
    GENERATE_PROPOSAL = "generate_proposal"
    VALIDATE = "validate"
    READY_FOR_REVIEW = "ready_for_review"


class AnswerQuestionsResponse(Contract):
    """How many questions are left."""

    session: LearnSession
    remaining_questions: int = Field(ge=0)
    next_action: AnswerNextAction


class GenerateProposalResponse(Contract):
    """The session and the proposal it now has."""

    session: LearnSession
    proposal_id: Uuid


class QuestionView(Contract):
    """A question on the wire."""

    question_id: Text80
    question_text: Text400
    answered: bool
    answer_text: Text2000 | None = None
    suggestion: Text400 | None = None
    evidence_event_ids: tuple[Uuid, ...] = ()


class UntestedCheckpoint(Contract):
    """A checkpoint whose condition nothing tests, why, and what a person can do about it."""

    checkpoint_id: Text80
    reason: Text240
    next_step: Text240


class HollowConditionView(Contract):
    """A condition of success that proves nothing, as replays of the lesson showed, and what is asked instead."""

    condition: Text240
    reason: Text400
    question_text: Text400
    next_step: Text240


class ProposalDetailResponse(SessionActions):
    """A proposal with all that a person needs to judge it."""

    proposal: SkillBundleProposal
    interpretation: SemanticWorkflowInterpretation | None = None
    checkpoint_lint_report: CheckpointLintReport | None = None
    saga_id: Uuid | None = Field(default=None, description="The newest install of this proposal.")
    base: BaseStanding | None = Field(default=None, description="How what it improves stands now.")
    portability: ProposalPortability | None = Field(
        default=None, description="Its grade here and now; absent in the answers of commands."
    )
    questions: tuple[QuestionView, ...] = ()
    untested: tuple[Text240, ...] = Field(
        default=(), description="Of the conditions of success those that nothing tests: a person looks."
    )
    untested_checkpoints: tuple[Text80, ...] = Field(
        default=(), description="The ids of the checkpoints whose condition nothing tests: a person looks."
    )
    untested_because: tuple[UntestedCheckpoint, ...] = Field(
        default=(), description="Of each of these checkpoints why nothing tests it, and what would help."
    )
    also_tested: tuple[Text240, ...] = Field(
        default=(), description="What is tested beside the conditions of success that are stated."
    )
    hollow_conditions: tuple[HollowConditionView, ...] = Field(
        default=(),
        description="Of the conditions of success those that prove nothing, and what to say instead.",
    )
    left_out: tuple[LeftOutCommand, ...] = Field(
        default=(),
        description="Commands of the demonstration that are no part of the lesson, each with the reason.",
    )
    unproved: tuple[UnprovedStep, ...] = Field(
        default=(),
        description="What its rehearsal could not try; it is installed only with `accept_unproved`.",
    )
    unproved_digest: Sha256 | None = Field(
        default=None, description="Of the unproved steps; an acceptance can name the list by it."
    )


class ProposalInstallResponse(Contract):
    """The install that was started or is done."""

    proposal: SkillBundleProposal
    ability_id: Text160
    saga_id: Uuid


class ValidationRunResponse(VersionedContract):
    """The run that was started."""

    validation_run: ValidationRun


class ValidationRunsListResponse(Page):
    """A proposal's runs, with their steps."""

    runs: tuple[ValidationRun, ...] = ()
    steps: tuple[ValidationStepResult, ...] = ()


class LearnSessionsListResponse(Page):
    """The caller's sessions."""

    sessions: tuple[LearnSessionView, ...] = ()


class LearnProposalsListResponse(Page):
    """The caller's proposals."""

    proposals: tuple[ProposalView, ...] = ()


class ProposalFilesResponse(VersionedContract):
    """The drafted files, and the documents that the proposal rests on."""

    proposal_id: Uuid
    revision: int = Field(ge=1, description="Which round's they are.")
    files: tuple[DraftedFile, ...]
    depends_on: tuple[LearningDocumentDependency, ...] = ()
    workflow_graph: ReviewGraph | None = Field(
        default=None,
        description="Of the present round, for people who review it; no token of an agent is given it.",
    )


class ProposalDiffResponse(VersionedContract):
    """The unified diff against the installed version; empty when nothing differs."""

    proposal_id: Uuid
    base_version: int | None = None
    base: BaseStanding | None = Field(default=None, description="How what it improves stands now.")
    diff: str


class LearnCheckpointReceiptsResponse(Page):
    """Checkpoint receipts of a session."""

    receipts: tuple[CheckpointVerificationReceipt, ...] = ()


class HistoryOutcome(StrEnum):
    """How a session ended, or that it has not."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    IN_PROGRESS = "in_progress"
    QUARANTINED = "quarantined"


class LearnHistoryItem(Contract):
    """One line of the history."""

    learn_session_id: Uuid
    entry_mode: Text80
    state: Text80
    title: Text200 | None = None
    created_at: UtcTime
    completed_at: UtcTime | None = None
    proposal_id: Uuid | None = None
    ability_id: Text160 | None = None
    outcome: HistoryOutcome | None = None
    quarantine_lifted: bool = Field(
        default=False, description="Its ability is out of the quarantine that it ended with."
    )


class LearnHistoryResponse(Page):
    """All sessions of the caller, archived ones included."""

    items: tuple[LearnHistoryItem, ...] = ()


class LearnReceiptsResponse(Page):
    """Learning receipts of the caller."""

    receipts: tuple[LearningReceipt, ...] = ()


class DeletedResponse(Contract):
    """The session's data is gone."""

    deleted: bool = True


class WorkflowLinkResponse(VersionedContract):
    """The Temporal execution behind an object."""

    workflow_id: Text240
    status: Text80
    run_id: Text80 | None = None
    temporal_ui_url: str | None = None
    doing: Text240 | None = Field(
        default=None,
        description="What an activity under way last reported, such as “without command 3 of 7” of a replay.",
    )


class LearningRuntimeSnapshot(VersionedContract):
    """The answer to: what is being learned, from what, and is it usable yet."""

    learn_session_id: Uuid
    entry_mode: LearningEntryMode
    observation_mode: ObservationMode
    build_policy: BuildPolicy
    state: LearnSessionState
    observed_data_classes: tuple[Text80, ...] = ()
    active_boundary_ref: Text240 | None = None
    interpretation_id: Uuid | None = None
    proposal_id: Uuid | None = None
    validation_run_id: Uuid | None = None
    install_lane: InstallLane | None = None
    ability_id: Text160 | None = None
    ability_usable_now: bool | None = None
    reason_unusable: Text240 | None = None
    latest_receipt_ids: tuple[Uuid, ...] = ()
    snapshot_as_of: UtcTime


class PendingAbilityUiState(StrEnum):
    """How a not yet accepted ability is shown."""

    CAPTURING = "capturing"
    AWAITING_INPUT = "awaiting_input"
    DRAFTING = "drafting"
    TESTING = "testing"
    READY_FOR_REVIEW = "ready_for_review"
    PRIVATE_ACTIVE = "private_active"
    REVISION_REQUIRED = "revision_required"


class RecentRun(Contract):
    """A captured run that can be learned from."""

    trace_id: Uuid
    learn_session_id: Uuid
    title: Text200
    captured_from: UtcTime
    captured_until: UtcTime
    actions: int = Field(ge=0, description="The actions that count: without noise, pauses and trims.")
    success_share: float = Field(ge=0, le=1, description="The share of its actions that did not fail.")
    adapters: tuple[Text80, ...] = ()
    programs: tuple[Text80, ...] = ()
    compatible_with: tuple[Uuid, ...] = Field(
        default=(), description="Other runs of this page that show the same task."
    )


class RecentRunsResponse(Page):
    """The caller's runs that can be learned from, newest first."""

    runs: tuple[RecentRun, ...] = ()
