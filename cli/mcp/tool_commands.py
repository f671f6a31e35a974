"""``apprentice mcp tools``: list a server's tools and their changes, and pin a reviewed definition."""

import json
from typing import Annotated

import typer
from rich.markup import escape
from rich.syntax import Syntax
from rich.text import Text

from cli.mcp.server_commands import ServerArgument
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import listing
from cli.platform.own_words import own_words
from clients.apprentice.mcp import McpRegistryApi
from contracts.mcp.tools import MCPTool, MCPToolReviewRequest, MCPToolState
from domain.platform.visible_text import visible

app = typer.Typer(no_args_is_help=True, help="The tools of a server: list, look at one, pin it.")

_COLOURS = {
    MCPToolState.PINNED: "green",
    MCPToolState.ADDED: "yellow",
    MCPToolState.CHANGED: "red",
    MCPToolState.REMOVED: "dim",
}
_ToolArgument = Annotated[str, typer.Argument(help="The tool's name.", metavar="TOOL")]


@api_command(app, "list")
def list_tools(call: Invocation, server: ServerArgument) -> None:
    """List a server's tools: what kind of call each is, whether it was reviewed, and its policy."""
    found = McpRegistryApi(call.api.http).tools(server)
    table = listing("tool", "kind", "state", "policy", "title")
    for tool in found.tools:
        policy = tool.effective_policy
        table.add_row(
            escape(tool.definition.tool_name),
            tool.effect.value,
            f"[{_COLOURS[tool.state]}]{tool.state.value}[/]",
            policy.decision.mode.value if policy and tool.state is not MCPToolState.REMOVED else "",
            escape(visible(tool.definition.title or "")),
        )
    said = f"Next: {escape(own_words(found.next_action))}" if found.next_action else ""
    call.answer(*([table] if found.tools else []), *([said] if said else []))


@api_command(app, "show")
def show(call: Invocation, server: ServerArgument, tool: _ToolArgument) -> None:
    """Show one tool as its server describes it, and what changed since it was reviewed."""
    found = _find(call, server, tool)
    call.answer_with(found, *definition_view(found))


@api_command(app, "review")
def review(
    call: Invocation,
    server: ServerArgument,
    tool: _ToolArgument,
    seen: Annotated[
        str | None,
        typer.Option("--hash", help="Of the definition you looked at; left out, it is shown and asked."),
    ] = None,
    idempotent: Annotated[
        bool | None,
        typer.Option(
            "--idempotent/--not-idempotent",
            help="Whether it may be repeated when its outcome is unknown.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Pin a tool's definition as you have seen it. It is refused when the tool moves on meanwhile."""
    if seen is None:
        found = _find(call, server, tool)
        if call.json:
            raise NothingToDo(
                "with --json say --hash: what was looked at; `apprentice mcp tools show` has it."
            )
        call.show(*definition_view(found))
        if not typer.confirm("Is this what the tool should be?"):
            raise NothingToDo("nothing was pinned.")
        seen = found.definition_hash
    request = MCPToolReviewRequest(definition_hash=seen, declared_idempotent=idempotent)
    pinned = McpRegistryApi(call.api.http).review(server, tool, request)
    call.answer(Text(f"{pinned.definition.tool_name} is pinned as {pinned.definition_hash[:12]}."))


def _find(call: Invocation, server: str, name: str) -> MCPTool:
    for tool in McpRegistryApi(call.api.http).tools(server).tools:
        if tool.definition.tool_name == name:
            return tool
    raise NothingToDo(f"the server has no tool {name}. Next: `apprentice mcp tools list {server}`.")


def definition_view(tool: MCPTool) -> tuple[Text | Syntax, ...]:
    """A tool as its server describes it, or what changed since it was reviewed."""
    definition = tool.definition
    head = Text(f"{definition.tool_name}  {tool.effect.value}  {tool.state.value}  {tool.definition_hash}")
    if tool.diff is not None:
        return head, Syntax(tool.diff, "diff")
    said = Text(visible(definition.description) or "It says nothing of itself.")
    return head, said, Syntax(json.dumps(definition.input_schema, indent=2), "json")
