"""The routes of autonomous practice as typed calls (DOC3 §0A.7)."""

from clients.api_transport import ApiTransport, path_part
from contracts.learning.practice import PracticeRun, StartPracticeRequest


class PracticeApi:
    """Practice in the caller's sessions. Both methods may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def start(self, session_id: str, request: StartPracticeRequest) -> PracticeRun:
        """Set the agent practising in a session that is armed."""
        return self._http.write("POST", _path(session_id), PracticeRun, request)

    def progress(self, session_id: str) -> PracticeRun:
        """See what was tried, and how it stands."""
        return self._http.get(_path(session_id), PracticeRun)


def _path(session_id: str) -> str:
    return f"/api/learn/sessions/{path_part(session_id)}/practice"
