"""Nightly maintenance: history, manual run, dry run (routes.md). Admins only, since it concerns every user's data."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Path

from api.platform.commands import AdminFrame
from api.platform.dependencies import Admin, PageDep, ServicesDep, parse_uuid
from contracts.errors import ErrorCode
from contracts.maintenance.runs import MaintenanceRun, MaintenanceRunsResponse, StartMaintenanceRequest
from gateways.maintenance.maintenance import MaintenanceGateway, run_id_of
from stores.maintenance.runs import MaintenanceStore

router = APIRouter(prefix="/api/maintenance/runs", tags=["maintenance"])


def _run_id(run_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(run_id, ErrorCode.NOT_FOUND, "maintenance run")


@router.get("", operation_id="maintenance_runs_list")
def list_runs(caller: Admin, services: ServicesDep, page: PageDep) -> MaintenanceRunsResponse:
    """The runs, newest first, with what each sweep has done so far."""
    return MaintenanceStore(services.database).page(page)


@router.get("/{run_id}", operation_id="maintenance_run_detail")
def run_detail(
    caller: Admin, run_id: Annotated[str, Depends(_run_id)], services: ServicesDep
) -> MaintenanceRun:
    """One run, while it goes on or afterwards."""
    return MaintenanceStore(services.database).get(run_id)


@router.post("", status_code=202, operation_id="maintenance_run_start")
async def start_run(frame: AdminFrame, body: StartMaintenanceRequest | None = None) -> MaintenanceRun:
    """Starts a run now; with ``dry_run`` it selects the same and changes nothing. Watch it by its id."""
    wanted = body or StartMaintenanceRequest()
    run_id = run_id_of(frame.owner, frame.key_for(wanted).key)
    runs = MaintenanceStore(frame.services.database)
    gateway = MaintenanceGateway(frame.services.client, frame.services.settings.task_queue, runs)
    act = partial(gateway.start, run_id, frame.owner, dry_run=wanted.dry_run)
    return await frame.answer_once(wanted, act, MaintenanceRun)
