"""``apprentice mcp``: the app that the groups of tool-gateway commands are added to."""

from typing import Annotated

import typer
from rich.markup import escape

from cli.mcp import (
    auth_commands,
    call_commands,
    health_commands,
    policy_commands,
    profile_commands,
    server_commands,
    tool_commands,
)
from cli.platform.invocation import Invocation, api_command
from cli.platform.output import listing
from clients.apprentice.mcp import McpRegistryApi
from contracts.mcp.receipts import MCPReceiptStatus, MCPReceiptSummary

app = typer.Typer(no_args_is_help=True, help="Tool servers: register, review their tools, see receipts.")
app.add_typer(server_commands.app, name="servers")
app.add_typer(tool_commands.app, name="tools")
app.add_typer(auth_commands.app, name="auth")
app.add_typer(profile_commands.app, name="profiles")
app.add_typer(policy_commands.app, name="policy")
app.add_typer(policy_commands.grants_app, name="grants")
health_commands.add_to(app)
call_commands.add_to(app)
health_commands.add_route_commands(app)

_COLOURS = {
    MCPReceiptStatus.OK: "green",
    MCPReceiptStatus.DEGRADED: "yellow",
    MCPReceiptStatus.BLOCKED: "yellow",
    MCPReceiptStatus.FAILED: "red",
}


@api_command(app, "receipts")
def receipts(
    call: Invocation,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = 25,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
) -> None:
    """List what was done about tool servers, newest first."""
    found = McpRegistryApi(call.api.http).receipts(limit, cursor)
    if not found.receipts:
        call.answer("No receipts yet. Next: `apprentice mcp servers register --help`.")
        return
    table = listing("when", "what", "status", "server", "as", "summary")
    for one in found.receipts:
        table.add_row(
            f"{one.created_at:%Y-%m-%d %H:%M:%S}",
            one.receipt_kind.value,
            f"[{_COLOURS[one.status]}]{one.status.value}[/]",
            escape(one.server_id or ""),
            escape(_identity(one)),
            escape(one.summary),
        )
    more = f"Older ones: apprentice mcp receipts --cursor {found.next_cursor}" if found.next_cursor else ""
    call.answer(table, *([more] if more else []))


def _identity(one: MCPReceiptSummary) -> str:
    """Whose permission was used, where one was."""
    if one.identity_asserted_kind is None:
        return ""
    return f"{one.identity_asserted_kind.value.replace('_', ' ')} {one.identity_asserted_ref or ''}".rstrip()
