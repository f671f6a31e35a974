"""``apprentice tokens``: create, list and revoke access tokens."""

from typing import Annotated

import typer
from rich.text import Text

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
    call: Invocation,
    token_id: Annotated[str, typer.Argument(help="The token's id.", metavar="TOKEN")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask, also for the token in use and the last admin token.")
    ] = False,
) -> None:
    """Revoke a token; it stops working at once, and so do those that were made with it."""
    lost = None if yes else _lost_with(call, token_id)
    if lost is not None:
        if call.json:
            raise NothingToDo(f"{lost} Say --yes if that is meant.")
        typer.confirm(f"{lost} Revoke it all the same?", abort=True)
    call.api.tokens.revoke_token(token_id)
    call.answer(Text(f"Token {token_id} is revoked."))


def _lost_with(call: Invocation, token_id: str) -> str | None:
    """What nobody could do any more without this token; ``None`` where others are left for that."""
    tokens = call.api.tokens.tokens().tokens
    made_by = {one.token_id: one.made_by for one in tokens}
    own: str | None = call.api.tokens.me().token_id
    while own is not None:
        if own == token_id:
            return "The token that you use now goes with it: what you type is refused from here on."
        own = made_by.get(own)
    held = [one for one in tokens if one.revoked_at is None]
    admins = [one.token_id for one in held if Scope.ADMIN in one.scopes]
    if admins == [token_id]:
        return "This is the only token with the scope admin that is left."
    return None
