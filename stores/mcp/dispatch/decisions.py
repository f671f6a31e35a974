"""Decisions on pending calls: approve, edit, deny; cancellation and expiry. The first answer wins."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection
from uuid_utils import uuid7

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import (
    STATUS_AFTER,
    AskFirstDecision,
    AskFirstStatus,
    DispatchStatus,
    GrantScope,
    MCPAskFirstDecisionResponse,
    MCPGrant,
)
from contracts.mcp.dispatch_work import (
    DecideOrder,
    DecisionTaken,
    DispatchRecord,
    DispatchStanding,
    EndCause,
    EndOrder,
)
from contracts.mcp.receipts import MCPReceiptKind
from domain.mcp.approvals import bound_to_seen, changed_since, scope_problem, undecidable, unseen
from domain.mcp.policy_facts import grant_expiry, scope_of
from stores.mcp.dispatch.attempt_rows import CallPlan, plan_ahead
from stores.mcp.dispatch.rows import (
    StoredDispatch,
    change_dispatch,
    dispatch_receipt,
    read_dispatch,
    waiting_ids,
)
from stores.mcp.dispatch.settling import settle
from stores.mcp.mcp_tables import GRANTS
from stores.mcp.servers.tools import pin_seen, tool_of
from stores.platform.answers import answered
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, append

MOST_RELEASED = 200
"""The most pending calls that one standing approval re-checks."""


class DispatchDecisions:
    """Answers about calls that wait. Safe to share between threads."""

    def __init__(self, database: Database, *, ask_first_expiry: timedelta) -> None:
        self._database = database
        self._expiry = ask_first_expiry

    def decide(
        self, order: DecideOrder, planned: Callable[[CallPlan], object] | None = None
    ) -> DecisionTaken:
        """One answer; the same key again gets what it got the first time.

        ``planned`` is given the plan of a call that the answer lets pass, and nothing when the key was known.

        Raises:
            Refusal: ``MCP_ASK_FIRST_DECIDED``, ``MCP_ASK_FIRST_EXPIRED``, ``MCP_TOOL_CHANGED``, ``CONFLICT``,
                ``VALIDATION_FAILED``, ``MCP_DISPATCH_NOT_FOUND``, ``IDEMPOTENCY_KEY_REUSED``.
        """
        return answered(
            self._database,
            order.commit_key,
            DecisionTaken,
            lambda connection: self._decided(connection, order, planned),
        )

    def end(self, order: EndOrder) -> DispatchStanding:
        """Gives up a call that has not been made: expired, or cancelled. One that has ended stays as it is."""
        at = order.at or datetime.now(UTC)
        with self._database.write() as connection:
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            record = kept.record
            if record.status is not DispatchStatus.PENDING_APPROVAL:
                return kept.standing()
            return self.give_up(connection, kept, order, at).standing()

    def give_up(
        self, connection: Connection, kept: StoredDispatch, order: EndOrder, at: datetime
    ) -> StoredDispatch:
        """Ends a call of which surely nothing was sent, in the caller's transaction."""
        expired = order.cause is EndCause.EXPIRED
        record, waiting = kept.record, kept.record.ask_first
        if waiting is not None and waiting.status is AskFirstStatus.PENDING:
            closed = waiting.changed(
                status=AskFirstStatus.EXPIRED if expired else AskFirstStatus.CANCELLED,
                decision_reason=order.reason,
                approved_by=None,
                decided_at=at,
                updated_at=at,
            )
            record = record.changed(ask_first=closed)
        ended = record.changed(
            status=DispatchStatus.EXPIRED if expired else DispatchStatus.CANCELLED,
            error_code=ErrorCode.MCP_ASK_FIRST_EXPIRED.value if expired else None,
            error_message="Nobody answered in time; nothing was sent."
            if expired
            else clipped(f"{why_given_up(order)}; nothing was sent.", 1_000),
            next_action="Make the call again to be asked again." if expired else None,
        )
        entries: list[JournalDraft] = []
        if record.ask_first is not None and record.ask_first is not waiting:
            said = "Expired" if expired else "Cancelled"
            _, entry = dispatch_receipt(
                ended,
                MCPReceiptKind.ASK_FIRST_DECISION,
                f"{said} before an answer: {record.order.request_summary}",
                at,
                actor=order.by,
            )
            entries.append(entry)
        return settle(connection, kept, ended, at, entries, given_up=None if expired else order)

    def _decided(
        self, connection: Connection, order: DecideOrder, planned: Callable[[CallPlan], object] | None
    ) -> DecisionTaken:
        at = order.at or datetime.now(UTC)
        kept = read_dispatch(connection, order.dispatch_id, lock=True)
        tool = tool_of(connection, kept.record.order.server_id, kept.record.order.tool_name)
        kept = StoredDispatch(bound_to_seen(kept.record, order.seen_definition, tool), kept.version)
        denies = order.decision is AskFirstDecision.DENY
        refusal = (
            undecidable(kept.record, at)
            or (None if denies else changed_since(kept.record, tool))
            or unseen(kept.record, order.seen_arguments, order.seen_definition)
            or scope_problem(order.decision, kept.record)
        )
        if refusal is not None:
            raise refusal
        if denies:
            return self._denied(connection, kept, order, at)
        return self._approved(connection, kept, order, at, planned)

    def _denied(
        self, connection: Connection, kept: StoredDispatch, order: DecideOrder, at: datetime
    ) -> DecisionTaken:
        record = _answered(kept.record, order, at).changed(
            status=DispatchStatus.DENIED,
            error_code=ErrorCode.MCP_POLICY_BLOCKED.value,
            error_message=clipped(
                f"{order.decided_by} denied the call{_because(order.reason)}; nothing was sent.", 1_000
            ),
            next_action=None if order.reason else "Ask why before you make this call again.",
        )
        receipt_id, entry = dispatch_receipt(
            record,
            MCPReceiptKind.ASK_FIRST_DECISION,
            f"Denied: {record.order.request_summary}",
            at,
            actor=order.decided_by,
        )
        settled = settle(connection, kept, record, at, [entry])
        return _taken(settled, receipt_id, resumed=False)

    def _approved(
        self,
        connection: Connection,
        kept: StoredDispatch,
        order: DecideOrder,
        at: datetime,
        planned: Callable[[CallPlan], object] | None,
    ) -> DecisionTaken:
        record = _answered(kept.record, order, at).changed(status=DispatchStatus.RUNNING)
        if order.seen_definition is not None:
            pin_seen(connection, record.order.server_id, record.order.tool_name, order.seen_definition, at)
        grant = self._grant(record, order, at)
        siblings: tuple[str, ...] = ()
        if grant is not None:
            GRANTS.add_if_absent(connection, grant)
            found = waiting_ids(
                connection,
                record.owner,
                server_id=record.order.server_id,
                tool_name=record.order.tool_name,
                now=at,
                limit=MOST_RELEASED,
            )
            siblings = tuple(one for one in found if one != record.dispatch_id)
        edited = ", with other arguments than asked" if order.edited is not None else ""
        how = STATUS_AFTER[order.decision].value.replace("_", " ")
        receipt_id, entry = dispatch_receipt(
            record,
            MCPReceiptKind.ASK_FIRST_DECISION,
            f"{how.capitalize()}{edited}: {record.order.request_summary}",
            at,
            actor=order.decided_by,
        )
        append(connection, [entry])
        plan_ahead(connection, record, at, planned)
        return _taken(change_dispatch(connection, kept, record), receipt_id, resumed=True, siblings=siblings)

    def _grant(self, record: DispatchRecord, order: DecideOrder, at: datetime) -> MCPGrant | None:
        scope = scope_of(order.decision)
        if scope is None:
            return None
        caller = record.order.caller
        ref = caller.turn_ref if scope is GrantScope.END_OF_TURN else caller.session_ref
        return MCPGrant(
            grant_id=str(uuid7()),
            owner_user_id=record.owner,
            dispatch_id=record.dispatch_id,
            server_id=record.order.server_id,
            tool_name=record.order.tool_name,
            tool_definition_hash=record.definition_hash,
            scope=scope,
            scope_ref=ref or "",
            token_id=caller.token_id,
            runtime=caller.runtime,
            granted_by=order.decided_by,
            created_at=at,
            expires_at=grant_expiry(scope, at, self._expiry),
        )


def why_given_up(order: EndOrder) -> str:
    """The actor and reason of a cancellation: the beginning of a sentence."""
    return f"{order.by or 'Somebody'} gave the call up{_because(order.reason)}"


def _because(reason: str | None) -> str:
    return f" ({reason})" if reason else ""


def _answered(record: DispatchRecord, order: DecideOrder, at: datetime) -> DispatchRecord:
    """The record with the decision; edited arguments replace the requested ones."""
    waiting = record.ask_first
    if waiting is None:
        raise Refusal(ErrorCode.CONFLICT, "The call waits for nobody.", retryable=False)
    said: dict[str, object] = {
        "status": STATUS_AFTER[order.decision],
        "decision_reason": order.reason,
        "approved_by": order.decided_by,
        "decided_at": at,
        "updated_at": at,
    }
    edited = order.edited
    changed: dict[str, object] = {"updated_at": at}
    if edited is not None and edited.digest != record.arguments_digest:
        said |= {
            "arguments_digest": edited.digest,
            "edited_from_digest": record.arguments_digest,
            "request_payload_ref": f"blob:{edited.digest}",
        }
        changed |= {"arguments_digest": edited.digest, "arguments_kept": edited.kept}
    return record.changed(**changed, ask_first=waiting.changed(**said))


def _taken(
    kept: StoredDispatch, receipt_id: str, *, resumed: bool, siblings: tuple[str, ...] = ()
) -> DecisionTaken:
    ask_first = kept.record.ask_first
    if ask_first is None:
        raise Refusal(ErrorCode.CONFLICT, "The call waits for nobody.", retryable=False)
    return DecisionTaken(
        standing=kept.standing(),
        response=MCPAskFirstDecisionResponse(dispatch=ask_first, resumed=resumed, receipt_id=receipt_id),
        siblings=siblings,
    )
