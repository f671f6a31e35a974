"""Tools for calling tools: a call through the funnel of policy, approval and receipt, and how one stands."""

from typing import Any

from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations

from api.agent_server.agent_tool import AgentRequest, AgentTool
from api.agent_server.call_answers import as_call, asks_to_open, looked_at, made
from api.mcp_call_contents import shown_to
from contracts.agents.tools import AgentCall, CallToolInput, GetCallInput
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import DispatchRequest, DispatchView
from contracts.runtime.identity import Scope
from domain.learning.deployment import refuse_missing_part


async def _call_tool(asked: AgentRequest, given: CallToolInput) -> CallToolResult | InputRequiredResult:
    console = asked.services.settings.console_url
    if asked.resumed_state is not None:
        return made(await _resumed(asked, given, asked.resumed_state), console)
    refuse_missing_part("mcp_dispatch_create", asked.operations)
    fields = given.model_dump() | {"runtime": asked.runtime(given.runtime)}
    view = await asked.services.mcp.dispatch_gateway.dispatch(
        DispatchRequest.model_validate(fields),
        asked.caller,
        asked.key_or_own("call_tool", given),
        asked.correlation_id,
    )
    call = as_call(view, console)
    if call.approve_url is not None and asked.opens_links:
        return asks_to_open(call, call.approve_url)
    return made(view, console)


async def _resumed(asked: AgentRequest, given: CallToolInput, dispatch_id: str) -> DispatchView:
    """The call that this request was already made for: whoever comes back with the state asks for no other."""
    view = await asked.services.mcp.dispatch_gateway.view(dispatch_id, asked.caller.user_id)
    if (view.server_id, view.tool_name) != (given.server_id, given.tool_name):
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "requestState: it belongs to another call",
            fields=[{"path": "requestState", "problem": "belongs to another call"}],
        )
    return shown_to(asked.caller, view)


async def _get_call(asked: AgentRequest, given: GetCallInput) -> CallToolResult:
    view = await asked.services.mcp.dispatch_gateway.view(given.dispatch_id, asked.caller.user_id)
    return looked_at(shown_to(asked.caller, view), asked.services.settings.console_url)


CALL_TOOLS: tuple[AgentTool[Any], ...] = (
    AgentTool(
        name="call_tool",
        title="Call a tool",
        description="Call a tool of a registered server. Policy decides whether it runs, is forbidden, or waits "
        "for a person. A call that waits or runs goes on by itself: never repeat it, ask get_call how it stands.",
        scope=Scope.CALL,
        takes=CallToolInput,
        answers=AgentCall,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
        ),
        run=_call_tool,
    ),
    AgentTool(
        name="get_call",
        title="See how a call stands",
        description="How a call stands that you made with call_tool: waiting for a person, running, or over, "
        "with what the tool answered.",
        scope=Scope.CALL,
        takes=GetCallInput,
        answers=AgentCall,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        run=_get_call,
    ),
)
