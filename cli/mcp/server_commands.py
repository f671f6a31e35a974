"""``apprentice mcp servers``: list, show, register, edit and remove tool servers."""

from typing import Annotated

import typer
from pydantic import AnyUrl, ValidationError
from rich.markup import escape
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
from cli.platform.own_words import own_words
from clients.apprentice.mcp import McpRegistryApi
from contracts.base import counted
from contracts.mcp.provider import MCPInteractionMode, MCPProvider, MCPTransport
from contracts.mcp.servers import (
    MCPBadgeState,
    MCPServerCommand,
    MCPServerCreateRequest,
    MCPServerListItem,
    MCPServerPatchRequest,
)
from contracts.plain_problems import problem_sentence
from domain.platform.visible_text import visible

app = typer.Typer(no_args_is_help=True, help="Tool servers: list, show, register, edit, remove.")

_COLOURS = {
    MCPBadgeState.CONNECTED: "green",
    MCPBadgeState.APPROVAL_REQUIRED: "yellow",
    MCPBadgeState.AUTH_REQUIRED: "red",
    MCPBadgeState.DEGRADED: "yellow",
    MCPBadgeState.DISABLED: "dim",
    MCPBadgeState.DEFERRED: "dim",
    MCPBadgeState.BACKGROUND_ONLY: "cyan",
}

ServerArgument = Annotated[str, typer.Argument(help="The server's id.", metavar="SERVER")]
_Profile = Annotated[str | None, typer.Option("--auth-profile", help="The sign-in it uses.")]
_DataClasses = Annotated[
    list[str] | None, typer.Option("--data-class", help="What its data is, e.g. confidential; repeatable.")
]
_Readable = Annotated[
    list[str] | None,
    typer.Option("--read", help="A folder that a local program may read besides its own; repeatable."),
]
_Writable = Annotated[
    list[str] | None,
    typer.Option("--write", help="A folder that a local program may read and write; repeatable."),
]


@api_command(app, "list")
def list_servers(
    call: Invocation,
    everything: Annotated[
        bool, typer.Option("--all", help="Those that are deferred and only shown, too.")
    ] = False,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List your tool servers with their badges, and what to do about each."""
    query = list_query(page, page_size, sort, search)
    found = McpRegistryApi(call.api.http).servers(**query)
    shown = [one for one in found.servers if everything or not one.deferred_design_only]
    table = listing("server", "name", "provider", "badges", "tools", "next")
    for one in shown:
        table.add_row(
            escape(one.registry.server_id),
            escape(visible(one.registry.display_name)),
            one.registry.provider.value,
            _badges(one),
            str(len(one.registry.supported_tools)),
            escape(_next(one)),
        )
    nothing = "No tool servers yet. Next: `apprentice mcp servers register NAME --url URL`."
    if found.servers and not shown:
        call.answer(nothing)
    else:
        answer_list(call, found, table, nothing, query)


def _address(url: str) -> AnyUrl:
    try:
        return AnyUrl(url)
    except ValidationError as error:
        raise NothingToDo(f"{problem_sentence(error, whole='--url')}.") from None


@api_command(app, "register")
def register(
    call: Invocation,
    name: Annotated[str, typer.Argument(help="What people call it.")],
    url: Annotated[str | None, typer.Option(help="Where it answers, https://….")] = None,
    program: Annotated[
        str | None, typer.Option(help="For a local server: a program that the operator allows.")
    ] = None,
    argument: Annotated[
        list[str] | None, typer.Option("--arg", help="An argument of the program; repeatable.")
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option(help="NAME=WORKER_VARIABLE: what it finds in its environment.")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option("--folder", help="The folder a program runs in, which it may read and write."),
    ] = None,
    read: _Readable = None,
    write: _Writable = None,
    provider: Annotated[MCPProvider, typer.Option(help="Who stands behind it.")] = MCPProvider.CUSTOM_REMOTE,
    auth_profile: _Profile = None,
    data_class: _DataClasses = None,
    background: Annotated[bool, typer.Option(help="It works alone; no person is there to answer.")] = False,
    disabled: Annotated[
        bool,
        typer.Option("--disable", "--disabled", help="Register it switched off; it is not connected to."),
    ] = False,
) -> None:
    """Register a tool server: a web address, or a program on the service's machine."""
    if (url is None) == (program is None):
        raise NothingToDo("say either --url or --program.")
    made = McpRegistryApi(call.api.http).register(
        MCPServerCreateRequest(
            provider=provider,
            display_name=name,
            endpoint_url=None if url is None else _address(url),
            command=None
            if program is None
            else MCPServerCommand(
                program=program,
                arguments=tuple(argument or ()),
                working_folder=folder,
                environment_refs=_references(env or []),
                readable_folders=tuple(read or ()),
                writable_folders=tuple(write or ()),
            ),
            transport=MCPTransport.REMOTE_HTTP if program is None else MCPTransport.LOCAL_BRIDGE,
            interaction_mode=MCPInteractionMode.BACKGROUND_SERVICE
            if background
            else MCPInteractionMode.INTERACTIVE_USER,
            auth_profile_id=auth_profile,
            data_classes=tuple(data_class or ()),
            enabled=not disabled,
        )
    )
    server_id = made.server.registry.server_id
    call.answer(Text(f"{visible(name)} is registered as {server_id}. Next: `{_first_look(made.server)}`."))


@api_command(app, "edit")
def edit(
    call: Invocation,
    server: ServerArgument,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    url: Annotated[str | None, typer.Option(help="Another address; what was reviewed is so no more.")] = None,
    auth_profile: _Profile = None,
    no_auth_profile: Annotated[
        bool, typer.Option("--no-auth-profile", help="Let it use no sign-in.")
    ] = False,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Switch it on or off.", show_default=False)
    ] = None,
    data_class: _DataClasses = None,
    read: _Readable = None,
    write: _Writable = None,
    no_folders: Annotated[
        bool, typer.Option("--no-folders", help="Take back every folder that a local program was granted.")
    ] = False,
) -> None:
    """Change what you name; the rest stays."""
    if no_auth_profile and auth_profile is not None:
        raise NothingToDo("say --auth-profile or --no-auth-profile, not both.")
    given: dict[str, object] = {
        "display_name": name,
        "endpoint_url": url,
        "enabled": enabled,
        "data_classes": data_class,
        "auth_profile_id": auth_profile,
        "readable_folders": [] if no_folders and read is None else read,
        "writable_folders": [] if no_folders and write is None else write,
    }
    chosen = {field: value for field, value in given.items() if value is not None}
    if no_auth_profile:
        chosen["auth_profile_id"] = None
    if not chosen:
        raise NothingToDo("say what to change; `apprentice mcp servers edit --help` lists it.")
    request = MCPServerPatchRequest.model_validate(chosen)
    changed = McpRegistryApi(call.api.http).patch(server, request).server
    call.answer(Text(f"{visible(changed.registry.display_name)} is changed."), _next_line(changed))


@api_command(app, "show")
def show(call: Invocation, server: ServerArgument) -> None:
    """Show where a tool server is, and what a local program may reach."""
    found = McpRegistryApi(call.api.http).servers().servers
    item = next((one for one in found if one.registry.server_id == server), None)
    if item is None:
        raise NothingToDo(f"you have no tool server {server}; `apprentice mcp servers list` lists them.")
    entry, command = item.registry, item.registry.command
    facts = listing("what", "value")
    facts.add_row("name", escape(visible(entry.display_name)))
    facts.add_row("badges", _badges(item))
    if entry.endpoint_url is not None:
        facts.add_row("address", escape(str(entry.endpoint_url)))
    if command is not None:
        facts.add_row("program", escape(" ".join((command.program, *command.arguments))))
        facts.add_row("runs in", escape(command.working_folder or "a folder of its own"))
        facts.add_row("may read", escape(", ".join(command.readable_folders) or "no further folder"))
        facts.add_row("may write", escape(", ".join(command.writable_folders) or "no further folder"))
        facts.add_row("kept from", escape(item.confinement or ""))
    facts.add_row("tools", str(len(entry.supported_tools)))
    facts.add_row("abilities", escape(", ".join(one.ability_id for one in item.linked_abilities) or "none"))
    call.answer(facts, _next_line(item))


@api_command(app, "remove")
def remove(call: Invocation, server: ServerArgument) -> None:
    """Remove a tool server; its sign-in stays."""
    gone = McpRegistryApi(call.api.http).delete(server)
    kept = {
        "retained_shared": "Its sign-in stays: other servers use it.",
        "retained_unreferenced": "Its sign-in stays, and no server uses it any more. "
        f"Next: `apprentice mcp profiles remove {gone.detached_auth_profile_id}`.",
    }.get(gone.auth_profile_action.value, "")
    call.answer(Text(f"{server} is removed. {kept}".strip()))


def _badges(item: MCPServerListItem) -> str:
    return " ".join(f"[{_COLOURS[badge]}]{badge.value}[/]" for badge in item.badge_states)


def _next(item: MCPServerListItem) -> str:
    if item.auth is not None and item.auth.next_action:
        return own_words(item.auth.next_action)
    if item.health.next_action:
        return own_words(item.health.next_action)
    if item.changed_tools:
        changed = counted(item.changed_tools, "tool")
        return f"{changed} changed and will ask first: apprentice mcp tools list {item.registry.server_id}"
    return "" if item.registry.supported_tools else _first_look(item)


def _next_line(item: MCPServerListItem) -> str:
    said = _next(item)
    return f"Next: {escape(said)}" if said else ""


def _first_look(item: MCPServerListItem) -> str:
    server_id = item.registry.server_id
    if not item.registry.enabled:
        return f"apprentice mcp servers edit {server_id} --enable"
    return f"apprentice mcp smoke-test {server_id}"


def _references(pairs: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, source = pair.partition("=")
        if not sign or not name or not source:
            raise NothingToDo(f"--env takes NAME=WORKER_VARIABLE, not {pair}.")
        found[name] = source
    return found
