"""``apprentice tokens``: create, list and revoke access tokens."""

from typing import Annotated

import typer
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.list_options import (
    PageOption,
    PageSizeOption,
    SearchOption,
    SortOption,
    answer_list,
    list_query,
)
from cli.platform.output import listing
from contracts.platform.identity import CreateTokenRequest, Scope
from domain.mcp.policy_facts import provider_of

NO_TOKENS = "There are no tokens. Make one: apprentice tokens create NAME --scope read"
app = typer.Typer(no_args_is_help=True, help="Make, list and revoke access tokens.")


@api_command(app, "list")
def list_tokens(
    call: Invocation,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List access tokens; their secrets are not kept and cannot be shown."""
    table = listing("token", "name", "user", "scopes", "runtime", "created", "revoked", whole="token")
    query = list_query(page, page_size, sort, search)
    found = call.api.tokens.tokens(**query)
    for token in found.tokens:
        table.add_row(
            token.token_id,
            Text(token.name),
            token.user_id,
            " ".join(scope.value for scope in token.scopes),
            Text(token.runtime or ""),
            token.created_at.strftime("%Y-%m-%d %H:%M"),
            token.revoked_at.strftime("%Y-%m-%d %H:%M") if token.revoked_at else "",
        )
    answer_list(call, found, table, NO_TOKENS, query)


@api_command(app, "create")
def create(
    call: Invocation,
    name: Annotated[str, typer.Argument(help="What it is for, e.g. laptop-recorder.")],
    scope: Annotated[list[Scope], typer.Option(help="What it may do (repeatable).")],
    user: Annotated[str | None, typer.Option(help="Whose it is (admins only); left out: yours.")] = None,
    runtime: Annotated[
        str | None, typer.Option(help="The one agent runtime it may call tools as, such as codex.")
    ] = None,
) -> None:
    """Make a token; its secret is shown this once."""
    request = CreateTokenRequest(name=name, user_id=user, scopes=tuple(scope), runtime=runtime)
    made = call.api.tokens.create_token(request)
    if call.json:
        call.answer()
        return
    call.show(Text(f"Token {made.token.token_id} for {made.token.user_id}. Its secret, shown this once:"))
    call.line(made.secret)
    if made.token.runtime is not None:
        lists = provider_of(made.token.runtime).value
        call.show(
            Text(f"It calls tools as {made.token.runtime}; the lists of {lists} count: mcp policy runtimes.")
        )


@api_command(app, "revoke")
def revoke(
    call: Invocation, token_id: Annotated[str, typer.Argument(help="The token's id.", metavar="TOKEN")]
) -> None:
    """Revoke a token; it stops working at once."""
    call.api.tokens.revoke_token(token_id)
    call.answer(Text(f"Token {token_id} is revoked."))
