"""Runs of nightly maintenance as clients read them (DOC3 §0C.16D; routes.md ``/maintenance/runs``)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text240, UtcTime, Uuid, VersionedContract

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


class MaintenanceRunsResponse(VersionedContract):
    """A page of runs, newest first."""

    runs: tuple[MaintenanceRun, ...] = ()
    total: int = Field(ge=0)
    page: int = Field(ge=1)
    page_size: int = Field(ge=1)
