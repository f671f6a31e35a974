"""``apprentice mcp call|pending|approve|deny|cancel|calls|show``: tool calls, approvals and their views."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.mcp.tool_commands import definition_view
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.json_arguments import as_object
from cli.platform.list_options import (
    PageOption,
    PageSizeOption,
    SearchOption,
    SortOption,
    left_over,
    list_query,
)
from cli.platform.output import ExitCode, listing
from cli.platform.own_words import own_words
from clients.apprentice.mcp import McpDispatchApi, McpRegistryApi
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    AskFirstDecision,
    AskFirstStatus,
    DispatchAsker,
    DispatchListResponse,
    DispatchRequest,
    DispatchStatus,
    DispatchView,
    MCPAskFirstDecisionRequest,
    MCPAskFirstDispatchRecord,
    MCPAskFirstPendingListResponse,
)
from contracts.mcp.policy import MCPPolicyVerdict
from contracts.mcp.tools import MCPTool, MCPToolState
from domain.platform.visible_text import visible

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


def call_view(view: DispatchView, tool: MCPTool | None = None) -> RenderableType:
    """One call: how it stands, who let it pass, what came of it, what to do.

    ``tool`` is the call's as it is now: what an approval can be of.
    """
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("call", view.dispatch_id)
    table.add_row("tool", escape(f"{view.tool_name} at {view.server_id}"))
    if view.asked_by is not None:
        table.add_row("asked by", _by(view.asked_by))
    status = f"[{COLOURS[view.status]}]{view.status.value}[/]"
    table.add_row("status", f"{status} [dim]({view.error_code})[/]" if view.error_code else status)
    if view.error_message:
        table.add_row("why", escape(own_words(view.error_message)))
    if view.ask_first is not None:
        table.add_row("approval", _approval(view.ask_first))
    if view.verdict is not None:
        table.add_row("policy", escape(_verdict(view.verdict)))
    if view.attempts > 1:
        table.add_row("attempts", str(view.attempts))
    if todo := _todo(view, tool):
        table.add_row("to do", escape(own_words(todo)))
    if view.temporal_url:
        table.add_row("Temporal UI", escape(view.temporal_url))
    parts: list[RenderableType] = [table]
    if view.arguments is not None:
        parts += [Text("arguments", style="dim"), _json(view.arguments)]
    if view.result is not None:
        title = "answer (the tool reports an error)" if view.is_error else "answer"
        parts += [Text(title, style="dim"), _json(view.result)]
    return Group(*parts)


def tool_view(view: DispatchView, tool: MCPTool | None) -> tuple[RenderableType, ...]:
    """The tool of a call that waits, where its definition is another than somebody looked at, or nobody did."""
    if view.ask_first is None or tool is None or tool.state is MCPToolState.REMOVED:
        return ()
    if view.ask_first.tool_definition_hash != tool.definition_hash:
        said = (
            "The tool has changed since this call was asked for. Without --seen an approval is refused; with it, the "
            "call is sent to the tool as it is now."
        )
    elif tool.state is MCPToolState.PINNED:
        return ()
    elif tool.state is MCPToolState.CHANGED:
        said = "The tool has changed since somebody looked at it. Approving with --seen says that you have."
    else:
        said = "Nobody has looked at this tool yet. Approving with --seen says that you have."
    return Text(said, style="yellow"), *definition_view(tool)


def _todo(view: DispatchView, tool: MCPTool | None) -> str | None:
    if view.status is not DispatchStatus.PENDING_APPROVAL:
        return view.next_action
    seen = f" --seen {seen_code(view.ask_first, tool)}" if view.ask_first is not None else ""
    return f"apprentice mcp approve {view.dispatch_id}{seen}, or apprentice mcp deny {view.dispatch_id}"


def _verdict(verdict: MCPPolicyVerdict) -> str:
    decided = next((f": {step.why}" for step in verdict.trace if step.decisive), "")
    return f"{verdict.mode.value} ({verdict.reason_code}){decided}"


def calls_view(found: DispatchListResponse) -> RenderableType:
    """A page of calls."""
    if not found.dispatches:
        return Text("No tool calls. Make one with `apprentice mcp call SERVER TOOL`.")
    table = listing("call", "tool", "server", "status", "asked", "by")
    for one in found.dispatches:
        table.add_row(
            one.dispatch_id,
            escape(one.tool_name),
            escape(one.server_id),
            f"[{COLOURS[one.status]}]{one.status.value}[/]",
            f"{one.created_at:%Y-%m-%d %H:%M:%S}",
            _by(one.asked_by),
        )
    return table


def _by(asker: DispatchAsker | None) -> str:
    return escape(visible(asker.words)) if asker is not None else ""


def pending_view(found: MCPAskFirstPendingListResponse) -> RenderableType:
    """What waits for an answer, and what did in vain."""
    if not found.dispatches:
        return Text("Nothing waits for an answer.")
    table = listing("call", "what", "asked by", "waits")
    for one in found.dispatches:
        table.add_row(one.dispatch_id, escape(visible(one.request_summary)), _by(one.asked_by), _waits(one))
    todo = "See one with all that will be sent: apprentice mcp show CALL. Answer: apprentice mcp approve|deny CALL"
    return Group(table, Text(todo, style="dim"))


def seen_code(one: MCPAskFirstDispatchRecord, tool: MCPTool | None = None) -> str:
    """What stands for the arguments and the tool that somebody looks at before they answer.

    ``tool`` is the call's as it is now; left out, it counts as the one that the call was asked for with.
    """
    shown = tool.definition_hash if tool is not None else one.tool_definition_hash or ""
    return f"{one.arguments_digest[:12]}-{shown[:12]}"


def tool_seen(waiting: MCPAskFirstDispatchRecord, tool: MCPTool | None, seen: str) -> str | None:
    """The tool that an approval with ``seen`` says was looked at; it counts as reviewed from then on.

    Raises:
        NothingToDo: what waits is not what was looked at.
    """
    if seen != seen_code(waiting, tool):
        raise NothingToDo(
            f"the call is not what you looked at. Next: `apprentice mcp show {waiting.dispatch_id}`."
        )
    return tool.definition_hash if tool is not None else waiting.tool_definition_hash


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
    return Text(visible(json.dumps(value, indent=2, ensure_ascii=False)))


LOOK_AGAIN_SECONDS = 0.5
"""Poll interval of a call that is waited for, in seconds."""

CallArgument = Annotated[
    str | None,
    typer.Argument(help="The call's id; may be left out where one alone is meant.", metavar="[CALL]"),
]
ReasonOption = Annotated[str | None, typer.Option(help="Why; kept with the call.")]


class For(StrEnum):
    """How long an approval holds."""

    ONCE = "once"
    TURN = "turn"
    SESSION = "session"


_DECISIONS = {
    For.ONCE: AskFirstDecision.APPROVE_ONCE,
    For.TURN: AskFirstDecision.APPROVE_UNTIL_END_OF_TURN,
    For.SESSION: AskFirstDecision.APPROVE_FOR_SESSION,
}


_REFUSED = frozenset(
    {DispatchStatus.BLOCKED, DispatchStatus.DENIED, DispatchStatus.EXPIRED, DispatchStatus.AUTH_REQUIRED}
)


def add_to(app: typer.Typer) -> None:
    """Adds the commands to ``apprentice mcp``."""
    api_command(app, "call")(call_tool)
    api_command(app, "pending")(pending)
    api_command(app, "approve")(approve)
    api_command(app, "deny")(deny)
    api_command(app, "cancel")(cancel)
    api_command(app, "calls")(calls)
    api_command(app, "show")(show)


def call_tool(
    call: Invocation,
    server: Annotated[str, typer.Argument(help="The server's id.", metavar="SERVER")],
    tool: Annotated[str, typer.Argument(help="The tool's name.", metavar="TOOL")],
    arguments: Annotated[
        str, typer.Option("--arguments", "-a", help="What it is given, as a JSON object.")
    ] = "{}",
    turn: Annotated[
        str | None, typer.Option(help="The agent's turn, for approvals that last for it.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="The agent's session, likewise.")] = None,
    runtime: Annotated[str | None, typer.Option(help="The agent runtime, such as claude or codex.")] = None,
    project: Annotated[str | None, typer.Option(help="The project it is for.")] = None,
    seconds: Annotated[int, typer.Option(min=1, max=120, help="The most that the tool may take.")] = 30,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until it has ended, also for an approval.")
    ] = True,
) -> None:
    """Call a tool; policy may let it pass, refuse it, or have somebody asked first."""
    calls_api = McpDispatchApi(call.api.http)
    request = DispatchRequest(
        server_id=server,
        tool_name=tool,
        arguments=as_object(arguments, "--arguments", '{"line": "milk"}'),
        turn_ref=turn,
        session_ref=session,
        runtime=runtime,
        project_id=project,
        timeout_ms=seconds * 1_000,
        wait_ms=10_000 if wait else 0,
    )
    with call.busy(f"calling {tool}"):
        view = calls_api.call(request)
    if wait and view.status in OPEN_DISPATCH_STATUSES:
        view = _waited(call, calls_api, view)
    call.answer(call_view(view))
    if (code := exit_code_of(view)) is not ExitCode.OK:
        raise typer.Exit(code)


def exit_code_of(view: DispatchView) -> ExitCode:
    """How the call ended, for scripts; one that goes on, or waits, has not failed."""
    if view.status in _REFUSED:
        return ExitCode.REFUSED
    done = view.status is DispatchStatus.COMPLETED and not view.is_error
    return ExitCode.OK if done or view.status in OPEN_DISPATCH_STATUSES else ExitCode.FAILURE


def pending(
    call: Invocation,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List the calls that wait for an answer, and those that expired of late."""
    found = McpDispatchApi(call.api.http).pending(**list_query(page, page_size, sort, search))
    call.answer(pending_view(found), *left_over(found))


def approve(
    call: Invocation,
    dispatch: CallArgument = None,
    lasting: Annotated[
        For, typer.Option("--for", help="This call only, or also the same tool in its turn or session.")
    ] = For.ONCE,
    arguments: Annotated[
        str | None, typer.Option("--arguments", "-a", help="Send these instead, as a JSON object.")
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option(
            help="What `apprentice mcp show` gave with the call; refused when it is another by now. Says that you "
            "looked at the tool, too."
        ),
    ] = None,
    reason: ReasonOption = None,
) -> None:
    """Let a call pass that waits."""
    api = McpDispatchApi(call.api.http)
    if dispatch is None:
        # Which call waits may change between a look and the answer: without its id, what was looked at says which.
        if seen is None:
            raise NothingToDo(
                "name the call, or with --seen what was looked at. Next: `apprentice mcp pending`."
            )
        dispatch = the_one_meant(api.pending().dispatches, seen)
    view = api.show(dispatch)
    waiting, looked_at = view.ask_first, None
    if seen is not None and waiting is not None:
        looked_at = tool_seen(waiting, tool_of(call, view), seen)
    request = MCPAskFirstDecisionRequest(
        decision=_DECISIONS[lasting],
        reason=reason,
        arguments=as_object(arguments, "--arguments", '{"line": "milk"}') if arguments is not None else None,
        arguments_digest=waiting.arguments_digest if waiting is not None else None,
        tool_definition_hash=looked_at,
    )
    done = api.decide(dispatch, request)
    said = done.dispatch.status.value.replace("_", " ")
    call.answer(f"[green]{said}[/]; see what comes of it with [cyan]apprentice mcp show {dispatch}[/].")


def deny(call: Invocation, dispatch: CallArgument = None, reason: ReasonOption = None) -> None:
    """Refuse a call that waits; nothing is sent."""
    api = McpDispatchApi(call.api.http)
    request = MCPAskFirstDecisionRequest(decision=AskFirstDecision.DENY, reason=reason)
    api.decide(dispatch or the_one_meant(api.pending().dispatches), request)
    call.answer("[red]denied[/]; nothing was sent.")


def cancel(call: Invocation, dispatch: CallArgument = None, reason: ReasonOption = None) -> None:
    """Give a call up; one that was sent already may have had its effect."""
    api = McpDispatchApi(call.api.http)
    meant = dispatch or the_one_meant(api.pending().dispatches)
    had_ended = api.show(meant).status not in OPEN_DISPATCH_STATUSES
    said = ["[yellow]It had ended before; nothing was changed.[/]"] if had_ended else []
    call.answer(call_view(api.cancel(meant, reason)), *said)


def calls(
    call: Invocation,
    status: Annotated[DispatchStatus | None, typer.Option(help="Only those that stand so.")] = None,
    server: Annotated[str | None, typer.Option(help="Only of this server.")] = None,
    tool: Annotated[str | None, typer.Option(help="Only of this tool.")] = None,
    page: Annotated[int, typer.Option(min=1, help="Which page.")] = 1,
) -> None:
    """List tool calls, newest first."""
    found = McpDispatchApi(call.api.http).calls(
        page=page, status=status.value if status else None, server_id=server, tool_name=tool
    )
    call.answer(calls_view(found))


def show(call: Invocation, dispatch: CallArgument = None) -> None:
    """Show one call, the newest unless another is named: what was asked, who let it pass, what came of it."""
    api = McpDispatchApi(call.api.http)
    if dispatch is None:
        newest = api.calls(page=1, status=None, server_id=None, tool_name=None).dispatches
        if not newest:
            raise NothingToDo("there is no call yet. Make one with `apprentice mcp call SERVER TOOL`.")
        dispatch = newest[0].dispatch_id
    view = api.show(dispatch)
    tool = None
    if view.status is DispatchStatus.PENDING_APPROVAL and not call.json:
        tool = tool_of(call, view)
    call.answer(call_view(view, tool), *tool_view(view, tool))


def tool_of(call: Invocation, view: DispatchView) -> MCPTool | None:
    """The tool of a call as it is now; ``None`` where its server lists none of its name."""
    tools = McpRegistryApi(call.api.http).tools(view.server_id).tools
    return next((one for one in tools if one.definition.tool_name == view.tool_name), None)


def the_one_meant(waiting: Sequence[MCPAskFirstDispatchRecord], seen: str | None = None) -> str:
    """The id of the one call that waits; with ``seen``, of the one that somebody looked at.

    Raises:
        NothingToDo: none is meant, or several may be.
    """
    meant = [one for one in waiting if one.status is AskFirstStatus.PENDING]
    if seen is not None:
        # Of a tool that has changed since, what was looked at is not the one that the call was asked for with.
        arguments = f"{seen.partition('-')[0]}-"
        meant = [one for one in meant if seen_code(one) == seen] or [
            one for one in meant if seen_code(one).startswith(arguments)
        ]
    if len(meant) != 1:
        said = f"{len(meant)} calls wait: name the one that is meant" if meant else "no such call waits"
        raise NothingToDo(f"{said}. Next: `apprentice mcp pending`.")
    return meant[0].dispatch_id


def _waited(call: Invocation, api: McpDispatchApi, view: DispatchView) -> DispatchView:
    while view.status in OPEN_DISPATCH_STATUSES:
        if view.status is DispatchStatus.PENDING_APPROVAL:
            call.show(
                f"[yellow]waits for an answer[/]: apprentice mcp approve {view.dispatch_id}"
                f"  (or deny; until {view.ask_first.expires_at:%H:%M:%S} UTC)"
                if view.ask_first is not None
                else "[yellow]waits for an answer[/]"
            )
        before = view.status
        with call.busy(view.status.value.replace("_", " ")):
            while view.status is before:
                time.sleep(LOOK_AGAIN_SECONDS)
                view = api.show(view.dispatch_id)
    return view
