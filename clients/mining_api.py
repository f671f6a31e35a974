"""The routes of skill mining as typed calls (DOC3 §0.4)."""

from clients.api_transport import ApiTransport, path_part
from contracts.learning.mining import (
    CandidateState,
    MiningCandidatesResponse,
    MiningCandidateView,
    MiningDecisionRequest,
    MiningSettingsResponse,
    PutMiningSettingsRequest,
)
from contracts.learning.mining_runs import MiningRun, StartMiningRequest


class MiningApi:
    """The caller's own settings, runs and candidates. Every method may raise the errors of ``api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def settings(self) -> MiningSettingsResponse:
        """Read the settings."""
        return self._http.get("/api/learn/mining/settings", MiningSettingsResponse)

    def replace_settings(self, request: PutMiningSettingsRequest) -> MiningSettingsResponse:
        """Replace the settings."""
        return self._http.write("PUT", "/api/learn/mining/settings", MiningSettingsResponse, request)

    def scan(self) -> MiningRun:
        """Start a run."""
        return self._http.write("POST", "/api/learn/mining/scan", MiningRun, StartMiningRequest())

    def run(self, run_id: str) -> MiningRun:
        """Read one run."""
        return self._http.get(f"/api/learn/mining/runs/{path_part(run_id)}", MiningRun)

    def candidates(
        self, page: int = 1, page_size: int = 25, state: CandidateState | None = None
    ) -> MiningCandidatesResponse:
        """List candidates, newest first."""
        path = "/api/learn/mining/candidates"
        if state is None:
            return self._http.get(path, MiningCandidatesResponse, page=page, page_size=page_size)
        return self._http.get(
            path, MiningCandidatesResponse, page=page, page_size=page_size, state=state.value
        )

    def accept(self, candidate_id: str, reason: str | None = None) -> MiningCandidateView:
        """Build a candidate."""
        return self._decide(candidate_id, "accept", reason)

    def dismiss(self, candidate_id: str, reason: str | None = None) -> MiningCandidateView:
        """Put a candidate aside."""
        return self._decide(candidate_id, "dismiss", reason)

    def _decide(self, candidate_id: str, decision: str, reason: str | None) -> MiningCandidateView:
        path = f"/api/learn/mining/candidates/{path_part(candidate_id)}/{decision}"
        return self._http.write("POST", path, MiningCandidateView, MiningDecisionRequest(reason=reason))
