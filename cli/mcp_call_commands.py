"""``apprentice mcp call|pending|approve|deny|cancel|calls|show``: tool calls, and those that wait for a person."""

import time
from enum import StrEnum
from typing import Annotated

import typer

from cli.invocation import Invocation, NothingToDo, api_command
from cli.mcp_call_views import call_view, calls_view, pending_view, seen_code
from cli.output import ExitCode
from cli.tool_arguments import as_object
from clients.mcp_dispatch_api import McpDispatchApi
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    AskFirstDecision,
    DispatchRequest,
    DispatchStatus,
    DispatchView,
    MCPAskFirstDecisionRequest,
)

LOOK_AGAIN_SECONDS = 0.5
"""How often a call is read anew while somebody waits for it."""

CallArgument = Annotated[str, typer.Argument(help="The call's id.", metavar="CALL")]
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
        arguments=as_object(arguments, '{"line": "milk"}'),
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


def pending(call: Invocation) -> None:
    """List the calls that wait for an answer, and those that expired of late."""
    call.answer(pending_view(McpDispatchApi(call.api.http).pending()))


def approve(
    call: Invocation,
    dispatch: CallArgument,
    lasting: Annotated[
        For, typer.Option("--for", help="This call only, or also the same tool in its turn or session.")
    ] = For.ONCE,
    arguments: Annotated[
        str | None, typer.Option("--arguments", "-a", help="Send these instead, as a JSON object.")
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option(
            help="What `apprentice mcp show` gave with the call; refused when it is another by now."
        ),
    ] = None,
    reason: ReasonOption = None,
) -> None:
    """Let a call pass that waits."""
    api = McpDispatchApi(call.api.http)
    waiting = api.show(dispatch).ask_first
    if seen is not None and (waiting is None or seen != seen_code(waiting)):
        raise NothingToDo(f"the call is not what you looked at. Next: `apprentice mcp show {dispatch}`.")
    request = MCPAskFirstDecisionRequest(
        decision=_DECISIONS[lasting],
        reason=reason,
        arguments=as_object(arguments, '{"line": "milk"}') if arguments is not None else None,
        arguments_digest=waiting.arguments_digest if waiting is not None else None,
        tool_definition_hash=waiting.tool_definition_hash if waiting is not None else None,
    )
    done = api.decide(dispatch, request)
    said = done.dispatch.status.value.replace("_", " ")
    call.answer(f"[green]{said}[/]; see what comes of it with [cyan]apprentice mcp show {dispatch}[/].")


def deny(call: Invocation, dispatch: CallArgument, reason: ReasonOption = None) -> None:
    """Refuse a call that waits; nothing is sent."""
    request = MCPAskFirstDecisionRequest(decision=AskFirstDecision.DENY, reason=reason)
    McpDispatchApi(call.api.http).decide(dispatch, request)
    call.answer("[red]denied[/]; nothing was sent.")


def cancel(call: Invocation, dispatch: CallArgument, reason: ReasonOption = None) -> None:
    """Give a call up; one that was sent already may have had its effect."""
    call.answer(call_view(McpDispatchApi(call.api.http).cancel(dispatch, reason)))


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


def show(call: Invocation, dispatch: CallArgument) -> None:
    """Show one call: what was asked, who let it pass, what came of it."""
    call.answer(call_view(McpDispatchApi(call.api.http).show(dispatch)))


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
