"""The routes of nightly maintenance as typed calls (routes.md)."""

from clients.api_transport import ApiTransport, path_part
from contracts.maintenance.runs import MaintenanceRun, MaintenanceRunsResponse, StartMaintenanceRequest


class MaintenanceApi:
    """Maintenance runs, for admins. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def runs(self, page: int = 1, page_size: int = 25) -> MaintenanceRunsResponse:
        """List runs, newest first."""
        return self._http.get(
            "/api/maintenance/runs", MaintenanceRunsResponse, page=page, page_size=page_size
        )

    def run(self, run_id: str) -> MaintenanceRun:
        """Read one run."""
        return self._http.get(f"/api/maintenance/runs/{path_part(run_id)}", MaintenanceRun)

    def start(self, *, dry_run: bool) -> MaintenanceRun:
        """Start a run, or a preview of one."""
        request = StartMaintenanceRequest(dry_run=dry_run)
        return self._http.write("POST", "/api/maintenance/runs", MaintenanceRun, request)
