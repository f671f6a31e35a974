"""Ends a tool call in one transaction: final row, receipts, outcome for the ability's health.

Reports an ended call to a watching learning session: names and outcome only (DOC3 §0A.10).
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy import Connection, select

from contracts.abilities.capability_health import CapabilityOutcome, OutcomeKind
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolCallReceipt, ToolEffect, ToolObservation, ToolOutcome
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES, DispatchStatus
from contracts.mcp.dispatch_work import DispatchRecord, DispatchStanding, EndOrder
from domain.abilities.execution_traces import captures_traces
from domain.learning.interpretation.meaningful import observed_tool_call
from domain.mcp.use_receipts import identity_of
from stores.abilities.ability_rows import manifest_of
from stores.abilities.capability_health import apply_outcome
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.mcp.dispatch.argument_rows import with_masked_arguments
from stores.mcp.dispatch.rows import StoredDispatch, change_dispatch, end_entries, find_dispatch
from stores.mcp.mcp_tables import PROFILES
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, append
from stores.platform.tables import capabilities

_OUTCOMES = UUID("2c0f6d1e-6f3f-4d6e-9b0a-6d7f2f6a9c41")
"""The namespace of the ids of the outcomes that calls report of their ability's capability."""

_TRIED = frozenset({DispatchStatus.COMPLETED, DispatchStatus.FAILED, DispatchStatus.OUTCOME_UNKNOWN})

_THE_SERVERS_OWN = frozenset({ErrorCode.MCP_RATE_LIMITED.value, ErrorCode.MCP_SERVER_UNREACHABLE.value})
"""Errors of the server, with nothing executed: its own health already counts for the capabilities that need it, and
rate limiting quarantines nothing (DOC3 §9.18)."""


def settle(
    connection: Connection,
    kept: StoredDispatch,
    ended: DispatchRecord,
    now: datetime,
    entries: Sequence[JournalDraft] = (),
    *,
    given_up: EndOrder | None = None,
) -> StoredDispatch:
    """Writes the end of a call; ``entries`` are appended to the journal with it.

    A call that was ``given_up`` does not count for the health of its ability.

    Raises:
        Refusal: ``CONFLICT`` when the call has changed since it was read.
    """
    final = ended.changed(updated_at=now, completed_at=now, held_since=None, waits_until=None)
    final = with_masked_arguments(connection, final)
    profile = _profile(connection, final)
    if final.attempts > 0:
        kind, ref = identity_of(final, profile)
        final = final.changed(identity_asserted_kind=kind, identity_asserted_ref=ref)
    ability_id = final.order.ability_id
    traced = ability_id is None or captures_traces(manifest_of(connection, ability_id))
    receipt_id, receipts = end_entries(final, now, profile, given_up, traced=traced)
    settled = change_dispatch(connection, kept, final.changed(receipt_id=receipt_id))
    learned = _outcome(connection, final, now) if given_up is None else ()
    append(connection, [*entries, *receipts, *learned])
    return settled


def failed_record(
    record: DispatchRecord, status: DispatchStatus, code: ErrorCode, message: str, next_action: str | None
) -> DispatchRecord:
    """The record with its end and what to do about it."""
    return record.changed(
        status=status, error_code=code.value, error_message=clipped(message, 1_000), next_action=next_action
    )


def tool_call_receipt(
    record: DispatchRecord, profile: MCPAuthProfile | None = None
) -> ToolCallReceipt | None:
    """What a watching session may see of a call; ``None`` where none watches or the call has not ended.

    ``profile`` is the sign-in that the call was made with.
    """
    if record.order.learn_session_id is None or record.completed_at is None:
        return None
    return ToolCallReceipt(
        receipt_id=record.dispatch_id,
        server_id=clipped(record.order.server_id, 80),
        tool_name=record.order.tool_name,
        effect=record.effect or ToolEffect.UPDATE,
        outcome=_seen(record),
        argument_names=record.order.argument_names,
        tool=ToolObservation(
            definition_hash=record.definition_hash, scopes=profile.scopes[:50] if profile is not None else ()
        ),
        finished_at=record.completed_at,
    )


def _seen(record: DispatchRecord) -> ToolOutcome:
    match record.status:
        case DispatchStatus.COMPLETED if not record.is_error:
            return ToolOutcome.OK
        case (
            DispatchStatus.BLOCKED | DispatchStatus.DENIED | DispatchStatus.EXPIRED | DispatchStatus.CANCELLED
        ):
            return ToolOutcome.BLOCKED
        case _:
            return ToolOutcome.FAILED


def _profile(connection: Connection, record: DispatchRecord) -> MCPAuthProfile | None:
    if record.auth_profile_id is None:
        return None
    return PROFILES.find(connection, record.auth_profile_id, owner=record.owner)


def _outcome(connection: Connection, record: DispatchRecord, now: datetime) -> tuple[JournalDraft, ...]:
    """What the health of the ability's capability learns; nothing where nothing was tried."""
    ability_id = record.order.ability_id
    if ability_id is None or record.status not in _TRIED or record.error_code in _THE_SERVERS_OWN:
        return ()
    query = select(capabilities.c.capability_id).where(capabilities.c.ability_id == ability_id)
    capability_id = connection.scalar(query)
    if capability_id is None:
        return ()
    success = record.status is DispatchStatus.COMPLETED and not record.is_error
    outcome = CapabilityOutcome(
        outcome_id=str(uuid5(_OUTCOMES, record.dispatch_id)),
        capability_id=capability_id,
        kind=OutcomeKind.USE,
        success=success,
        failure_fingerprint=None if success else _fingerprint(record),
        summary=clipped(f"{record.order.tool_name} at {record.order.server_id}: {record.status.value}", 500),
        reported_by=record.owner,
        happened_at=now,
    )
    return apply_outcome(connection, outcome, record.order.correlation_id)


def _fingerprint(record: DispatchRecord) -> str:
    return clipped(
        f"{record.order.server_id}/{record.order.tool_name}:{record.error_code or 'is_error'}", 160
    )


class DispatchObserver:
    """Reports ended calls to the watching session. Idempotent: a call is one event."""

    def __init__(self, database: Database, sessions: SessionStore, observations: ObservationLog) -> None:
        self._database = database
        self._sessions = sessions
        self._observations = observations

    def observe(self, standing: DispatchStanding) -> bool:
        """Whether a session was shown the call. One that watches no more, or is another's, is shown nothing."""
        if standing.status in OPEN_DISPATCH_STATUSES or not standing.watched:
            return False
        with self._database.read() as connection:
            kept = find_dispatch(connection, standing.dispatch_id)
            profile = _profile(connection, kept.record) if kept is not None else None
        receipt = tool_call_receipt(kept.record, profile) if kept is not None else None
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
