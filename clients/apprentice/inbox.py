"""Typed API calls: the one inbox."""

from clients.apprentice.transport import ApiRoutes
from contracts.platform.inbox import InboxKind, InboxResponse


class InboxApi(ApiRoutes):
    """Read what waits for the caller."""

    def items(self, page: int = 1, page_size: int = 100, kind: InboxKind | None = None) -> InboxResponse:
        """What waits, or was sent, newest first."""
        wanted = kind.value if kind is not None else None
        return self._http.get("/api/inbox", InboxResponse, page=page, page_size=page_size, kind=wanted)
