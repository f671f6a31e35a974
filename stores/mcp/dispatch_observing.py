"""Lets a watching learning session see a call that has ended; names and outcome only (DOC3 §0A.10)."""

from contracts.errors import Refusal
from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES
from contracts.mcp.dispatch_work import DispatchStanding
from domain.learning.tool_receipts import observed_tool_call
from stores.database import Database
from stores.mcp.dispatch_rows import read_dispatch
from stores.mcp.dispatch_settling import tool_call_receipt
from stores.observations import ObservationLog
from stores.session_store import SessionStore


class DispatchObserver:
    """Hands ended calls to the session that watches. Safe to repeat: a call is one event, however often told."""

    def __init__(self, database: Database, sessions: SessionStore, observations: ObservationLog) -> None:
        self._database = database
        self._sessions = sessions
        self._observations = observations

    def observe(self, standing: DispatchStanding) -> bool:
        """Whether a session was shown the call. One that watches no more, or is another's, is shown nothing."""
        if standing.status in OPEN_DISPATCH_STATUSES or not standing.watched:
            return False
        with self._database.read() as connection:
            kept = read_dispatch(connection, standing.dispatch_id)
        receipt = tool_call_receipt(kept.record) if kept is not None else None
        session_id = kept.record.order.learn_session_id if kept is not None else None
        if kept is None or receipt is None or session_id is None:
            return False
        try:
            session = self._sessions.owned(session_id, kept.record.owner).session
            event = observed_tool_call(receipt, session)
            if event is None:
                return False
            self._observations.ingest(session_id, [event])
        except Refusal:
            # The session has ended, or was never the caller's: the call itself has nothing to do with that.
            return False
        return True
