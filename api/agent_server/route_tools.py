"""A tool that answers which of several servers a call should go to, so that an agent need not guess."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio.to_thread
from mcp_types import CallToolResult, ToolAnnotations

from api.agent_server.agent_tool import AgentRequest, AgentTool
from api.agent_server.answers import structured
from api.mcp_callers import calling_as
from contracts.agents.tools import ExplainRouteInput
from contracts.mcp.routing import RouteExplainRequest, RouteExplanation
from contracts.runtime.identity import Scope


async def _explain_route(asked: AgentRequest, given: ExplainRouteInput) -> CallToolResult:
    caller = calling_as(asked.caller, asked.runtime(given.runtime), given.turn_ref, given.session_ref)
    request = RouteExplainRequest.model_validate(given.model_dump())
    explain = asked.services.mcp.routes.explain
    return structured(await anyio.to_thread.run_sync(partial(explain, request, caller, datetime.now(UTC))))


ROUTE_TOOLS: tuple[AgentTool[Any], ...] = (
    AgentTool(
        name="explain_route",
        title="Choose a server",
        description="Find out which server a call should go to when several have the tool, or why none may be "
        "called: each one's score and what made it. Calls nothing.",
        scope=Scope.CALL,
        takes=ExplainRouteInput,
        answers=RouteExplanation,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        run=_explain_route,
    ),
)
