"""Approval rules: whether a call can be answered now, how it is shown, and the re-check before it is sent.

DOC3 L2443-2466; ADR 15.
"""

from dataclasses import dataclass
from datetime import datetime

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import (
    AskFirstDecision,
    AskFirstStatus,
    DispatchStatus,
    MCPAskFirstDispatchRecord,
    decided_by,
    expired,
)
from contracts.mcp.dispatch_work import DispatchRecord
from contracts.mcp.policy import MCPPolicyMode, MCPPolicyVerdict
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from domain.mcp.policy import ALWAYS_ASKED_CODE
from domain.mcp.policy_facts import may_be_granted, scope_of

APPROVED = frozenset(
    {
        AskFirstStatus.APPROVED_ONCE,
        AskFirstStatus.APPROVED_UNTIL_END_OF_TURN,
        AskFirstStatus.APPROVED_FOR_SESSION,
    }
)
"""How an approval stands whose call a person let pass."""


@dataclass(frozen=True)
class Pass:
    """It may be made."""


@dataclass(frozen=True)
class Ask:
    """A person has to be asked first."""


@dataclass(frozen=True)
class Block:
    """It may not be made, and why."""

    code: ErrorCode
    message: str
    next_action: str


Permit = Pass | Ask | Block


def permit(
    record: DispatchRecord,
    server: MCPServerRegistryEntry,
    tool: MCPTool | None,
    verdict: MCPPolicyVerdict,
    *,
    grant_revoked: bool = False,
) -> Permit:
    """Looks at a call with the server, the tool and the verdict as they are now.

    What a person approved is exactly one call: its arguments, the tool as it was then. ``grant_revoked`` says
    that the standing approval which came with this call's own was taken back since.
    """
    if not server.enabled:
        return Block(
            ErrorCode.MCP_SERVER_DISABLED,
            "The server is disabled; nothing was sent.",
            "Enable the server, then make the call again.",
        )
    if tool is None or tool.state is MCPToolState.REMOVED:
        return Block(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            "The server offers no such tool; nothing was sent.",
            "Discover the server's tools again with its smoke test.",
        )
    if verdict.mode is MCPPolicyMode.DISABLED:
        return Block(
            ErrorCode.MCP_POLICY_BLOCKED,
            f"Policy does not let this call pass ({verdict.reason_code}); nothing was sent.",
            "`apprentice mcp show` says which rule decided; change that policy where it is wrong.",
        )
    ask_first = record.ask_first
    if ask_first is None or ask_first.status not in APPROVED:
        return Ask() if verdict.mode is MCPPolicyMode.ASK_FIRST else Pass()
    if grant_revoked:
        return Block(
            ErrorCode.MCP_POLICY_BLOCKED,
            "The approval was taken back before the call was made; nothing was sent.",
            "Make the call again and approve it anew.",
        )
    if ask_first.tool_definition_hash != tool.definition_hash:
        return Block(
            ErrorCode.MCP_TOOL_CHANGED,
            "The tool is not the one any more that was approved; nothing was sent.",
            look_at_change(server.server_id, tool.definition.tool_name),
        )
    if ask_first.arguments_digest != record.arguments_digest:
        return Block(
            ErrorCode.MCP_POLICY_BLOCKED,
            "The arguments are not those that were approved; nothing was sent.",
            "Make the call again.",
        )
    return Pass()


def look_at_change(server_id: str, tool_name: str) -> str:
    """What to do about a call that was not sent because its tool is another than it was let pass for."""
    return clipped(
        f"Look at what changed (`apprentice mcp tools show {server_id} {tool_name}`), then make the call again.",
        240,
    )


def undecidable(record: DispatchRecord, now: datetime) -> Refusal | None:
    """Why a call can no longer be answered; ``None`` while it waits."""
    ask_first = record.ask_first
    if ask_first is None:
        return Refusal(
            ErrorCode.CONFLICT,
            f"The call waits for nobody: it is {record.status.value}.",
            current_state=record.status.value,
            retryable=False,
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
        return found.changed(status=AskFirstStatus.EXPIRED)
    return found


def bound_to_seen(record: DispatchRecord, definition: str | None, tool: MCPTool | None) -> DispatchRecord:
    """The call of the tool as it is now, where ``definition``, which its approver looked at, is that one's hash."""
    waiting = record.ask_first
    if waiting is None or tool is None or definition != tool.definition_hash:
        return record
    return record.changed(
        effect=tool.effect,
        definition_hash=tool.definition_hash,
        ask_first=waiting.changed(tool_definition_hash=tool.definition_hash),
    )


def changed_since(record: DispatchRecord, tool: MCPTool | None) -> Refusal | None:
    """Why a call cannot be approved whose tool, ``tool`` as it is now, is another than it was asked for with.

    ``None`` where it is the same, and where there is none any more: such a call is blocked as it is sent.
    """
    waiting = record.ask_first
    if waiting is None or tool is None or tool.definition_hash == waiting.tool_definition_hash:
        return None
    return Refusal(
        ErrorCode.MCP_TOOL_CHANGED,
        "The definition of the call's tool has changed since it was asked for; nothing was approved. See what it is "
        f"now, and approve that: `apprentice mcp show {record.dispatch_id}`.",
        server_id=record.order.server_id,
        tool_name=record.order.tool_name,
        definition_hash=tool.definition_hash,
    )


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
        retryable=False,
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
    """What a person may answer about a call now; empty where no approval is asked."""
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
