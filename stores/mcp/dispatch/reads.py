"""Reads tool calls: one, a page, pending approvals, calls held back for a server, open calls of an ability.

Also records answers that came too late, so that an audit shows every answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, not_, select

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.capability_manifest import HealthStatus
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    AskFirstDecision,
    AskFirstStatus,
    DispatchListResponse,
    DispatchStatus,
    DispatchView,
    MCPAskFirstPendingListResponse,
    expired,
)
from contracts.mcp.dispatch_work import DispatchOrder, DispatchRecord
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.workflow_ids import mcp_dispatch_id
from domain.mcp.approvals import answers_taken, as_of, undecidable
from domain.mcp.call_outcomes import withdrawn_because
from domain.mcp.use_receipts import action_class
from stores.mcp.dispatch.argument_rows import arguments_of
from stores.mcp.dispatch.askers import askers_of
from stores.mcp.dispatch.attempt_rows import has_retry_after, newest_answer
from stores.mcp.dispatch.rows import (
    OPEN_STATUSES,
    StoredDispatch,
    find_dispatch,
    open_ids_of_ability,
    paused_records,
    read_dispatch,
    receipt_context,
)
from stores.mcp.mcp_tables import DISPATCHES
from stores.mcp.mcp_tables import mcp_dispatches as table
from stores.mcp.receipts import receipt
from stores.mcp.servers.health import is_open
from stores.mcp.servers.m365_operations import typed_answer
from stores.platform.blobs import BlobNotFoundError
from stores.platform.database import Database, PageRequest
from stores.platform.journal.journal import append
from stores.platform.tables import abilities, capabilities

SHOWN_AFTER_EXPIRY = timedelta(hours=24)
"""How long an expired approval is still listed among the pending ones."""

MOST_EXPIRED = 500
"""The most expired approvals in one answer: the newest."""

_NEWEST_FIRST = (table.c.created_at.desc(), table.c.dispatch_id.desc())

LinkOf = Callable[[str], str | None]
"""The page of a call's workflow in the Temporal UI, where its address is known."""


class DispatchStore:
    """Reads calls for the API. Safe to share between threads."""

    def __init__(self, database: Database, link_of: LinkOf = lambda _: None) -> None:
        self._database = database
        self._link_of = link_of

    def owned(self, dispatch_id: str, owner: str) -> StoredDispatch:
        """One of the owner's calls.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return read_dispatch(connection, dispatch_id, owner)

    def find(self, dispatch_id: str) -> StoredDispatch | None:
        """A call of any owner."""
        with self._database.read() as connection:
            return find_dispatch(connection, dispatch_id)

    def view(self, dispatch_id: str, owner: str, now: datetime) -> DispatchView:
        """One of the owner's calls with what was asked and what was answered.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``.
        """
        with self._database.read() as connection:
            found = read_dispatch(connection, dispatch_id, owner)
            arguments = _arguments(connection, found.record)
            done = found.record.status is DispatchStatus.COMPLETED
            result = newest_answer(connection, dispatch_id) if done else None
            m365 = typed_answer(connection, found.record, arguments, result)
            asker = askers_of(connection, [found.record])[dispatch_id]
        shown = self._shown(found.record, now)
        return shown.changed(arguments=arguments, result=result, m365=m365, asked_by=asker)

    def list_for(
        self,
        owner: str,
        wanted: PageRequest,
        now: datetime,
        *,
        statuses: Sequence[DispatchStatus] = (),
        decided: bool | None = None,
        server_id: str | None = None,
        tool_name: str | None = None,
    ) -> DispatchListResponse:
        """The owner's calls, newest first, without what was asked and answered.

        ``decided``: of those that a person was asked about, the answered and expired ones, or those that wait.
        """
        wishes = ((table.c.server_id, server_id), (table.c.tool_name, tool_name))
        where: list[ColumnElement[bool]] = [column == value for column, value in wishes if value is not None]
        if statuses:
            where.append(table.c.status.in_([status.value for status in statuses]))
        if decided is not None:
            waits = and_(
                table.c.status == DispatchStatus.PENDING_APPROVAL.value, table.c.expires_at > rfc3339(now)
            )
            where.append(and_(table.c.expires_at.is_not(None), not_(waits)) if decided else waits)
        with self._database.read() as connection:
            page = DISPATCHES.page(connection, wanted, table.c.owner == owner, *where, order_by=_NEWEST_FIRST)
            askers = askers_of(connection, page.documents)
        shown = (
            self._shown(record, now).changed(asked_by=askers[record.dispatch_id]) for record in page.documents
        )
        return DispatchListResponse(dispatches=tuple(shown), **page.counts)

    def pending(self, owner: str, now: datetime) -> MCPAskFirstPendingListResponse:
        """The approvals that wait, and the newest of those that expired within a day, newest first.

        How many wait is bounded by the calls that an owner may have open.
        """
        waiting = table.c.status == DispatchStatus.PENDING_APPROVAL.value
        over = (
            table.c.status == DispatchStatus.EXPIRED.value,
            table.c.expires_at > rfc3339(now - SHOWN_AFTER_EXPIRY),
        )
        of_owner = table.c.owner == owner
        with self._database.read() as connection:
            records = [
                *DISPATCHES.all(connection, of_owner, waiting, order_by=_NEWEST_FIRST),
                *DISPATCHES.all(connection, of_owner, *over, order_by=_NEWEST_FIRST, limit=MOST_EXPIRED),
            ]
            askers = askers_of(connection, records)
        asked = [
            one.ask_first.changed(asked_by=askers[one.dispatch_id])
            for one in records
            if one.ask_first is not None
        ]
        asked.sort(key=lambda one: (one.created_at, one.dispatch_id), reverse=True)
        return MCPAskFirstPendingListResponse(dispatches=tuple(as_of(one, now) for one in asked))

    def open_records(self) -> tuple[DispatchRecord, ...]:
        """Every open call (running or pending) of every owner."""
        with self._database.read() as connection:
            return DISPATCHES.all(
                connection, table.c.status.in_(OPEN_STATUSES), order_by=(table.c.dispatch_id,)
            )

    def unheard_answers(self, until: datetime) -> tuple[DispatchOrder, ...]:
        """The calls of every owner that were let pass until then, and of which nothing has been heard since."""
        running = table.c.status == DispatchStatus.RUNNING.value
        with self._database.read() as connection:
            records = DISPATCHES.all(connection, running, order_by=(table.c.dispatch_id,))
        return tuple(one.order for one in records if one.answer_is_newest and one.updated_at <= until)

    def _shown(self, record: DispatchRecord, now: datetime) -> DispatchView:
        order = record.order
        ask_first = as_of(record.ask_first, now) if record.ask_first is not None else None
        overdue = record.status is DispatchStatus.PENDING_APPROVAL and (
            ask_first is not None and ask_first.status is AskFirstStatus.EXPIRED
        )
        return DispatchView(
            dispatch_id=order.dispatch_id,
            correlation_id=order.correlation_id,
            status=DispatchStatus.EXPIRED if overdue else record.status,
            server_id=order.server_id,
            tool_name=order.tool_name,
            caller=order.caller,
            request_summary=order.request_summary,
            arguments_digest=record.arguments_digest,
            project_id=order.project_id,
            data_class=order.data_class,
            provider=record.provider,
            action_class=action_class(order.tool_name, record.effect) if record.effect is not None else None,
            learn_session_id=order.learn_session_id,
            ability_id=order.ability_id,
            verdict=record.verdict,
            ask_first=ask_first,
            answers=answers_taken(record, now),
            attempts=record.attempts,
            is_error=record.is_error,
            result_digest=record.result_digest,
            error_code=ErrorCode.MCP_ASK_FIRST_EXPIRED.value if overdue else record.error_code,
            error_message=expired(None).message if overdue else record.error_message,
            next_action=record.next_action,
            waits_until=record.waits_until,
            identity_asserted_kind=record.identity_asserted_kind,
            identity_asserted_ref=record.identity_asserted_ref,
            receipt_id=record.receipt_id,
            temporal_url=self._link_of(mcp_dispatch_id(order.dispatch_id)),
            created_at=order.created_at,
            updated_at=record.updated_at,
            completed_at=record.completed_at,
        )


def _arguments(connection: Connection, record: DispatchRecord) -> dict[str, Any] | None:
    try:
        return arguments_of(connection, record)
    except BlobNotFoundError:
        return None


def record_late_answer(
    database: Database,
    dispatch_id: str,
    decision: AskFirstDecision,
    by: str,
    refusal: Refusal,
    at: datetime,
) -> Refusal:
    """Writes a receipt of an answer by ``by`` that came too late, with the reason; an unknown call is ignored.

    Returns the refusal as the store has it: of several at once the workflow may have named one that did not win.
    """
    with database.write() as connection:
        kept = find_dispatch(connection, dispatch_id)
        if kept is None:
            return refusal
        refusal = undecidable(kept.record, at) or refusal
        wanted = decision.value.replace("_", " ")
        _, entry = receipt(
            receipt_context(kept.record, at, by),
            MCPReceiptKind.ASK_FIRST_LATE,
            MCPReceiptStatus.BLOCKED,
            f"Came too late: {by} answered {wanted!r}. {refusal.message}",
            server_id=kept.record.order.server_id,
            dispatch_id=dispatch_id,
        )
        append(connection, [entry])
    return refusal


class HeldCalls:
    """Only reads. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_server(self, server_id: str, limit: int) -> tuple[str, ...]:
        """Up to ``limit`` calls that wait only because of the server's health, the oldest first.

        A call whose last attempt got a Retry-After is excluded: it waits until then.
        """
        with self._database.read() as connection:
            found = (
                record.dispatch_id
                for record in paused_records(connection, server_id)
                if record.held_since is not None
                or not has_retry_after(connection, record.dispatch_id, record.attempts)
            )
            return tuple(islice(found, limit))

    def may_go(self, server_id: str, now: datetime) -> bool:
        """Whether the server accepts calls at ``now`` without a lease."""
        with self._database.read() as connection:
            return is_open(connection, server_id, now)


@dataclass(frozen=True, slots=True)
class WithdrawnAbility:
    """An ability that is out of use while calls run or wait for it."""

    ability_id: str
    because: str
    dispatch_ids: tuple[str, ...]


class AbilityCalls:
    """Only reads. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_of(self, ability_id: str, until: datetime) -> tuple[str, ...]:
        """The open calls of an ability, of every owner, created until then."""
        with self._database.read() as connection:
            return open_ids_of_ability(connection, ability_id, rfc3339(until))

    def still_open(self, dispatch_ids: Sequence[str]) -> tuple[DispatchOrder, ...]:
        """Those of the calls that run or wait still."""
        with self._database.read() as connection:
            found = [DISPATCHES.find(connection, dispatch_id) for dispatch_id in dispatch_ids]
        return tuple(one.order for one in found if one is not None and one.status in OPEN_DISPATCH_STATUSES)

    def of_withdrawn(self) -> tuple[WithdrawnAbility, ...]:
        """Each ability that a person or its health has taken out of use while it has calls, with these."""
        of_open_calls = select(table.c.ability_id).where(table.c.status.in_(OPEN_STATUSES))
        query = (
            select(abilities.c.ability_id, abilities.c.body, capabilities.c.health)
            .join(capabilities, capabilities.c.ability_id == abilities.c.ability_id, isouter=True)
            .where(abilities.c.ability_id.in_(of_open_calls))
            .order_by(abilities.c.ability_id)
        )
        found: dict[str, WithdrawnAbility] = {}
        with self._database.read() as connection:
            for row in connection.execute(query).all():
                entry = AbilityAvailabilityEntry.model_validate_json(row.body)
                health = HealthStatus(row.health) if row.health is not None else HealthStatus.HEALTHY
                because = withdrawn_because(entry, health)
                if because is not None:
                    calls = open_ids_of_ability(connection, row.ability_id)
                    found[row.ability_id] = WithdrawnAbility(row.ability_id, because, calls)
        return tuple(found.values())
