"""``apprentice mcp profiles``: sign-ins that servers share: list, make, give a secret, remove."""

import sys
from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text

from cli.mcp.auth_commands import STATE_COLOURS
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import (
    PageOption,
    PageSizeOption,
    SearchOption,
    SortOption,
    answer_list,
    list_query,
)
from cli.platform.output import listing
from clients.apprentice.mcp import McpSignInApi
from contracts.mcp.auth import (
    MCPAuthProfileCreateRequest,
    MCPAuthProfileSecretRequest,
    MCPRefreshPolicy,
    MCPTokenSubjectKind,
)
from contracts.mcp.provider import MCPAuthMode, MCPProvider

app = typer.Typer(no_args_is_help=True, help="Sign-ins that tool servers share.")

_Profile = Annotated[str, typer.Argument(help="The sign-in's id.", metavar="SIGN-IN")]


@api_command(app, "list")
def list_profiles(
    call: Invocation,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List your sign-ins."""
    query = list_query(page, page_size, sort, search)
    found = McpSignInApi(call.api.http).profiles(**query)
    table = listing("sign-in", "provider", "mode", "state", "renewal", "trouble")
    for one in found.auth_profiles:
        table.add_row(
            one.auth_profile_id,
            one.provider.value,
            one.auth_mode.value,
            f"[{STATE_COLOURS[one.status]}]{one.status.value}[/]",
            one.refresh_policy.value,
            escape(one.last_auth_error_code or ""),
        )
    answer_list(call, found, table, "No sign-ins yet. Next: `apprentice mcp profiles create --help`.", query)


@api_command(app, "create")
def create(
    call: Invocation,
    mode: Annotated[MCPAuthMode, typer.Option(help="How it signs in.")] = MCPAuthMode.OAUTH2_DELEGATED,
    provider: Annotated[MCPProvider, typer.Option(help="Whose servers it is for.")] = (
        MCPProvider.CUSTOM_REMOTE
    ),
    scope: Annotated[list[str] | None, typer.Option(help="What to ask for; repeatable.")] = None,
    client_id: Annotated[
        str | None, typer.Option(help="Of a client you made at the provider; left out, we register.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="The provider's name of your organisation.")] = None,
    refresh: Annotated[
        MCPRefreshPolicy, typer.Option(help="Whether tokens are renewed, and by themselves.")
    ] = MCPRefreshPolicy.AUTO_IF_REFRESH_TOKEN,
    shared: Annotated[bool, typer.Option("--shared", help="Several servers are to use it.")] = False,
) -> None:
    """Make a sign-in. Its secret, if it has one, is entered apart."""
    service = mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS
    made = McpSignInApi(call.api.http).create(
        MCPAuthProfileCreateRequest(
            provider=provider,
            auth_mode=mode,
            scopes=tuple(scope or ()),
            client_id=client_id,
            tenant_id=tenant,
            refresh_policy=refresh,
            shared_profile=shared,
            token_subject_kind=MCPTokenSubjectKind.SERVICE if service else MCPTokenSubjectKind.USER,
        )
    )
    by_secret = service or mode is MCPAuthMode.API_KEY
    then = (
        f"`apprentice mcp profiles secret {made.auth_profile_id}`"
        if by_secret
        else f"`apprentice mcp servers edit SERVER --auth-profile {made.auth_profile_id}`"
    )
    call.answer(Text(f"Sign-in {made.auth_profile_id} is there. Next: {then}."))


@api_command(app, "secret")
def secret(call: Invocation, profile: _Profile) -> None:
    """Enter an API key or client secret: asked for, or read from standard input; never an argument."""
    McpSignInApi(call.api.http).enter_secret(profile, MCPAuthProfileSecretRequest(secret=_read_secret()))
    call.answer(Text("The secret is kept. It is never shown again."))


@api_command(app, "remove")
def remove(call: Invocation, profile: _Profile) -> None:
    """Delete a sign-in that no server uses, with its secrets."""
    McpSignInApi(call.api.http).remove(profile)
    call.answer(Text("The sign-in and its secrets are deleted."))


def _read_secret() -> str:
    # What is typed as an argument stays in the shell's history and in every list of processes.
    if sys.stdin.isatty():
        return str(typer.prompt("Secret", hide_input=True))
    found = sys.stdin.read().strip("\r\n")
    if not found:
        raise NothingToDo(
            "there is nothing on standard input; pipe the secret in, or run this at a terminal."
        )
    return found
