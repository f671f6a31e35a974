"""How tool calls, and those that wait for a person, look on a terminal."""

import json
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from contracts.mcp.dispatch import (
    AskFirstStatus,
    DispatchListResponse,
    DispatchStatus,
    DispatchView,
    MCPAskFirstDispatchRecord,
    MCPAskFirstPendingListResponse,
)
from contracts.mcp.policy import MCPPolicyVerdict

COLOURS = {
    DispatchStatus.RUNNING: "cyan",
    DispatchStatus.PENDING_APPROVAL: "yellow",
    DispatchStatus.COMPLETED: "green",
    DispatchStatus.BLOCKED: "red",
    DispatchStatus.DENIED: "red",
    DispatchStatus.EXPIRED: "dim",
    DispatchStatus.CANCELLED: "dim",
    DispatchStatus.AUTH_REQUIRED: "yellow",
    DispatchStatus.FAILED: "red",
    DispatchStatus.OUTCOME_UNKNOWN: "magenta",
}


def call_view(view: DispatchView) -> RenderableType:
    """One call: how it stands, who let it pass, what came of it, what to do."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("call", view.dispatch_id)
    table.add_row("tool", escape(f"{view.tool_name} at {view.server_id}"))
    status = f"[{COLOURS[view.status]}]{view.status.value}[/]"
    table.add_row("status", f"{status} [dim]({view.error_code})[/]" if view.error_code else status)
    if view.error_message:
        table.add_row("why", escape(view.error_message))
    if view.ask_first is not None:
        table.add_row("approval", _approval(view.ask_first))
    if view.verdict is not None:
        table.add_row("policy", escape(_verdict(view.verdict)))
    if view.attempts > 1:
        table.add_row("attempts", str(view.attempts))
    todo = view.next_action
    if view.status is DispatchStatus.PENDING_APPROVAL:
        seen = f" --seen {seen_code(view.ask_first)}" if view.ask_first is not None else ""
        todo = f"apprentice mcp approve {view.dispatch_id}{seen}, or apprentice mcp deny {view.dispatch_id}"
    if todo:
        table.add_row("to do", escape(todo))
    if view.temporal_url:
        table.add_row("Temporal UI", escape(view.temporal_url))
    parts: list[RenderableType] = [table]
    if view.arguments is not None:
        parts += [Text("arguments", style="dim"), _json(view.arguments)]
    if view.result is not None:
        title = "answer (the tool reports an error)" if view.is_error else "answer"
        parts += [Text(title, style="dim"), _json(view.result)]
    return Group(*parts)


def _verdict(verdict: MCPPolicyVerdict) -> str:
    decided = next((f": {step.why}" for step in verdict.trace if step.decisive), "")
    return f"{verdict.mode.value} ({verdict.reason_code}){decided}"


def calls_view(found: DispatchListResponse) -> RenderableType:
    """A page of calls."""
    if not found.dispatches:
        return Text("No tool calls. Make one with `apprentice mcp call SERVER TOOL`.")
    table = _table("call", "tool", "server", "status", "asked")
    for one in found.dispatches:
        table.add_row(
            one.dispatch_id,
            escape(one.tool_name),
            escape(one.server_id),
            f"[{COLOURS[one.status]}]{one.status.value}[/]",
            f"{one.created_at:%Y-%m-%d %H:%M:%S}",
        )
    return table


def pending_view(found: MCPAskFirstPendingListResponse) -> RenderableType:
    """What waits for an answer, and what did in vain."""
    if not found.dispatches:
        return Text("Nothing waits for an answer.")
    table = _table("call", "what", "waits")
    for one in found.dispatches:
        table.add_row(one.dispatch_id, escape(one.request_summary), _waits(one))
    todo = "See one with all that will be sent: apprentice mcp show CALL. Answer: apprentice mcp approve|deny CALL"
    return Group(table, Text(todo, style="dim"))


def seen_code(one: MCPAskFirstDispatchRecord) -> str:
    """What stands for the arguments and the tool that somebody looks at before they answer."""
    return f"{one.arguments_digest[:12]}-{(one.tool_definition_hash or '')[:12]}"


def _waits(one: MCPAskFirstDispatchRecord) -> str:
    if one.status is AskFirstStatus.EXPIRED:
        return f"[dim]expired at {one.expires_at:%H:%M:%S}[/]"
    left = max(int((one.expires_at - datetime.now(UTC)).total_seconds()), 0)
    return f"[yellow]{left // 60} min {left % 60} s left[/]"


def _approval(one: MCPAskFirstDispatchRecord) -> str:
    said = one.status.value.replace("_", " ")
    if one.status is AskFirstStatus.PENDING:
        return f"[yellow]waits[/] until {one.expires_at:%Y-%m-%d %H:%M:%S} UTC"
    by = f" by {escape(one.approved_by)}" if one.approved_by else ""
    edited = ", with other arguments than asked" if one.edited_from_digest else ""
    why = f": {escape(one.decision_reason)}" if one.decision_reason else ""
    return f"{said}{by}{edited}{why}"


def _json(value: object) -> Text:
    return Text(json.dumps(value, indent=2, ensure_ascii=False))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
