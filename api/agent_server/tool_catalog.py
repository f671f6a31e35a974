"""Catalog of the tools of registered servers that an agent may call, by the policy that its calls are subject to."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio.to_thread
from mcp_types import CallToolResult, ToolAnnotations

from api.agent_server.agent_tool import AgentRequest, AgentTool, structured
from contracts.mcp.agent_tools import FindToolInput, FindToolOutput, FoundTool
from contracts.mcp.policy import MCPPolicyMode, MCPPolicyVerdict
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from contracts.platform.identity import Scope
from domain.mcp.policy import judge
from domain.mcp.policy_facts import calling_as, facts_of
from stores.mcp.policy.policy_rows import policies_of
from stores.mcp.servers.server_rows import server_of, servers_of
from stores.mcp.servers.tool_discovery import tools_of


async def _find_tool(asked: AgentRequest, given: FindToolInput) -> CallToolResult:
    return structured(await anyio.to_thread.run_sync(partial(_found, asked, given)))


def _found(asked: AgentRequest, given: FindToolInput) -> FindToolOutput:
    words = (given.query or "").casefold().split()
    fitting = [tool for tool in _callable(asked, given) if _fits(tool, words)]
    fitting.sort(key=lambda tool: (-_named(tool, words), tool.server_id, tool.tool_name))
    if not fitting:
        step = "No tool that you may call fits; tell the user what is missing."
    else:
        step = "Call call_tool with server_id, tool_name and arguments; with mode ask_first a person decides."
    return FindToolOutput(
        tools=tuple(fitting[: given.limit]), more=max(0, len(fitting) - given.limit), next_step=step
    )


def _callable(asked: AgentRequest, given: FindToolInput) -> Iterator[FoundTool]:
    user, now = asked.caller.user_id, datetime.now(UTC)
    caller = calling_as(asked.caller, asked.runtime(given.runtime))
    with asked.services.database.read() as connection:
        policies = policies_of(connection, user)
        if given.server_id is None:
            servers = servers_of(connection, user)
        else:
            servers = (server_of(connection, given.server_id, user),)
        for server in servers:
            if not server.enabled:
                continue
            for tool in tools_of(connection, server):
                verdict = judge(facts_of(user, server, tool, caller), policies, (), now)
                if tool.state is not MCPToolState.REMOVED and verdict.mode is not MCPPolicyMode.DISABLED:
                    yield _shown(server, tool, verdict)


def _shown(server: MCPServerRegistryEntry, tool: MCPTool, verdict: MCPPolicyVerdict) -> FoundTool:
    return FoundTool(
        server_id=server.server_id,
        server_name=server.display_name,
        tool_name=tool.definition.tool_name,
        title=tool.definition.title,
        description=tool.definition.description,
        input_schema=tool.definition.input_schema,
        reviewed=tool.state is MCPToolState.PINNED,
        effect=tool.effect,
        mode=verdict.mode,
        why=next((step.why for step in verdict.trace if step.decisive), verdict.reason_code),
    )


def _fits(tool: FoundTool, words: list[str]) -> bool:
    text = f"{tool.server_name} {tool.tool_name} {tool.title or ''} {tool.description}".casefold()
    return all(word in text for word in words)


def _named(tool: FoundTool, words: list[str]) -> int:
    """How many of the words are in the tool's own name: those go first."""
    return sum(word in tool.tool_name.casefold() for word in words)


CATALOG_TOOLS: tuple[AgentTool[Any], ...] = (
    AgentTool(
        name="find_tool",
        title="Find a tool",
        description="Find tools of the registered servers that you may call, with their input schemas and "
        "whether a person is asked first. Tools that are forbidden to you are not listed.",
        scope=Scope.CALL,
        takes=FindToolInput,
        answers=FindToolOutput,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        run=_find_tool,
    ),
)
