"""Runs of nightly maintenance: their view for clients, workflow messages, and the archive documents.

DOC3 §0C.16D; routes.md ``/maintenance/runs``.
"""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text240, UtcTime, Uuid, VersionedContract
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.checkpoints import CheckpointStatus
from contracts.learning.observation import WorkflowBoundary
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.validation import ValidationRun, ValidationStepResult
from contracts.platform.lists import Page

SAMPLE_SIZE = 10
"""How many ids a sweep's record names as examples."""


class SweepName(StrEnum):
    """The sweeps, in the order in which they run."""

    ARCHIVE_SESSIONS = "archive_sessions"
    PURGE_OBSERVATIONS = "purge_observations"
    ARCHIVE_PROPOSALS = "archive_proposals"
    FORGET_KEYS = "forget_keys"
    ROTATE_RECEIPTS = "rotate_receipts"
    COMPACT_CHECKPOINT_RECEIPTS = "compact_checkpoint_receipts"
    REMOVE_BLOBS = "remove_blobs"
    REMOVE_EXPIRED_SECRETS = "remove_expired_secrets"
    REMOVE_MINING_RUNS = "remove_mining_runs"
    REMOVE_MINING_CANDIDATES = "remove_mining_candidates"
    REMOVE_PRACTICE_FILES = "remove_practice_files"
    REMOVE_TOOL_CALLS = "remove_tool_calls"
    REMOVE_GRANTS = "remove_grants"
    REMOVE_SIGN_IN_FLOWS = "remove_sign_in_flows"
    REMOVE_INVOCATIONS = "remove_invocations"
    REMOVE_TOOL_SERVER_FOLDERS = "remove_tool_server_folders"


class MaintenanceTrigger(StrEnum):
    """What started a run."""

    SCHEDULE = "schedule"
    MANUAL = "manual"


class MaintenanceState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class FailedItem(Contract):
    """One item that could not be dealt with and was left as it is; the next run tries it again."""

    item: Text240
    reason: Text240


class SweepProgress(Contract):
    """How far a sweep has come. ``examined`` is the sum of ``done``, ``skipped`` and ``failed``."""

    sweep: SweepName
    examined: int = Field(default=0, ge=0)
    done: int = Field(default=0, ge=0)
    skipped: int = Field(default=0, ge=0, description="Due by age, left alone: still referred to, say.")
    failed: int = Field(default=0, ge=0)
    removed: int = Field(default=0, ge=0, description="Rows deleted, such as observations.")
    sample_ids: tuple[Text240, ...] = Field(default=(), max_length=SAMPLE_SIZE, description="Of those done.")
    failures: tuple[FailedItem, ...] = Field(default=(), max_length=SAMPLE_SIZE)
    cursor: str = Field(default="", max_length=1000, description="The last item dealt with.")
    finished: bool = False
    error: Text240 | None = Field(default=None, description="Why the sweep was given up, if it was.")


class JournalCheck(Contract):
    """What the nightly look at the journal found."""

    entries: int = Field(ge=0)
    intact: bool
    fault: Text240 | None = None


class MaintenanceRun(VersionedContract):
    """One run, readable while it goes on. Of a preview the counts say what a run would do."""

    run_id: Uuid
    trigger: MaintenanceTrigger
    dry_run: bool = False
    state: MaintenanceState = MaintenanceState.RUNNING
    requested_by: Text120 | None = None
    workflow_id: Text240
    started_at: UtcTime = Field(description="Ages are measured against this instant.")
    updated_at: UtcTime
    finished_at: UtcTime | None = None
    sweeps: tuple[SweepProgress, ...] = ()
    availability_refreshed: bool = False
    journal: JournalCheck | None = None
    error: Text240 | None = None

    def progress(self, sweep: SweepName) -> SweepProgress:
        """How far ``sweep`` has come; all zero before it began."""
        return next((one for one in self.sweeps if one.sweep is sweep), SweepProgress(sweep=sweep))


class StartMaintenanceRequest(VersionedContract):
    """Starts a run now; a preview (``dry_run``) selects the same and changes nothing."""

    dry_run: bool = False
    client_request_id: Text120 | None = None


class MaintenanceRunsResponse(Page):
    """A page of runs, newest first."""

    runs: tuple[MaintenanceRun, ...] = ()


class RunOpening(Contract):
    """Opens a run's record; opening it again changes nothing."""

    run_id: Uuid
    trigger: MaintenanceTrigger
    dry_run: bool
    requested_by: Text120 | None = None
    workflow_id: Text240
    started_at: UtcTime


class SweepPage(Contract):
    """One page of one sweep. It goes on from where the run's record says, so a repeated page is harmless."""

    run_id: Uuid
    sweep: SweepName
    now: UtcTime
    dry_run: bool
    limit: int = Field(ge=1, le=10_000, description="Items in this page.")


class SweepGivenUp(Contract):
    """Records that a sweep was left before its end."""

    run_id: Uuid
    sweep: SweepName
    error: Text240


class DerivedRefresh(Contract):
    """Writes the bridge and the availability snapshot anew (DOC3 §0C.11B "Nightly learning job")."""

    run_id: Uuid
    now: UtcTime


class RunClosing(Contract):
    """Records how a run ended."""

    run_id: Uuid
    state: MaintenanceState
    error: Text240 | None = None
    finished_at: UtcTime


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
