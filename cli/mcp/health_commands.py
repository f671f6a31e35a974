"""``apprentice mcp health|smoke-test|explain-route``: health of tool servers, and which one a call is routed to."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.json_arguments import as_object
from cli.platform.output import ExitCode, listing
from cli.platform.own_words import own_words
from clients.apprentice.mcp import McpHealthApi, McpRoutingApi
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus, MCPSmokeTestStatus, MCPThrottle
from contracts.mcp.provider import MCPProvider
from contracts.mcp.routing import RouteActionClass, RouteExplainRequest, RouteVerdict

_COLOURS = {
    MCPHealthStatus.HEALTHY: "green",
    MCPHealthStatus.DEGRADED: "yellow",
    MCPHealthStatus.DISABLED: "dim",
    MCPHealthStatus.UNKNOWN: "dim",
}
_ENDS = {
    MCPSmokeTestStatus.PASSED: "green",
    MCPSmokeTestStatus.DEGRADED: "yellow",
    MCPSmokeTestStatus.BLOCKED: "yellow",
    MCPSmokeTestStatus.FAILED: "red",
}
ServerArgument = Annotated[str, typer.Argument(help="The server's id.", metavar="SERVER")]


def add_to(app: typer.Typer) -> None:
    """Adds the two commands to ``apprentice mcp``."""
    api_command(app, "health")(health)
    api_command(app, "smoke-test")(smoke_test)


def health(call: Invocation, server: ServerArgument) -> None:
    """Say how a tool server is, and what to do next."""
    found = McpHealthApi(call.api.http).health(server)
    call.answer(_shown(found))


def smoke_test(
    call: Invocation,
    server: ServerArgument,
    tool: Annotated[
        str | None, typer.Option(help="Call this tool too, where nobody has to be asked.")
    ] = None,
    arguments: Annotated[str | None, typer.Option(help="The tool's arguments, as a JSON object.")] = None,
    seconds: Annotated[int, typer.Option(min=1, max=60, help="The most that it may take.")] = 10,
) -> None:
    """Connect to a tool server now, sign in, list its tools, and call one if asked."""
    given = as_object(arguments, "--arguments", '{"query": "report"}') if arguments is not None else None
    with call.busy(f"trying {server}"):
        found = McpHealthApi(call.api.http).smoke_test(
            server, tool_name=tool, arguments=given, max_duration_ms=seconds * 1_000
        )
    code = f" [dim]({found.error_code})[/]" if found.error_code else ""
    call.answer(
        f"[{_ENDS[found.status]}]{found.status.value}[/]{code} {escape(own_words(found.summary or ''))}"
    )
    if found.status in (MCPSmokeTestStatus.FAILED, MCPSmokeTestStatus.BLOCKED):
        raise typer.Exit(ExitCode.REFUSED)


def _shown(found: MCPConnectionHealth) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    colour = _COLOURS[found.health_status]
    reason = f" ({escape(found.health_reason_code)})" if found.health_reason_code else ""
    table.add_row("health", f"[{colour}]{found.health_status.value}[/]{reason}")
    if found.throttle_state.state is not MCPThrottle.NONE:
        table.add_row("throttled", f"[cyan]{found.throttle_state.state.value}[/]")
    table.add_row("sign-in", found.auth_state.value)
    if found.last_checked_at is not None:
        table.add_row("last contact", f"{found.last_checked_at:%Y-%m-%d %H:%M:%S} UTC")
    if found.backoff_until is not None:
        table.add_row("left alone until", f"{found.backoff_until:%Y-%m-%d %H:%M:%S} UTC")
    for name, tool in sorted(found.tool_health.items()):
        table.add_row(
            escape(name), "[green]ok[/]" if tool.ok else f"[red]{escape(tool.last_error or 'failed')}[/]"
        )
    if found.next_action is not None:
        table.add_row("to do", escape(own_words(found.next_action)))
    return table


_VERDICT_COLOURS = {
    RouteVerdict.ALLOW: "green",
    RouteVerdict.ASK_FIRST: "yellow",
    RouteVerdict.DEGRADED: "yellow",
    RouteVerdict.DENY: "red",
    RouteVerdict.NO_ROUTE: "red",
}


def add_route_commands(app: typer.Typer) -> None:
    """Adds the command to ``apprentice mcp``."""
    api_command(app, "explain-route")(explain_route)


def explain_route(
    call: Invocation,
    tool: Annotated[str | None, typer.Argument(help="The tool's name, if one is meant.")] = None,
    action: Annotated[RouteActionClass, typer.Option(help="The kind of work, where no tool is named.")] = (
        RouteActionClass.READ
    ),
    provider: Annotated[MCPProvider | None, typer.Option(help="Only servers of this provider.")] = None,
    capability: Annotated[str | None, typer.Option(help="The capability that it is for.")] = None,
    project: Annotated[str | None, typer.Option(help="The project that it is for.")] = None,
    runtime: Annotated[str | None, typer.Option(help="The agent runtime that would call.")] = None,
) -> None:
    """Show which of your servers a call would go to, how each scores, and why others are out. Calls nothing."""
    request = RouteExplainRequest(
        tool_name=tool,
        action_class=action,
        provider=provider,
        capability_id=capability,
        project_id=project,
        runtime=runtime,
    )
    found = McpRoutingApi(call.api.http).explain(request)
    table = listing("server", "score", "stands", "why")
    for one in found.score_breakdown:
        why = ", ".join((*one.reasons, one.policy_reason))
        table.add_row(escape(one.server_id), str(one.score), one.standing.value, escape(why))
    for left in found.left_out:
        table.add_row(f"[dim]{escape(left.server_id)}[/]", "", "[dim]left out[/]", escape(left.why))
    verdict = Text.from_markup(f"[{_VERDICT_COLOURS[found.decision]}]{found.decision.value}[/]")
    if found.server_id:
        verdict.append(f": {found.server_id}")
    notes = [Text(note) for note in found.notes]
    rows = [table] if table.row_count else []
    call.answer(verdict, *rows, *notes, Text(f"Next: {found.next_step}"))
