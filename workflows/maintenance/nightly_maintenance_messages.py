"""What is said to a NightlyMaintenanceWorkflow."""

from pydantic import Field

from contracts.base import Contract, Text120, UtcTime, Uuid
from contracts.maintenance.runs import MaintenanceState, MaintenanceTrigger, SweepProgress


class MaintenancePosition(Contract):
    """How far a run has come: what a new run of the workflow goes on from."""

    run_id: Uuid
    started_at: UtcTime
    sweeps: tuple[SweepProgress, ...] = ()


class MaintenanceStart(Contract):
    """Starts a run. A manual one brings its id; ``position`` is only set when the workflow continues as new."""

    trigger: MaintenanceTrigger = MaintenanceTrigger.SCHEDULE
    dry_run: bool = False
    run_id: Uuid | None = None
    requested_by: Text120 | None = None
    page_size: int = Field(default=200, ge=1, le=10_000, description="Items in one activity.")
    pages_a_run: int = Field(default=500, ge=1, description="Pages before the workflow continues as new.")
    position: MaintenancePosition | None = None


class MaintenanceEnd(Contract):
    """How a run ended."""

    run_id: Uuid
    state: MaintenanceState
    sweeps: tuple[SweepProgress, ...] = ()
