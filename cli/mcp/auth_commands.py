"""``apprentice mcp auth``: start, status, refresh and revoke the sign-in to a tool server."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.own_words import own_words
from clients.apprentice.mcp import McpSignInApi
from contracts.base import rfc3339
from contracts.mcp.auth import (
    MCPAuthRefreshRequest,
    MCPAuthRevokeRequest,
    MCPAuthStartRequest,
    MCPRevokeStatus,
    MCPServerAuthStatus,
)
from contracts.mcp.provider import MCPAuthState

app = typer.Typer(no_args_is_help=True, help="Sign in to tool servers, renew and revoke.")

_Server = Annotated[str, typer.Argument(help="The server's id.", metavar="SERVER")]

STATE_COLOURS = {
    MCPAuthState.HEALTHY: "green",
    MCPAuthState.CHALLENGE_REQUIRED: "red",
    MCPAuthState.EXPIRED: "yellow",
    MCPAuthState.REVOKED: "red",
    MCPAuthState.UNKNOWN: "dim",
}
"""How the states of a sign-in are shown."""


@api_command(app, "start")
def start(
    call: Invocation,
    server: _Server,
    scope: Annotated[
        list[str] | None, typer.Option(help="Ask for this instead of what the sign-in says; repeatable.")
    ] = None,
) -> None:
    """Begin a sign-in: prints the address to open in a browser, good once and for minutes."""
    request = MCPAuthStartRequest(server_id=server, requested_scopes_override=tuple(scope) if scope else None)
    begun = McpSignInApi(call.api.http).start(request)
    ends = f" until {rfc3339(begun.expires_at)}" if begun.expires_at else ""
    call.answer(
        Text(f"Open this once{ends}:"),
        Text(str(begun.auth_url), overflow="ignore", no_wrap=True),
        Text(f"Then: apprentice mcp auth status {server}"),
    )


@api_command(app, "status")
def status(call: Invocation, server: _Server) -> None:
    """See how a server's sign-in stands, and what to do."""
    call.answer(_view(McpSignInApi(call.api.http).status(server)))


@api_command(app, "refresh")
def refresh(
    call: Invocation,
    server: _Server,
    force: Annotated[bool, typer.Option("--force", help="Also where it is not due.")] = False,
) -> None:
    """Renew the token of a server's sign-in."""
    request = MCPAuthRefreshRequest(server_id=server, force=force)
    call.answer(_view(McpSignInApi(call.api.http).refresh(request)))


@api_command(app, "revoke")
def revoke(
    call: Invocation,
    server: _Server,
    remote: Annotated[bool, typer.Option("--remote", help="At the authorization server too.")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Delete the sign-in, unless another server uses it.")
    ] = False,
) -> None:
    """End a server's sign-in."""
    request = MCPAuthRevokeRequest(server_id=server, revoke_remote=remote, keep_auth_profile=not forget)
    done = McpSignInApi(call.api.http).revoke(request)
    said = {
        MCPRevokeStatus.REVOKED: "The sign-in is ended.",
        MCPRevokeStatus.ALREADY_REVOKED: "The sign-in was ended before.",
        MCPRevokeStatus.NOOP: "There was nothing to end.",
    }
    left = f" {own_words(done.next_action)}" if done.next_action else ""
    call.answer(Text(f"{said[done.status]}{left} Again: `apprentice mcp auth start {server}`."))


def _view(found: MCPServerAuthStatus) -> Table:
    table = Table.grid(padding=(0, 2))
    colour = STATE_COLOURS[found.auth_state]
    table.add_row("state", f"[{colour}]{found.auth_state.value}[/]")
    rows = {
        "mode": found.auth_mode.value if found.auth_mode else None,
        "sign-in": found.auth_profile_id,
        "granted": ", ".join(found.scopes_granted),
        "missing": ", ".join(found.scopes_missing),
        "ends": rfc3339(found.expires_at) if found.expires_at else None,
        "renewed": rfc3339(found.refresh_at) if found.refresh_at else None,
        "trouble": found.last_auth_error_code,
        "next": own_words(found.next_action or ""),
    }
    for name, value in rows.items():
        if value:
            table.add_row(name, escape(value))
    return table
