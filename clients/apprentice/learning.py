"""Typed API calls: learning sessions, proposals, practice, skill mining (DOC3 §0C.16, §0C.16A, §0A.7, §0.4)."""

from collections.abc import Callable, Iterator

import httpx

from clients.apprentice.sse import Reconnect, ServerSentEvent, SseDecoder, follow
from clients.apprentice.transport import ApiRoutes, ApiTransport, ApiUnreachable, M, describe, path_part
from contracts.learning import requests as asks
from contracts.learning import responses as says
from contracts.learning.create_session import CreateLearnSessionRequest, CreateLearnSessionResponse
from contracts.learning.install import InstallSaga
from contracts.learning.observation import (
    AdapterHeartbeatRequest,
    IngestObservationsRequest,
    IngestObservationsResponse,
    ObservationAdapterKind,
    ObservationAdaptersResponse,
    ObservationListResponse,
    RegisteredAdapter,
)
from contracts.learning.responses import RecentRunsResponse
from contracts.learning.session import LearnSession
from contracts.learning.state_machine import AT_REST, UNDER_WAY, SessionCommand
from contracts.learning.test_policy import TestPolicy
from contracts.learning.views.allowed_actions import LearnSessionView
from contracts.learning.views.portability import ProposalPortability
from contracts.mining.candidates import (
    CandidateState,
    MiningCandidatesResponse,
    MiningCandidateView,
    MiningDecisionRequest,
    MiningSettingsResponse,
    PutMiningSettingsRequest,
)
from contracts.mining.runs import MiningRun, StartMiningRequest
from contracts.practice.practice import PracticeRun, StartPracticeRequest

LARGEST_PAGE = 100
"""The most entries the service puts on one page."""


class LearnApi:
    """Sessions, proposals and installs."""

    def __init__(self, http: ApiTransport, reconnect: Reconnect | None = None) -> None:
        self._http = http
        self._reconnect = reconnect

    # Sessions

    def create_session(
        self, request: CreateLearnSessionRequest, *, key: str | None = None
    ) -> CreateLearnSessionResponse:
        """Create a session; it is armed when this answers."""
        return self._http.write("POST", "/api/learn/sessions", CreateLearnSessionResponse, request, key)

    def sessions(
        self, *, page: int = 1, page_size: int = 25, search: str | None = None
    ) -> says.LearnSessionsListResponse:
        """List the caller's sessions, newest first; only those that ``search`` finds."""
        return self._http.get(
            "/api/learn/sessions", says.LearnSessionsListResponse, page=page, page_size=page_size, q=search
        )

    def history(
        self, *, page: int = 1, page_size: int = 25, search: str | None = None
    ) -> says.LearnHistoryResponse:
        """List all sessions of the caller, archived ones included, newest first; only those ``search`` finds."""
        return self._http.get(
            "/api/learn/history", says.LearnHistoryResponse, page=page, page_size=page_size, q=search
        )

    def recent_runs(self, *, page: int = 1, page_size: int = 25) -> RecentRunsResponse:
        """List the captured runs that can be learned from, newest first."""
        return self._http.get("/api/learn/recent-runs", RecentRunsResponse, page=page, page_size=page_size)

    def latest_session(self, command: SessionCommand | None = None) -> LearnSessionView | None:
        """Find the caller's session under way, else the newest that takes ``command`` (any, without one)."""
        page = 1
        newest: LearnSessionView | None = None
        while True:
            listed = self.sessions(page=page, page_size=LARGEST_PAGE)
            for session in listed.sessions:
                if session.state in UNDER_WAY:
                    return session
                if newest is None and (command is None or command in session.allowed_actions):
                    newest = session
            if not listed.sessions or page * listed.page_size >= listed.total:
                return newest
            page += 1

    def session(self, session_id: str) -> LearnSessionView:
        """Read one session, with what it takes now."""
        return self._http.get(_session(session_id, "detail"), LearnSessionView)

    def start(self, session_id: str) -> says.StartSessionResponse:
        """Begin the capture."""
        return self._http.write(
            "POST", _session(session_id, "start"), says.StartSessionResponse, asks.SessionActionRequest()
        )

    def pause(self, session_id: str, reason: str | None = None) -> LearnSession:
        """Pause the capture."""
        return self._action(session_id, "pause", asks.SessionActionRequest(reason=reason))

    def resume(
        self, session_id: str, reason: str | None = None, *, new_demonstration: bool = False
    ) -> LearnSession:
        """Go on with a paused capture, or begin another demonstration of the same task."""
        body = asks.ResumeRequest(reason=reason, new_demonstration=new_demonstration)
        return self._action(session_id, "resume", body)

    def stop(self, session_id: str) -> says.StopSessionResponse:
        """End the capture."""
        return self._http.write(
            "POST", _session(session_id, "stop"), says.StopSessionResponse, asks.SessionActionRequest()
        )

    def cancel(self, session_id: str, reason: str | None = None) -> LearnSession:
        """Cancel the session."""
        return self._action(session_id, "cancel", asks.SessionActionRequest(reason=reason))

    def mark_goal(self, session_id: str, request: asks.MarkGoalRequest) -> LearnSession:
        """State the goal of what is being shown."""
        return self._action(session_id, "mark-goal", request)

    def mark_step(self, session_id: str, request: asks.MarkStepRequest) -> LearnSession:
        """Name the step that begins now."""
        return self._action(session_id, "mark-step", request)

    def trim(self, session_id: str, request: asks.TrimRequest) -> LearnSession:
        """Cut one end of the capture."""
        return self._action(session_id, "trim", request)

    def set_test_policy(self, session_id: str, policy: TestPolicy) -> LearnSession:
        """Set the bounds of the rehearsal."""
        return self._action(session_id, "set-test-policy", asks.SetTestPolicyRequest(test_policy=policy))

    def answer_questions(
        self, session_id: str, request: asks.AnswerQuestionsRequest
    ) -> says.AnswerQuestionsResponse:
        """Answer open questions."""
        return self._http.write(
            "POST", _session(session_id, "answer-questions"), says.AnswerQuestionsResponse, request
        )

    def generate_proposal(
        self, session_id: str, request: asks.GenerateProposalRequest
    ) -> says.GenerateProposalResponse:
        """Draft a proposal of what was captured."""
        return self._http.write(
            "POST", _session(session_id, "generate-proposal"), says.GenerateProposalResponse, request
        )

    def delete_session(self, session_id: str) -> says.DeletedResponse:
        """Purge a session's data."""
        return self._http.write("DELETE", _session(session_id), says.DeletedResponse)

    def ingest(self, session_id: str, batch: IngestObservationsRequest) -> IngestObservationsResponse:
        """Report observed actions; they are durable when this answers."""
        return self._http.write(
            "POST", _session(session_id, "observations"), IngestObservationsResponse, batch
        )

    def adapters(self) -> ObservationAdaptersResponse:
        """List the kinds of observation adapters and how the caller's fare."""
        return self._http.get("/api/learn/adapters", ObservationAdaptersResponse)

    def adapter_heartbeat(
        self, kind: ObservationAdapterKind, error_code: str | None = None
    ) -> RegisteredAdapter:
        """Report that a recorder is alive, or why it cannot record."""
        request = AdapterHeartbeatRequest(error_code=error_code)
        return self._http.write(
            "POST", f"/api/learn/adapters/{kind.value}/heartbeat", RegisteredAdapter, request
        )

    def observations(
        self, session_id: str, *, page: int = 1, page_size: int = LARGEST_PAGE
    ) -> ObservationListResponse:
        """Page through what was captured, oldest first."""
        path = _session(session_id, "observations")
        return self._http.get(path, ObservationListResponse, page=page, page_size=page_size)

    def events(
        self,
        session_id: str,
        *,
        last_event_id: str = "",
        is_over: Callable[[], bool] | None = None,
    ) -> Iterator[ServerSentEvent]:
        """Follow a session's events, across dropped connections, until it is at rest (or ``is_over``).

        Raises:
            ApiUnreachable: the stream could not be opened again often enough in a row.
        """
        path = _session(session_id, "events")
        over = is_over or (lambda: self.session(session_id).state in AT_REST)
        try:
            yield from follow(
                lambda seen: self._http.open_events(path, seen),
                is_over=over,
                last_event_id=last_event_id,
                reconnect=self._reconnect,
            )
        except httpx.TransportError as error:
            raise ApiUnreachable(self._http.base_url, describe(error)) from error

    def past_events(self, session_id: str, *, quiet_seconds: float = 1.0) -> Iterator[ServerSentEvent]:
        """Replay a session's events from the first one; ends at rest or once the stream falls quiet."""
        path = _session(session_id, "events")
        with self._http.open_events(path, "", silence_limit_seconds=quiet_seconds) as chunks:
            decoder = SseDecoder()
            try:
                for chunk in chunks:
                    yield from decoder.feed(chunk)
            except httpx.ReadTimeout:
                return

    # Proposals

    def proposal(self, proposal_id: str) -> says.ProposalDetailResponse:
        """Read a proposal with its interpretation, lint and questions."""
        return self._http.get(_proposal(proposal_id, "detail"), says.ProposalDetailResponse)

    def proposal_files(self, proposal_id: str) -> says.ProposalFilesResponse:
        """Read the drafted files."""
        return self._http.get(_proposal(proposal_id, "files"), says.ProposalFilesResponse)

    def proposal_diff(self, proposal_id: str) -> says.ProposalDiffResponse:
        """Read the diff against the installed version."""
        return self._http.get(_proposal(proposal_id, "diff"), says.ProposalDiffResponse)

    def validation_runs(self, proposal_id: str) -> says.ValidationRunsListResponse:
        """List a proposal's validation runs, newest first, with their steps."""
        path = _proposal(proposal_id, "validation-runs")
        return self._http.get(path, says.ValidationRunsListResponse, page_size=LARGEST_PAGE)

    def validate(
        self, proposal_id: str, request: asks.StartValidationRunRequest
    ) -> says.ValidationRunResponse:
        """Start a validation run; it goes on after this answers."""
        return self._proposal_command(proposal_id, "validate", request, says.ValidationRunResponse)

    def install(self, proposal_id: str, request: asks.ProposalInstallRequest) -> says.ProposalInstallResponse:
        """Start an install; follow it by its saga."""
        return self._proposal_command(proposal_id, "install", request, says.ProposalInstallResponse)

    def approve(self, proposal_id: str, request: asks.ApproveProposalRequest) -> says.ProposalDetailResponse:
        """Accept a proposal."""
        return self._proposal_command(proposal_id, "approve", request, says.ProposalDetailResponse)

    def reject(self, proposal_id: str, request: asks.RejectProposalRequest) -> says.ProposalDetailResponse:
        """Turn a proposal down, for good."""
        return self._proposal_command(proposal_id, "reject", request, says.ProposalDetailResponse)

    def revise(self, proposal_id: str, request: asks.ProposalReviseRequest) -> says.ProposalDetailResponse:
        """Send a proposal back to drafting."""
        return self._proposal_command(proposal_id, "revise", request, says.ProposalDetailResponse)

    def request_adapter(self, proposal_id: str, request: asks.RequestAdapterRequest) -> ProposalPortability:
        """Ask for an adapter that a proposal needs."""
        return self._proposal_command(proposal_id, "request-adapter", request, ProposalPortability)

    def saga(self, saga_id: str) -> InstallSaga:
        """Read an install's steps."""
        return self._http.get(f"/api/learn/install-sagas/{path_part(saga_id)}", InstallSaga)

    def _action(self, session_id: str, action: str, body: asks.Command) -> LearnSession:
        path = _session(session_id, action)
        return self._http.write("POST", path, says.SessionActionResponse, body).session

    def _proposal_command(self, proposal_id: str, command: str, body: asks.Command, answer: type[M]) -> M:
        return self._http.write("POST", _proposal(proposal_id, command), answer, body)


def _session(session_id: str, *rest: str) -> str:
    return "/".join(("/api/learn/sessions", path_part(session_id), *rest))


def _proposal(proposal_id: str, *rest: str) -> str:
    return "/".join(("/api/learn/proposals", path_part(proposal_id), *rest))


class PracticeApi(ApiRoutes):
    """Practice in the caller's sessions."""

    def start(self, session_id: str, request: StartPracticeRequest) -> PracticeRun:
        """Set the agent practising in a session that is armed."""
        return self._http.write("POST", _path(session_id), PracticeRun, request)

    def progress(self, session_id: str) -> PracticeRun:
        """See what was tried, and how it stands."""
        return self._http.get(_path(session_id), PracticeRun)


def _path(session_id: str) -> str:
    return f"/api/learn/sessions/{path_part(session_id)}/practice"


class MiningApi(ApiRoutes):
    """The caller's own settings, runs and candidates."""

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
