"""The proposal that a session makes (DOC3 §0C.10A) and its draft's parts."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Sha256, Text120, Text160, Text240, UtcTime, Uuid, VersionedContract
from contracts.learning.dependencies import DependencyKind
from contracts.learning.improvement import MAX_CONFLICTS, BaseConflict, BaseSkill
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.model_draft import DETERMINISTIC


class ProposalState(StrEnum):
    """DOC3's ``SkillBundleProposalStateSchema``."""

    DRAFT = "draft"
    AWAITING_QUESTIONS = "awaiting_questions"
    TESTING = "testing"
    READY_FOR_REVIEW = "ready_for_review"
    INSTALLING_PRIVATE = "installing_private"
    INSTALLED_PRIVATE = "installed_private"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    QUARANTINED = "quarantined"


class InstallLane(StrEnum):
    """How far an ability has come."""

    PENDING = "pending"
    EXPERIMENTAL_PRIVATE = "experimental_private"
    APPROVED_WORKSPACE = "approved_workspace"
    SHARED_PROMOTED = "shared_promoted"
    QUARANTINED = "quarantined"


class SkillBundleProposal(VersionedContract):
    """A drafted skill on its way to being accepted."""

    proposal_id: Uuid
    owner_user_id: Text120
    learn_session_id: Uuid | None = None
    interpretation_id: Uuid | None = None
    source_trace_ids: tuple[Uuid, ...] = Field(min_length=1)
    title: Text160
    proposed_skill_slug: Text120
    trigger_phrases: tuple[Text120, ...] = ()
    negative_triggers: tuple[Text120, ...] = ()
    draft_skill_path: Text240
    draft_manifest_path: Text240
    draft_graph_ref: Text240 | None = None
    content_hash: Sha256 = Field(description="Hash of the whole draft; validation results are bound to it.")
    revision: int = Field(default=1, ge=1)
    proposal_state: ProposalState
    install_lane: InstallLane = InstallLane.PENDING
    ability_id: Text160 | None = None
    primary_capability_id: Text160 | None = None
    support_pack_refs: tuple[Text240, ...] = ()
    drafted_by: Text120 = Field(default=DETERMINISTIC, description="Who worded it: the rules, or model:NAME.")
    drafter_note: Text240 = Field(
        default="",
        description="Why a model that was asked did not word it, or what of it a person has stated.",
    )
    base: BaseSkill | None = Field(default=None, description="What it improves; absent for a new skill.")
    hand_edits: Sha256 | None = Field(default=None, description="Digest of the hand edits it has taken in.")
    base_conflicts: tuple[BaseConflict, ...] = Field(default=(), max_length=MAX_CONFLICTS)
    created_at: UtcTime
    updated_at: UtcTime


class LearningDocumentDependency(VersionedContract):
    """Something a proposal needs to work."""

    proposal_id: Uuid
    dependency_kind: DependencyKind
    dependency_ref: Text240
    required: bool = True


class LintSeverity(StrEnum):
    """Errors block review; warnings are shown."""

    ERROR = "error"
    WARNING = "warning"


class LintFinding(Contract):
    """One finding of the checkpoint lint, with what to write instead."""

    rule: str = Field(pattern=r"^CKP-\d{3}$")
    severity: LintSeverity
    location: Text160 = Field(description="Which field, e.g. checkpoints/cp-02/success_condition.")
    message: Text240
    suggestion: Text240


class CheckpointLintReport(VersionedContract):
    """What the lint says of a draft (decisions "Checkpoints")."""

    passed: bool
    findings: tuple[LintFinding, ...] = ()


class DraftedFile(Contract):
    """One file of a drafted bundle, by its path inside the skill folder."""

    path: Text240
    content: str = Field(max_length=262_144)


class RehearsalCommand(Contract):
    """One taught command, as the rehearsal replays it. Kept for proof, never shown to the agent."""

    event_id: Uuid
    command: str = Field(max_length=2000)
    working_folder: str = Field(max_length=400)


MAX_REHEARSED_DEMONSTRATIONS = 3
"""The most demonstrations of one task that a rehearsal repeats."""


class RehearsedDemonstration(Contract):
    """A further demonstration of the task with its own inputs, as the rehearsal repeats it for proof."""

    number: int = Field(ge=2, description="Which demonstration it was, counted from 1.")
    commands: tuple[RehearsalCommand, ...]
    effects: tuple[ObservedEffect, ...] = ()
    inputs: tuple[Text240, ...] = Field(default=(), description="Files it worked on and did not make.")


class SkillDraft(VersionedContract):
    """Everything a drafter writes. Its canonical JSON is hashed; the hash is the draft's identity."""

    title: Text160
    slug: Text120
    description: str = Field(max_length=1024)
    trigger_phrases: tuple[Text120, ...]
    negative_triggers: tuple[Text120, ...]
    files: tuple[DraftedFile, ...] = Field(description="SKILL.md, the capability manifest, tests.")
    rehearsal: tuple[RehearsalCommand, ...] = ()
    further_demonstrations: tuple[RehearsedDemonstration, ...] = Field(
        default=(),
        max_length=MAX_REHEARSED_DEMONSTRATIONS - 1,
        description="What is rehearsed beside ``rehearsal``, which is the first demonstration.",
    )
    capability_id: Text160
    dependencies: tuple[Text120, ...] = Field(default=(), description="Programs the taught commands call.")

    @property
    def taught_commands(self) -> tuple[RehearsalCommand, ...]:
        """The commands of every demonstration that is rehearsed."""
        further = (command for one in self.further_demonstrations for command in one.commands)
        return (*self.rehearsal, *further)
