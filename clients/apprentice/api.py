"""Typed client of the HTTP API, its routes grouped by subject; maintenance and configuration (DOC3 §0.2G, §0C.9C)."""

from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx

from clients.apprentice.abilities import AbilityApi, CategoryApi, TokenApi
from clients.apprentice.learning import LearnApi, PracticeApi
from clients.apprentice.sse import Reconnect
from clients.apprentice.transport import ApiRoutes, ApiTransport, RetryPolicy, path_part
from contracts.learning.responses import WorkflowLinkResponse
from contracts.maintenance.runs import MaintenanceRun, MaintenanceRunsResponse, StartMaintenanceRequest
from contracts.platform.configuration import (
    ConfigurationIntent,
    ConfigurationIntentResponse,
    ConfigurationListResponse,
    ConfigurationTarget,
)


class ApprenticeApi:
    """One caller's view of one service, its routes grouped by subject.

    Use it as a context manager, or call :meth:`close`.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        transport: httpx.BaseTransport | None = None,
        *,
        retry: RetryPolicy | None = None,
        reconnect: Reconnect | None = None,
    ) -> None:
        self.http = ApiTransport(base_url, token, transport=transport, retry=retry)
        self.learn = LearnApi(self.http, reconnect)
        self.abilities = AbilityApi(self.http)
        self.categories = CategoryApi(self.http)
        self.practice = PracticeApi(self.http)
        self.tokens = TokenApi(self.http)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    @property
    def last_body(self) -> str:
        """The body of the newest answer as it was received."""
        return self.http.last_body

    def workflow_link(self, workflow_id: str) -> WorkflowLinkResponse:
        """Find the Temporal execution behind an object; asked once, since it only adorns."""
        path = f"/api/workflows/{quote(workflow_id, safe='/')}"
        return self.http.get(path, WorkflowLinkResponse, retried=False)


class MaintenanceApi(ApiRoutes):
    """Maintenance runs, for admins."""

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


class ConfigurationApi(ApiRoutes):
    """What the caller has configured."""

    def current(self, target: ConfigurationTarget) -> ConfigurationListResponse:
        """Read all that is configured of one kind."""
        return self._http.get("/api/config", ConfigurationListResponse, target=target.value)

    def send(self, intent: ConfigurationIntent) -> ConfigurationIntentResponse:
        """Send one intent; the same one again is answered as the first time."""
        # With nulls: a field that is null in the payload is removed.
        return self._http.write(
            "POST",
            "/api/config/intents",
            ConfigurationIntentResponse,
            intent,
            intent.intent_id,
            with_nulls=True,
        )
