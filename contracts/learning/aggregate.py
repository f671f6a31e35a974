"""Aggregate of a learning session: the state that its workflow carries and its store commits, one change at a time."""

from pydantic import Field

from contracts.abilities.availability import MAX_UNPROVED, InstallLane, UnprovedAcceptance, UnprovedStep
from contracts.base import Contract, Sha256, Text80, Text160, Text200, UtcTime, Uuid
from contracts.learning.interpretation import SemanticWorkflowInterpretation, WorkflowGraph
from contracts.learning.lifecycle import LifecycleChange
from contracts.learning.model_draft import ModelWording
from contracts.learning.observation import WorkflowBoundary
from contracts.learning.proposal import (
    BaseSkill,
    CheckpointLintReport,
    SkillBundleProposal,
    SkillDraft,
)
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.session import (
    ARM_TIMEOUT,
    CAPTURE_TIMEOUT,
    MAX_RUNS,
    MODEL_TIMEOUT,
    QUESTION_DEADLINE,
    LearnSession,
    SourceRun,
)
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import SkillValidationReport, ValidationRun, ValidationRunKind
from contracts.platform.commands import CommitKey


class LearnSettings(Contract):
    """The settings a session was created under, times in seconds (DOC3 §0C.16D, decisions "Numbers")."""

    arm_timeout_seconds: int = Field(default=int(ARM_TIMEOUT.total_seconds()), gt=0)
    capture_timeout_seconds: int = Field(default=int(CAPTURE_TIMEOUT.total_seconds()), gt=0)
    question_deadline_seconds: int = Field(default=int(QUESTION_DEADLINE.total_seconds()), gt=0)
    drafting_model: Text80 | None = Field(default=None, description="The model that words drafts, if any.")
    drafting_timeout_seconds: int = Field(
        default=int(MODEL_TIMEOUT.total_seconds()), gt=0, description="How long a model may take."
    )


class OpenInstall(Contract):
    """An install saga that has been decided on and has not ended."""

    saga_id: Uuid
    lane: InstallLane
    ability_id: Text160
    asked_under: CommitKey | None = Field(
        default=None, description="The key of the command that began it, which its end is committed under."
    )
    accepted: UnprovedAcceptance | None = Field(
        default=None, description="Who accepted what of the draft is not proved; absent where all of it is."
    )


class LearnSessionAggregate(Contract):
    """A session with everything its next decision can depend on. Small: bodies of drafts stay in the store.

    ``change`` counts the committed decisions; the store refuses a commit whose base is not the newest.
    """

    session: LearnSession
    change: int = Field(ge=0)
    settings: LearnSettings = LearnSettings()
    state_since: UtcTime
    timed_out: bool = Field(
        default=False, description="Ended by a deadline; commands answer SESSION_TIMEOUT."
    )
    ask_before_build: bool = False
    allow_private_install: bool = False
    test_policy: TestPolicy | None = None
    proposal: SkillBundleProposal | None = None
    lint_passed: bool = False
    questions: tuple[LearningQuestion, ...] = ()
    answered: tuple[Uuid, ...] = Field(default=(), description="Ids of the questions that have an answer.")
    questions_due_at: UtcTime | None = None
    edits: dict[str, object] = Field(default_factory=dict, description="What revisions have set by hand.")
    passed_checks: tuple[ValidationRunKind, ...] = Field(
        default=(), description="Checks the present content hash has passed; emptied when the draft changes."
    )
    wording: ModelWording | None = Field(
        default=None, description="What a model proposed for the present draft."
    )
    not_applicable_checks: tuple[ValidationRunKind, ...] = Field(
        default=(), description="Checks that cannot apply to the present draft; emptied when it changes."
    )
    unproved: tuple[UnprovedStep, ...] = Field(
        default=(),
        max_length=MAX_UNPROVED,
        description="What of the present draft its rehearsal could not try; emptied when it changes.",
    )
    base: BaseSkill | None = Field(default=None, description="The installed version it improves, pinned.")
    source_runs: tuple[SourceRun, ...] = Field(
        default=(), max_length=MAX_RUNS, description="The runs it began with instead of a capture."
    )
    validation: ValidationRun | None = Field(default=None, description="The run under way.")
    install: OpenInstall | None = None


class CommandReceipt(Contract):
    """What a command's update answers: enough to compose every route's response from the store."""

    session: LearnSession
    change: int
    proposal_id: Uuid | None = None
    validation_run_id: Uuid | None = None
    saga_id: Uuid | None = None
    boundary_id: Uuid | None = None
    remaining_questions: int = 0
    kept_response: str | None = Field(default=None, exclude=True)
    """The body that the route answered an earlier request with this key, where one was kept; never serialised."""


class StagedDraft(Contract):
    """Where the store keeps a draft that a commit may adopt: three blobs by their digest."""

    content_hash: Sha256
    draft_blob: Sha256
    interpretation_blob: Sha256
    graph_blob: Sha256
    lint_blob: Sha256


class SessionCommit(Contract):
    """One decision of a session, written in one transaction."""

    commit_key: CommitKey
    expected_change: int = Field(ge=0, description="The change the decision was based on; 0 creates.")
    aggregate: LearnSessionAggregate
    receipt: CommandReceipt
    changes: tuple[LifecycleChange, ...]
    correlation_id: Text200
    boundary: WorkflowBoundary | None = None
    answers: tuple[LearningAnswer, ...] = ()
    staged: StagedDraft | None = None
    finished_run: ValidationRun | None = None
    report: SkillValidationReport | None = None


class CommitResult(Contract):
    """What the store made of it. ``replayed`` means that the key had been committed before.

    ``present`` is then the session as the store has it: the workflow takes it over. It is absent
    where the key made another session.
    """

    receipt: CommandReceipt
    replayed: bool = False
    present: LearnSessionAggregate | None = None


class SessionLook(Contract):
    """Asks for a session where the store knows more than its workflow."""

    learn_session_id: Uuid
    known_change: int = Field(ge=0)


class SessionSeen(Contract):
    """The session as the store has it, if that is newer than what was known."""

    newer: LearnSessionAggregate | None = None


class DraftRequest(Contract):
    """Asks for a draft of what a session has captured."""

    session: LearnSession
    proposal_id: Uuid
    interpretation_id: Uuid
    revision: int = Field(ge=1)
    questions: tuple[LearningQuestion, ...] = ()
    pending_answers: tuple[LearningAnswer, ...] = ()
    edits: dict[str, object] = Field(default_factory=dict)
    edited_now: tuple[str, ...] = Field(default=(), description="The fields that this revision sets itself.")
    revision_instructions: str = Field(default="", max_length=2000)
    wording: ModelWording | None = Field(default=None, description="What a model has proposed for it.")
    base: BaseSkill | None = Field(default=None, description="The installed version to improve.")
    rebase: bool = Field(default=False, description="Start from the version that is installed now.")
    replay: bool = Field(
        default=False, description="Whether the demonstration is replayed on its starting state first."
    )
    replay_answered: bool = Field(
        default=False, description="Whether it is replayed with the files that answers say are there already."
    )
    now: UtcTime


class DraftSummary(Contract):
    """What a workflow needs to know of a draft to decide; the draft itself is staged in the store."""

    proposal: SkillBundleProposal
    staged: StagedDraft
    lint_passed: bool
    lint_errors: tuple[str, ...] = ()
    weakest_required_confidence: float = Field(ge=0, le=1)
    questions: tuple[LearningQuestion, ...] = ()
    wording: ModelWording | None = None
    base: BaseSkill | None = Field(default=None, description="The version the draft improves.")
    edits: dict[str, object] | None = Field(
        default=None, description="All edits, with those that the revision's words ask for; none before 0.2."
    )
    unchanged: bool = Field(
        default=False,
        description="Whether the round before was the same draft on the same base; never said of older drafts.",
    )


class BaseCheck(Contract):
    """Asks whether an improvement may still be installed on what it improves."""

    proposal: SkillBundleProposal
    lane: InstallLane


class DraftBundle(Contract):
    """A draft read back whole."""

    draft: SkillDraft
    interpretation: SemanticWorkflowInterpretation
    graph: WorkflowGraph
    lint: CheckpointLintReport
