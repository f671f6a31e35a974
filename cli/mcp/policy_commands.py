"""``apprentice mcp policy`` and ``apprentice mcp grants``: policy of tool calls and standing approvals."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
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
from clients.apprentice.mcp import McpPolicyApi
from contracts.base import counted
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPGlobalTarget,
    MCPPolicyAuthor,
    MCPPolicyMode,
    MCPPolicyPreviewRequest,
    MCPPolicyTarget,
    MCPPolicyUpdateRequest,
    MCPPolicyWish,
    MCPProviderLists,
    MCPProviderPolicyUpdateRequest,
    MCPProviderTarget,
    MCPRuntimeProvider,
    MCPServerTarget,
    MCPToolTarget,
)
from contracts.mcp.provider import MCPProvider
from domain.mcp.policy_facts import named

app = typer.Typer(no_args_is_help=True, help="What tool calls may be made: show, set, preview, runtimes.")

COLOURS = {
    MCPPolicyMode.ENABLED: "green",
    MCPPolicyMode.ASK_FIRST: "yellow",
    MCPPolicyMode.DISABLED: "red",
}


class Choice(StrEnum):
    """What to decide; ``inherit`` takes back what was decided."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    ASK_FIRST = "ask_first"
    INHERIT = "inherit"


_Choice = Annotated[Choice, typer.Argument(help="What is to hold; inherit takes a decision back.")]
_Provider = Annotated[MCPProvider | None, typer.Option(help="For every server of this provider.")]
_Server = Annotated[str | None, typer.Option(help="For this server.")]
_Tool = Annotated[str | None, typer.Option(help="For this tool of --server.")]
_Hours = Annotated[float | None, typer.Option("--hours", min=0.01, help="Only for so many hours from now.")]
_Names = list[str] | None


@api_command(app, "show")
def show(
    call: Invocation,
    page: Annotated[int, typer.Option(min=1, help="Which page of what you decided, newest first.")] = 1,
    page_size: Annotated[int, typer.Option(min=1, max=100, help="Decisions a page.")] = 25,
) -> None:
    """Show what you decided, and what holds where nothing is decided."""
    found = McpPolicyApi(call.api.http).policy(page, page_size)
    decided = listing("decided for", "mode", "until", "reason")
    now = datetime.now(UTC)
    for one in found.decisions:
        until = one.decision.expires_at
        if until is not None and until <= now:
            continue
        decided.add_row(
            escape(named(one.target)),
            _mode(one.decision.mode),
            f"{until:%Y-%m-%d %H:%M}" if until else "",
            escape(one.decision.reason_code or ""),
        )
    defaults = listing("by default", "mode", "why")
    for rule in found.defaults:
        defaults.add_row(escape(rule.applies_to), _mode(rule.mode), escape(rule.why))
    nothing = "Nothing of this page holds any more." if found.total else "Nothing is decided."
    shown = [decided] if decided.row_count else [nothing]
    more = found.total > page * page_size
    older = (
        [f"{found.total} in all; older ones: apprentice mcp policy show --page {page + 1}"] if more else []
    )
    limited = [one for one in found.providers if _limits(one)]
    lists = [_lists(limited)] if limited else ["No provider's runtimes are limited by a list."]
    call.answer(*shown, *older, defaults, *lists)


@api_command(app, "set")
def set_policy(
    call: Invocation,
    choice: _Choice,
    provider: _Provider = None,
    server: _Server = None,
    tool: _Tool = None,
    hours: _Hours = None,
    reason: Annotated[str | None, typer.Option(help="A word on why, for the trace.")] = None,
) -> None:
    """Decide for a tool, a server, a provider, or for everything when none is named."""
    target = _target(provider, server, tool)
    wish = _wish(choice, hours, reason)
    holds = McpPolicyApi(call.api.http).update(MCPPolicyUpdateRequest(target=target, decision=wish))
    call.answer(_holding(named(target), holds), *_besides(holds))


def _besides(holds: MCPEffectivePolicy) -> list[Text]:
    """What else a change did."""
    said: list[str] = []
    if holds.waiting_calls:
        became = {MCPPolicyMode.ENABLED: "go on", MCPPolicyMode.DISABLED: "end as blocked"}.get(
            holds.decision.mode, "are decided by it"
        )
        one = became.replace("go on", "goes on").replace("end as", "ends as").replace("are", "is")
        calls = counted(holds.waiting_calls, "call")
        said.append(f"{calls} that waited {one if holds.waiting_calls == 1 else became}.")
    return [Text(line) for line in (*said, holds.note or "") if line]


def _holding(where: str, holds: MCPEffectivePolicy) -> Text:
    if holds.decision.updated_by is MCPPolicyAuthor.SYSTEM:
        return Text(
            f"Nothing is decided for {where} now. The defaults hold: reads pass and changes ask first, with what "
            "`apprentice mcp policy show` lists."
        )
    said = Text.from_markup(f"For {escape(where)} holds now: {_mode(holds.decision.mode)}")
    if holds.inherited_from.value != "none":
        said.append(f", by what holds for {holds.inherited_from.value}")
    return said.append(".")


@api_command(app, "preview")
def preview(
    call: Invocation,
    choice: _Choice,
    provider: _Provider = None,
    server: _Server = None,
    tool: _Tool = None,
    newest: Annotated[int, typer.Option(min=1, max=1_000, help="How many calls to replay.")] = 100,
) -> None:
    """Show which of the newest calls would go otherwise; nothing is changed."""
    asked = MCPPolicyPreviewRequest(
        target=_target(provider, server, tool), decision=_wish(choice, None, None), newest=newest
    )
    _shown(call, asked)


def _shown(call: Invocation, asked: MCPPolicyPreviewRequest) -> None:
    found = McpPolicyApi(call.api.http).preview(asked)
    table = listing("call of", "server", "tool", "goes now", "would go", "why")
    for flip in found.flips:
        table.add_row(
            f"{flip.happened_at:%Y-%m-%d %H:%M:%S}",
            escape(flip.server_id),
            escape(flip.tool_name),
            _mode(flip.was),
            _mode(flip.would_be),
            escape(flip.why),
        )
    said = f"{len(found.flips)} of {counted(found.replayed, 'call')} would go otherwise than by policy as it is now."
    call.answer(*([table] if found.flips else []), said)


@api_command(app, "runtimes")
def runtimes(call: Invocation) -> None:
    """Show which tool servers the runtimes of each provider may use."""
    call.answer(_lists(McpPolicyApi(call.api.http).runtimes().policies))


def _limits(one: MCPProviderLists) -> bool:
    names = (
        one.allowed_servers,
        one.denied_servers,
        one.ask_first_servers,
        one.allowed_tools,
        one.denied_tools,
    )
    return not one.allow_mcp or any(names)


def _lists(policies: Iterable[MCPProviderLists]) -> Table:
    table = listing("runtimes of", "tool servers", "allowed", "denied", "ask first")
    for one in policies:
        table.add_row(
            one.provider.value,
            "[green]allowed[/]" if one.allow_mcp else "[red]not allowed[/]",
            escape(", ".join((*one.allowed_servers, *one.allowed_tools)) or "all"),
            escape(", ".join((*one.denied_servers, *one.denied_tools))),
            escape(", ".join(one.ask_first_servers)),
        )
    return table


@api_command(app, "runtime")
def runtime(
    call: Invocation,
    provider: Annotated[MCPRuntimeProvider, typer.Argument(help="Whose runtimes.")],
    allow: Annotated[
        bool | None, typer.Option("--on/--off", help="Whether they may use tool servers at all.")
    ] = None,
    allow_server: Annotated[_Names, typer.Option(help="The only servers they may use.")] = None,
    deny_server: Annotated[_Names, typer.Option(help="Servers they may not use.")] = None,
    ask_server: Annotated[_Names, typer.Option(help="Servers to ask first about.")] = None,
    allow_tool: Annotated[_Names, typer.Option(help="The only tools they may use.")] = None,
    deny_tool: Annotated[_Names, typer.Option(help="Tools they may not use.")] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show which of the newest calls would go otherwise, no more.")
    ] = False,
) -> None:
    """Change what one provider's runtimes may use. A list that is given replaces the one before; '' empties it."""
    api = McpPolicyApi(call.api.http)
    known = next(one for one in api.runtimes().policies if one.provider is provider)
    given = {
        "allowed_servers": allow_server,
        "denied_servers": deny_server,
        "ask_first_servers": ask_server,
        "allowed_tools": allow_tool,
        "denied_tools": deny_tool,
    }
    lists = {name: [one for one in names if one] for name, names in given.items() if names is not None}
    if allow is None and not lists:
        raise NothingToDo("say what to change: --on, --off or a list, as `--deny-tool mail_send`.")
    changed = {
        **known.model_dump(exclude={"updated_at", "note"}),
        **lists,
        "allow_mcp": known.allow_mcp if allow is None else allow,
    }
    request = MCPProviderPolicyUpdateRequest.model_validate(changed)
    if preview:
        _shown(call, MCPPolicyPreviewRequest(runtimes=MCPProviderLists.model_validate(changed)))
        return
    replaced = api.replace_runtimes(request)
    note = [Text(replaced.note)] if replaced.note else []
    call.answer(
        "These lists hold now; one that was given has replaced the one before.", _lists([replaced]), *note
    )


def _target(provider: MCPProvider | None, server: str | None, tool: str | None) -> MCPPolicyTarget:
    if tool is not None:
        if server is None or provider is not None:
            raise NothingToDo("a tool is named with its server: --server SERVER --tool TOOL")
        return MCPToolTarget(server_id=server, tool_name=tool)
    if server is not None and provider is not None:
        raise NothingToDo("name --provider or --server, not both")
    if server is not None:
        return MCPServerTarget(server_id=server)
    return MCPProviderTarget(provider=provider) if provider else MCPGlobalTarget()


def _wish(choice: Choice, hours: float | None, reason: str | None) -> MCPPolicyWish:
    now = datetime.now(UTC)
    if choice is Choice.INHERIT:
        # Over when it arrives: nothing is decided for the target then.
        return MCPPolicyWish(mode=MCPPolicyMode.ASK_FIRST, expires_at=now - timedelta(days=1))
    until = now + timedelta(hours=hours) if hours is not None else None
    return MCPPolicyWish(mode=MCPPolicyMode(choice.value), expires_at=until, reason_code=reason)


def _mode(mode: MCPPolicyMode) -> str:
    return f"[{COLOURS[mode]}]{mode.value}[/]"


grants_app = typer.Typer(no_args_is_help=True, help="Standing approvals: list them, take one back.")


@api_command(grants_app, "list")
def list_grants(
    call: Invocation,
    past: Annotated[
        bool, typer.Option("--past", help="Also those that were taken back or are over.")
    ] = False,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List what your approvals allow beyond their own call, newest first."""
    query = list_query(page, page_size, sort, search)
    found = McpPolicyApi(call.api.http).grants(include_past=past, **query)
    table = listing("grant", "server", "tool", "for", "used", "stands")
    for grant in found.grants:
        table.add_row(
            grant.grant_id,
            escape(grant.server_id),
            escape(grant.tool_name),
            escape(f"{grant.scope.value.removeprefix('end_of_')} {grant.scope_ref}"),
            str(grant.used),
            _stands(grant),
        )
    answer_list(
        call, found, table, "No standing approvals; every call that asks first is asked about.", query
    )


@api_command(grants_app, "revoke")
def revoke(call: Invocation, grant: Annotated[str, typer.Argument(help="Its id.", metavar="GRANT")]) -> None:
    """Take a standing approval back; the next call of the tool asks again."""
    gone = McpPolicyApi(call.api.http).revoke(grant)
    call.answer(Text(f"{gone.tool_name} of {gone.server_id} asks first again. {_stands(gone)}."))


def _stands(grant: MCPGrant) -> str:
    if grant.revoked_at is not None:
        return f"taken back by {escape(grant.revoked_by or '')} at {grant.revoked_at:%Y-%m-%d %H:%M}"
    over = grant.expires_at <= datetime.now(UTC)
    return f"{'over since' if over else 'until'} {grant.expires_at:%Y-%m-%d %H:%M}"
