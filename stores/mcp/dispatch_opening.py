"""How a call begins: kept with its arguments, judged, and let pass, blocked or made to wait."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import AskFirstStatus, DispatchStatus, MCPAskFirstDispatchRecord
from contracts.mcp.dispatch_record import DispatchOrder, DispatchRecord
from contracts.mcp.dispatch_work import DispatchStanding
from contracts.mcp.policy import MCPToolTarget
from contracts.mcp.receipts import MCPReceiptKind
from domain.mcp.dispatch_permits import Ask, Block
from stores.blobs import put_blob
from stores.database import Database
from stores.journal import JournalDraft, append
from stores.mcp.dispatch_entries import dispatch_receipt
from stores.mcp.dispatch_judging import Judged, judged, require_callable
from stores.mcp.dispatch_rows import (
    KeptDispatch,
    add_dispatch,
    change_dispatch,
    find_dispatch,
    open_count,
)
from stores.mcp.dispatch_settling import failed_record, settle


class DispatchOpening:
    """The beginning of calls. Safe to share between threads."""

    def __init__(
        self, database: Database, *, ask_first_expiry: timedelta, open_calls: int, notify: bool
    ) -> None:
        """``open_calls`` is the most that one user may have running and waiting at once; ``notify`` says that
        somebody outside is told of each call that begins to wait.
        """
        self._database = database
        self._expiry = ask_first_expiry
        self._open_calls = open_calls
        self._notify = notify

    def prepare(self, order: DispatchOrder, arguments: bytes) -> KeptDispatch | None:
        """Keeps the arguments of a call that may be made; the call itself where it was asked for before.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``, ``TOO_MANY_REQUESTS``, ``MCP_SERVER_NOT_FOUND``,
                ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``, ``MCP_TOOL_NOT_FOUND``.
        """
        with self._database.write() as connection:
            known = find_dispatch(connection, order.dispatch_id)
            if known is not None:
                if known.record.order.request_digest != order.request_digest:
                    raise Refusal(
                        ErrorCode.IDEMPOTENCY_KEY_REUSED,
                        "This idempotency key was used for a different request; use a new key.",
                    )
                return known
            require_callable(connection, order)
            if open_count(connection, order.caller.user_id) >= self._open_calls:
                raise Refusal(
                    ErrorCode.TOO_MANY_REQUESTS,
                    f"{self._open_calls} of your tool calls run or wait, the most there may be; "
                    "decide about those that wait, or cancel some.",
                    limit=self._open_calls,
                )
            put_blob(connection, arguments, order.created_at)
        return None

    def judge(self, order: DispatchOrder, now: datetime) -> DispatchStanding:
        """The first decision about a call; a call that is known stays as it is."""
        with self._database.write() as connection:
            known = find_dispatch(connection, order.dispatch_id)
            if known is not None:
                return self.standing(known)
            record = DispatchRecord(
                order=order,
                status=DispatchStatus.RUNNING,
                arguments_digest=order.arguments_digest,
                updated_at=now,
            )
            found = judged(connection, record, now)
            record = found.noted_in(record)
            kept = add_dispatch(connection, record)
            return self.standing(self._go_on(connection, kept, found, now))

    def reconsider(self, dispatch_id: str, now: datetime) -> DispatchStanding:
        """Looks again at a call that waits: policy or a standing approval may let it pass, or forbid it."""
        with self._database.write() as connection:
            kept = find_dispatch(connection, dispatch_id)
            if kept is None:
                raise Refusal(ErrorCode.MCP_DISPATCH_NOT_FOUND, "There is no such tool call.")
            record = kept.record
            if record.status is not DispatchStatus.PENDING_APPROVAL or record.ask_first is None:
                return kept.standing()
            found = judged(connection, record, now)
            if isinstance(found.permit, Ask) or now >= record.ask_first.expires_at:
                return kept.standing()
            waited, record = record.ask_first, found.noted_in(record)
            if isinstance(found.permit, Block):
                return _blocked(connection, kept, record, found.permit, now).standing()
            resumed = record.model_copy(
                update={
                    "status": DispatchStatus.RUNNING,
                    "ask_first": waited.model_copy(
                        update={
                            "status": AskFirstStatus.RESUMED,
                            "decision_reason": _why_resumed(found),
                            "decided_at": now,
                            "updated_at": now,
                        }
                    ),
                    "updated_at": now,
                }
            )
            _, entry = dispatch_receipt(
                resumed,
                MCPReceiptKind.ASK_FIRST_DECISION,
                f"Let pass without an answer of its own: {_why_resumed(found)}",
                now,
            )
            append(connection, [entry])
            return change_dispatch(connection, kept, resumed).standing()

    def standing(self, kept: KeptDispatch) -> DispatchStanding:
        """What the call's workflow has to know, and whether somebody is to be told that it waits."""
        return kept.standing(notify=self._notify)

    def ask_anew(
        self, connection: Connection, kept: KeptDispatch, found: Judged, now: datetime
    ) -> KeptDispatch:
        """Makes a call wait that was about to be made, in the caller's transaction."""
        record = waiting_record(found.noted_in(kept.record), now, self._expiry)
        append(connection, [_asked_entry(record, now)])
        return change_dispatch(connection, kept, record)

    def _go_on(
        self, connection: Connection, kept: KeptDispatch, found: Judged, now: datetime
    ) -> KeptDispatch:
        match found.permit:
            case Block() as block:
                return _blocked(connection, kept, kept.record, block, now)
            case Ask():
                return self.ask_anew(connection, kept, found, now)
            case _:
                return kept


def waiting_record(record: DispatchRecord, now: datetime, lasts: timedelta) -> DispatchRecord:
    """The record of a call that begins to wait for a person: bound to what was asked and what is known now."""
    order, verdict = record.order, record.verdict
    target = MCPToolTarget(server_id=order.server_id, tool_name=order.tool_name)
    return record.model_copy(
        update={
            "status": DispatchStatus.PENDING_APPROVAL,
            "updated_at": now,
            "held_since": None,
            "waits_until": None,
            "error_message": None,
            "next_action": None,
            "ask_first": MCPAskFirstDispatchRecord(
                dispatch_id=order.dispatch_id,
                correlation_id=order.correlation_id,
                server_id=order.server_id,
                tool_name=order.tool_name,
                request_summary=order.request_summary,
                request_payload_ref=f"blob:{record.arguments_digest}",
                status=AskFirstStatus.PENDING,
                paused_dispatch_ref=f"mcp-dispatch/{order.dispatch_id}",
                effective_policy_target=verdict.effective.target if verdict is not None else target,
                expires_at=now + lasts,
                created_at=now,
                updated_at=now,
                arguments_digest=record.arguments_digest,
                tool_definition_hash=record.definition_hash,
                policy_version=verdict.policy_version if verdict is not None else 0,
            ),
        }
    )


def _asked_entry(record: DispatchRecord, now: datetime) -> JournalDraft:
    _, entry = dispatch_receipt(
        record, MCPReceiptKind.ASK_FIRST, f"Waits for an approval: {record.order.request_summary}", now
    )
    return entry


def _blocked(
    connection: Connection, kept: KeptDispatch, record: DispatchRecord, block: Block, now: datetime
) -> KeptDispatch:
    if record.ask_first is not None and record.ask_first.status is AskFirstStatus.PENDING:
        closed = record.ask_first.model_copy(
            update={
                "status": AskFirstStatus.DENIED,
                "decision_reason": clipped(block.message, 500),
                "decided_at": now,
                "updated_at": now,
            }
        )
        record = record.model_copy(update={"ask_first": closed})
    ended = failed_record(record, DispatchStatus.BLOCKED, block.code, block.message, block.next_action)
    return settle(connection, kept, ended, now)


def _why_resumed(found: Judged) -> str:
    verdict = found.verdict
    if verdict is not None and verdict.grant_id is not None:
        return "a standing approval covers it now."
    return "policy lets it pass now."
