"""The documents in which the memory tree keeps what was archived (DOC3 §0C.16D)."""

from pydantic import Field

from contracts.base import UtcTime, VersionedContract
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.checkpoint import CheckpointStatus
from contracts.learning.observation import WorkflowBoundary
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.validation import ValidationRun, ValidationStepResult


class ArchivedSession(VersionedContract):
    """A session as it was when it was archived."""

    archived_at: UtcTime
    aggregate: LearnSessionAggregate
    boundaries: tuple[WorkflowBoundary, ...] = ()
    observations_held: int = Field(default=0, ge=0, description="Kept in the store because marked retain.")


class ArchivedProposal(VersionedContract):
    """A proposal with everything that was asked about it and proven of it."""

    archived_at: UtcTime
    proposal: SkillBundleProposal
    questions: tuple[LearningQuestion, ...] = ()
    answers: tuple[LearningAnswer, ...] = ()
    validation_runs: tuple[ValidationRun, ...] = ()
    validation_steps: tuple[ValidationStepResult, ...] = ()


class CompactedAbility(VersionedContract):
    """One ability's checkpoint receipts that are no longer among its newest, as counts."""

    counts: dict[CheckpointStatus, int]
    newest_counted_at: UtcTime


class CompactedCheckpointReceipts(VersionedContract):
    """The counts of all abilities, by ability id."""

    abilities: dict[str, CompactedAbility] = Field(default_factory=dict[str, CompactedAbility])
