"""``apprentice mcp grants``: standing approvals, and taking one back."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.invocation import Invocation, api_command
from clients.mcp_policy_api import McpPolicyApi
from contracts.mcp.dispatch import MCPGrant

app = typer.Typer(no_args_is_help=True, help="Standing approvals: list them, take one back.")


@api_command(app, "list")
def list_grants(
    call: Invocation,
    past: Annotated[
        bool, typer.Option("--past", help="Also those that were taken back or are over.")
    ] = False,
) -> None:
    """List what your approvals allow beyond their own call, newest first."""
    found = McpPolicyApi(call.api.http).grants(include_past=past)
    if not found.grants:
        call.answer("No standing approvals; every call that asks first is asked about.")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("grant", "server", "tool", "for", "used", "stands"):
        table.add_column(column, overflow="fold")
    for grant in found.grants:
        table.add_row(
            grant.grant_id,
            escape(grant.server_id),
            escape(grant.tool_name),
            escape(f"{grant.scope.value.removeprefix('end_of_')} {grant.scope_ref}"),
            str(grant.used),
            _stands(grant),
        )
    call.answer(table)


@api_command(app, "revoke")
def revoke(call: Invocation, grant: Annotated[str, typer.Argument(help="Its id.", metavar="GRANT")]) -> None:
    """Take a standing approval back; the next call of the tool asks again."""
    gone = McpPolicyApi(call.api.http).revoke(grant)
    call.answer(Text(f"{gone.tool_name} of {gone.server_id} asks first again. {_stands(gone)}."))


def _stands(grant: MCPGrant) -> str:
    if grant.revoked_at is not None:
        return f"taken back by {escape(grant.revoked_by or '')} at {grant.revoked_at:%Y-%m-%d %H:%M}"
    over = grant.expires_at <= datetime.now(UTC)
    return f"{'over since' if over else 'until'} {grant.expires_at:%Y-%m-%d %H:%M}"
