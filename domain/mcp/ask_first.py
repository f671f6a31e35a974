"""The rules of an approval: whether it can be answered now, and how it is shown (DOC3 L2443-2466)."""

from datetime import datetime

from contracts.errors import ErrorCode, Refusal
from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.ask_first import decided_by, expired
from contracts.mcp.dispatch import AskFirstDecision, AskFirstStatus, DispatchStatus, MCPAskFirstDispatchRecord
from contracts.mcp.dispatch_record import DispatchRecord
from domain.mcp.always_asked import CODE as ALWAYS_ASKED_CODE
from domain.mcp.grant_rules import may_be_granted, scope_of


def undecidable(record: DispatchRecord, now: datetime) -> Refusal | None:
    """Why nobody can answer about a call any more; ``None`` while it waits."""
    ask_first = record.ask_first
    if ask_first is None:
        return Refusal(
            ErrorCode.CONFLICT,
            f"The call waits for nobody: it is {record.status.value}.",
            current_state=record.status.value,
        )
    if ask_first.status is AskFirstStatus.EXPIRED or (
        record.status is DispatchStatus.PENDING_APPROVAL and now >= ask_first.expires_at
    ):
        return expired(ask_first.expires_at)
    if ask_first.status is AskFirstStatus.PENDING:
        return None
    return decided_by(ask_first.approved_by, ask_first.decided_at or ask_first.updated_at, ask_first.status)


def as_of(found: MCPAskFirstDispatchRecord, now: datetime) -> MCPAskFirstDispatchRecord:
    """The approval as it has to be shown: one whose time has run out is expired, even before it is written."""
    if found.status is AskFirstStatus.PENDING and now >= found.expires_at:
        return found.model_copy(update={"status": AskFirstStatus.EXPIRED})
    return found


def unseen(record: DispatchRecord, arguments: str | None, definition: str | None) -> Refusal | None:
    """Why an answer does not count: what waits is not what its giver looked at. ``None`` where nothing was named.

    ``arguments`` is the digest of what was looked at, ``definition`` the hash of the tool.
    """
    waiting = record.ask_first
    if waiting is None:
        return None
    if arguments is not None and arguments != waiting.arguments_digest:
        return _not_that("arguments_digest", "other arguments")
    if definition is not None and definition != waiting.tool_definition_hash:
        return _not_that("tool_definition_hash", "the tool as it is now")
    return None


def _not_that(field: str, what: str) -> Refusal:
    return Refusal(
        ErrorCode.CONFLICT,
        f"You looked at something else: the call waits with {what}. Read it again, then answer.",
        fields=[field],
    )


def scope_problem(decision: AskFirstDecision, record: DispatchRecord) -> Refusal | None:
    """Why a call cannot be approved beyond itself; ``None`` where it can, or is not to be."""
    caller = record.order.caller
    if decision is AskFirstDecision.APPROVE_UNTIL_END_OF_TURN and caller.turn_ref is None:
        return _no_scope("turn")
    if decision is AskFirstDecision.APPROVE_FOR_SESSION and caller.session_ref is None:
        return _no_scope("session")
    scope = scope_of(decision)
    if scope is not None and not may_be_granted(record.effect or ToolEffect.UPDATE, scope):
        return Refusal(
            ErrorCode.VALIDATION_FAILED,
            "What this tool does cannot be taken back: approve it once, or for one turn.",
            fields=["decision"],
        )
    return None


def answers_taken(record: DispatchRecord, now: datetime) -> tuple[AskFirstDecision, ...]:
    """What a person may answer about a call now; nothing where nobody is asked."""
    if undecidable(record, now) is not None:
        return ()
    each_time = record.verdict is not None and record.verdict.reason_code == ALWAYS_ASKED_CODE
    return tuple(
        decision
        for decision in AskFirstDecision
        if scope_problem(decision, record) is None and not (each_time and scope_of(decision) is not None)
    )


def _no_scope(what: str) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"The call named no {what} that an approval could last for; approve it once.",
        fields=["decision"],
    )
