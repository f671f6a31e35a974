"""How a call begins: kept with its arguments, judged, and let pass, blocked or made to wait.

A call as policy, registry and grants see it now, read within one transaction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.abilities.availability import IMPORTED_FAMILY
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import AskFirstStatus, DispatchStatus, MCPAskFirstDispatchRecord
from contracts.mcp.dispatch_work import DispatchOrder, DispatchRecord, DispatchStanding
from contracts.mcp.health import MCPConnectionHealth
from contracts.mcp.policy import MCPPolicyVerdict, MCPToolTarget
from contracts.mcp.receipts import MCPReceiptKind
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from contracts.workflow_ids import mcp_dispatch_id
from domain.imports.allowed_tools import bounds_of, permits
from domain.mcp.approvals import Ask, Block, Permit, permit
from domain.mcp.call_outcomes import refused_for
from domain.mcp.policy import judge
from domain.mcp.policy_facts import facts_of
from stores.abilities.ability_reads import visible
from stores.abilities.ability_rows import ABILITIES, entry_of, manifest_of
from stores.mcp.dispatch.askers import asker_of
from stores.mcp.dispatch.attempt_rows import CallPlan, plan_ahead
from stores.mcp.dispatch.rows import (
    StoredDispatch,
    add_dispatch,
    change_dispatch,
    dispatch_receipt,
    find_dispatch,
    open_count,
    read_dispatch,
)
from stores.mcp.dispatch.settling import failed_record, settle
from stores.mcp.policy.grants import grants_about
from stores.mcp.policy.policy_rows import policies_of
from stores.mcp.servers.callee import callee_of
from stores.platform.blobs import put_blob
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, append

_GONE: Mapping[ErrorCode, str] = {
    ErrorCode.MCP_SERVER_NOT_FOUND: "Register the server, then make the call again.",
    ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD: "This server is only shown in this build; use another.",
}


@dataclass(frozen=True)
class Judged:
    """What was found of a call. Without server or tool there is no verdict, and the permit is a block."""

    permit: Permit
    server: MCPServerRegistryEntry | None = None
    tool: MCPTool | None = None
    verdict: MCPPolicyVerdict | None = None
    health: MCPConnectionHealth | None = None
    """The server's, as it is stored."""

    def noted_in(self, record: DispatchRecord) -> DispatchRecord:
        """The record with what was found."""
        if self.server is None:
            return record
        found: dict[str, object] = {
            "provider": self.server.provider,
            "auth_profile_id": self.server.auth_profile_id,
        }
        if self.tool is not None:
            found |= {"effect": self.tool.effect, "definition_hash": self.tool.definition_hash}
        if self.verdict is not None:
            found["verdict"] = self.verdict
        return record.changed(**found)


def require_callable(connection: Connection, order: DispatchOrder) -> None:
    """Refuses a call of what is not there, before anything of it is kept.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``, ``MCP_TOOL_NOT_FOUND``,
            ``ABILITY_NOT_FOUND``.
    """
    callee = callee_of(connection, order.server_id, order.tool_name, order.caller.user_id)
    if order.ability_id is not None:
        entry = entry_of(connection, order.ability_id)
        if entry is None or not visible(entry, order.caller.user_id):
            raise ABILITIES.not_found()
    if callee.tool is None or callee.tool.state is MCPToolState.REMOVED:
        raise Refusal(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            f"The server is not known to have a tool {order.tool_name[:60]}; its smoke test discovers its tools.",
        )


def judged(connection: Connection, record: DispatchRecord, now: datetime) -> Judged:
    """Judges the call by what holds now."""
    order = record.order
    try:
        callee = callee_of(connection, order.server_id, order.tool_name, record.owner)
    except Refusal as refusal:
        hint = _GONE.get(refusal.code, "Look at the server.")
        return Judged(Block(refusal.code, refusal.message, hint))
    server, tool = callee.server, callee.tool
    if tool is None:
        gone = Block(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            "The server offers no such tool; nothing was sent.",
            "Discover the server's tools again with its smoke test.",
        )
        return Judged(gone, server)
    unusable = _unusable_ability(connection, record)
    if unusable is not None:
        return Judged(unusable, server, tool)
    unnamed = _outside_its_tools(connection, record, server)
    if unnamed is not None:
        return Judged(unnamed, server, tool)
    grants = grants_about(connection, record.owner, order.server_id, order.tool_name, order.dispatch_id, now)
    verdict = judge(
        facts_of(record.owner, server, tool, order.caller, order.data_class),
        policies_of(
            connection,
            record.owner,
            reaching=MCPToolTarget(server_id=order.server_id, tool_name=order.tool_name),
        ),
        grants.live,
        now,
    )
    found = permit(record, server, tool, verdict, grant_revoked=grants.own_is_revoked)
    return Judged(found, server, tool, verdict, callee.health)


def _unusable_ability(connection: Connection, record: DispatchRecord) -> Block | None:
    """Why nothing is called on behalf of the ability; ``None`` where it is in use, or where none is named."""
    ability_id = record.order.ability_id
    if ability_id is None:
        return None
    entry = entry_of(connection, ability_id)
    return refused_for(entry if entry is not None and visible(entry, record.owner) else None)


def _outside_its_tools(
    connection: Connection, record: DispatchRecord, server: MCPServerRegistryEntry
) -> Block | None:
    """The refusal of a call that the ability's own ``allowed-tools`` do not name, whatever policy says."""
    order = record.order
    if order.ability_id is None:
        return None
    manifest = manifest_of(connection, order.ability_id)
    if manifest is None and _is_imported(connection, order.ability_id):
        return Block(
            ErrorCode.ABILITY_TOOL_NOT_ALLOWED,
            "The manifest of this imported skill cannot be read, so nobody knows which tools its allowed-tools name; "
            "nothing was sent.",
            "Import the skill anew, or roll it back to a version whose manifest can be read.",
        )
    bounds = bounds_of(manifest.permissions) if manifest is not None else None
    if bounds is None or permits(bounds, (server.server_id, server.display_name), order.tool_name):
        return None
    return Block(
        ErrorCode.ABILITY_TOOL_NOT_ALLOWED,
        clipped(
            f"The skill's allowed-tools do not name {order.tool_name} of {server.server_id}; nothing was sent. "
            f"They name: {', '.join(sorted(bounds))}.",
            1_000,
        ),
        "Use a tool that the skill names, or add this one to allowed-tools in its SKILL.md and import it anew.",
    )


def _is_imported(connection: Connection, ability_id: str) -> bool:
    entry = entry_of(connection, ability_id)
    return entry is not None and entry.family == IMPORTED_FAMILY


class DispatchOpening:
    """The beginning of calls. Safe to share between threads."""

    def __init__(
        self, database: Database, *, ask_first_expiry: timedelta, open_calls: int, notify: bool
    ) -> None:
        """``open_calls`` is the most that one user may have running and waiting at once; ``notify`` says that
        each new pending call sends an external notification.
        """
        self._database = database
        self._expiry = ask_first_expiry
        self._open_calls = open_calls
        self._notify = notify

    def prepare(self, order: DispatchOrder, arguments: bytes) -> StoredDispatch | None:
        """Keeps the arguments of a call that may be made; the call itself where it was asked for before.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``, ``TOO_MANY_REQUESTS``, ``MCP_SERVER_NOT_FOUND``,
                ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``, ``MCP_TOOL_NOT_FOUND``.
        """
        with self._database.write() as connection:
            known = find_dispatch(connection, order.dispatch_id, lock=True)
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

    def judge(
        self, order: DispatchOrder, now: datetime, planned: Callable[[CallPlan], object] | None = None
    ) -> DispatchStanding:
        """The first decision about a call; a call that is known stays as it is.

        ``planned`` is given the plan of a call that may pass at once.
        """
        with self._database.write() as connection:
            known = find_dispatch(connection, order.dispatch_id, lock=True)
            if known is not None:
                return self.standing(known)
            record = DispatchRecord(
                order=order,
                status=DispatchStatus.RUNNING,
                arguments_digest=order.arguments_digest,
                arguments_kept=order.arguments_kept,
                updated_at=now,
            )
            found = judged(connection, record, now)
            record = found.noted_in(record)
            kept = self._go_on(connection, add_dispatch(connection, record), found, now)
            plan_ahead(connection, kept.record, now, planned)
            return self.standing(kept)

    def reconsider(self, dispatch_id: str, now: datetime) -> DispatchStanding:
        """Looks again at a call that waits: policy or a standing approval may let it pass, or forbid it."""
        with self._database.write() as connection:
            kept = read_dispatch(connection, dispatch_id, lock=True)
            record = kept.record
            if record.status is not DispatchStatus.PENDING_APPROVAL or record.ask_first is None:
                return kept.standing()
            found = judged(connection, record, now)
            if isinstance(found.permit, Ask) or now >= record.ask_first.expires_at:
                return kept.standing()
            waited, record = record.ask_first, found.noted_in(record)
            if isinstance(found.permit, Block):
                return _blocked(connection, kept, record, found.permit, now).standing()
            resumed = record.changed(
                status=DispatchStatus.RUNNING,
                ask_first=waited.changed(
                    status=AskFirstStatus.RESUMED,
                    decision_reason=_why_resumed(found),
                    decided_at=now,
                    updated_at=now,
                ),
                updated_at=now,
            )
            _, entry = dispatch_receipt(
                resumed,
                MCPReceiptKind.ASK_FIRST_DECISION,
                f"Let pass without an answer of its own: {_why_resumed(found)}",
                now,
            )
            append(connection, [entry])
            return change_dispatch(connection, kept, resumed).standing()

    def standing(self, kept: StoredDispatch) -> DispatchStanding:
        """The call's standing for its workflow, and whether to send a notification."""
        return kept.standing(notify=self._notify)

    def ask_anew(
        self, connection: Connection, kept: StoredDispatch, found: Judged, now: datetime
    ) -> StoredDispatch:
        """Makes a call wait that was about to be made, in the caller's transaction."""
        record = waiting_record(found.noted_in(kept.record), now, self._expiry)
        append(connection, [_asked_entry(record, now)])
        return change_dispatch(connection, kept, record)

    def _go_on(
        self, connection: Connection, kept: StoredDispatch, found: Judged, now: datetime
    ) -> StoredDispatch:
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
    return record.changed(
        status=DispatchStatus.PENDING_APPROVAL,
        updated_at=now,
        held_since=None,
        waits_until=None,
        error_message=None,
        next_action=None,
        ask_first=MCPAskFirstDispatchRecord(
            dispatch_id=order.dispatch_id,
            correlation_id=order.correlation_id,
            server_id=order.server_id,
            tool_name=order.tool_name,
            request_summary=order.request_summary,
            request_payload_ref=f"blob:{record.arguments_digest}",
            status=AskFirstStatus.PENDING,
            paused_dispatch_ref=mcp_dispatch_id(order.dispatch_id),
            effective_policy_target=verdict.effective.target if verdict is not None else target,
            expires_at=now + lasts,
            created_at=now,
            updated_at=now,
            arguments_digest=record.arguments_digest,
            tool_definition_hash=record.definition_hash,
            policy_version=verdict.policy_version if verdict is not None else 0,
        ),
    )


def _asked_entry(record: DispatchRecord, now: datetime) -> JournalDraft:
    asked = f"Waits for an approval: {record.order.request_summary}; asked by {asker_of(record.order).words}"
    _, entry = dispatch_receipt(record, MCPReceiptKind.ASK_FIRST, clipped(asked, 500), now)
    return entry


def _blocked(
    connection: Connection, kept: StoredDispatch, record: DispatchRecord, block: Block, now: datetime
) -> StoredDispatch:
    if record.ask_first is not None and record.ask_first.status is AskFirstStatus.PENDING:
        closed = record.ask_first.changed(
            status=AskFirstStatus.DENIED,
            decision_reason=clipped(block.message, 500),
            decided_at=now,
            updated_at=now,
        )
        record = record.changed(ask_first=closed)
    ended = failed_record(record, DispatchStatus.BLOCKED, block.code, block.message, block.next_action)
    return settle(connection, kept, ended, now)


def _why_resumed(found: Judged) -> str:
    verdict = found.verdict
    if verdict is not None and verdict.grant_id is not None:
        return "a standing approval covers it now."
    return "policy lets it pass now."
