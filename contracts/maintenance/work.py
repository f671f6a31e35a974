"""What the maintenance workflow and its activities say to each other."""

from pydantic import Field

from contracts.base import Contract, Text120, Text240, UtcTime, Uuid
from contracts.maintenance.runs import MaintenanceState, MaintenanceTrigger, SweepName


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
