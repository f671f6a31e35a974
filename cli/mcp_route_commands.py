"""``apprentice mcp explain-route``: which server a call would go to, and why."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.invocation import Invocation, api_command
from clients.mcp_routing_api import McpRoutingApi
from contracts.mcp.provider import MCPProvider
from contracts.mcp.routing import RouteActionClass, RouteExplainRequest, RouteVerdict

_COLOURS = {
    RouteVerdict.ALLOW: "green",
    RouteVerdict.ASK_FIRST: "yellow",
    RouteVerdict.DEGRADED: "yellow",
    RouteVerdict.DENY: "red",
    RouteVerdict.NO_ROUTE: "red",
}


def add_to(app: typer.Typer) -> None:
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
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("server", "score", "stands", "why"):
        table.add_column(column, overflow="fold")
    for one in found.score_breakdown:
        why = ", ".join((*one.reasons, one.policy_reason))
        table.add_row(escape(one.server_id), str(one.score), one.standing.value, escape(why))
    for left in found.left_out:
        table.add_row(f"[dim]{escape(left.server_id)}[/]", "", "[dim]left out[/]", escape(left.why))
    verdict = Text.from_markup(f"[{_COLOURS[found.decision]}]{found.decision.value}[/]")
    if found.server_id:
        verdict.append(f": {found.server_id}")
    notes = [Text(note) for note in found.notes]
    rows = [table] if table.row_count else []
    call.answer(verdict, *rows, *notes, Text(f"Next: {found.next_step}"))
