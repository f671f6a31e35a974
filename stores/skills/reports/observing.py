"""Reports an ended run of a skill to the session that watches its caller: names and outcome only (DOC3 §0A.10)."""

import json

from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.errors import Refusal
from contracts.learning.observation import (
    ObservationAdapterKind,
    ToolCallReceipt,
    ToolObservation,
    ToolOutcome,
)
from contracts.skills.invocation import InvocationStatus
from contracts.skills.invocation_work import InvocationRecord
from domain.learning.interpretation.meaningful import observed_tool_call
from domain.skills.normalising import safety_class_of
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.platform.blobs import get_blob
from stores.platform.database import Database
from stores.skills.invocation_rows import find_invocation

_SERVER = "skills"
_DONE = frozenset({InvocationStatus.SUCCESS, InvocationStatus.PARTIAL})
_SHOWN_NAMES = 50


class SkillObserver:
    """Reports ended runs to the watching session. Idempotent: a run is one event."""

    def __init__(self, database: Database, sessions: SessionStore, observations: ObservationLog) -> None:
        self._database = database
        self._sessions = sessions
        self._observations = observations

    def observe(self, invocation_id: str) -> bool:
        """Whether a session was shown the run. One that watches no more, or is another's, is shown nothing."""
        with self._database.read() as connection:
            kept = find_invocation(connection, invocation_id)
            if kept is None or kept.record.completed_at is None or not kept.record.attempts:
                return False
            record = kept.record
            session_id = record.order.context.learn_session_id if record.order.context is not None else None
            if session_id is None:
                return False
            given = json.loads(get_blob(connection, record.order.input_digest))
        receipt = _receipt(record, tuple(given))
        try:
            session = self._sessions.owned(session_id, record.owner).session
            event = observed_tool_call(receipt, session, ObservationAdapterKind.WRAPPER_RECEIPT)
            if event is None:
                return False
            self._observations.ingest(session_id, [event])
        except Refusal:
            # The session has ended, or was never the caller's: the run itself has nothing to do with that.
            return False
        return True


def _receipt(record: InvocationRecord, names: tuple[str, ...]) -> ToolCallReceipt:
    order = record.order
    assert record.completed_at is not None, "only ended runs are reported"
    return ToolCallReceipt(
        receipt_id=record.invocation_id,
        server_id=_SERVER,
        tool_name=order.function_name,
        tool_title=order.skill,
        effect=order.effect,
        outcome=ToolOutcome.OK if record.status in _DONE else ToolOutcome.FAILED,
        control_surface=ControlSurface.WRAPPER_SCRIPT,
        argument_names=tuple(clipped(name, 80) for name in names[:_SHOWN_NAMES]),
        tool=ToolObservation(safety_class=safety_class_of(record.manifest.safety_level)),
        finished_at=record.completed_at,
    )
