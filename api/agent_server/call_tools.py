"""MCP tools that call tools of registered servers, through policy, approval and receipts.

A call returns its result, the approval that it waits for, or what to do instead. Another tool explains which of
several servers a call would be routed to.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio.to_thread
from mcp_types import (
    CallToolResult,
    ContentBlock,
    ElicitRequest,
    ElicitRequestURLParams,
    InputRequiredResult,
    TextContent,
    ToolAnnotations,
)
from pydantic import TypeAdapter, ValidationError

from api.agent_server.agent_tool import AgentRequest, AgentTool, structured
from contracts.abilities.capability_health import ActionClass
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.agent_tools import AgentCall, CallToolInput, ExplainRouteInput, GetCallInput
from contracts.mcp.dispatch import DispatchRequest, DispatchStatus, DispatchView
from contracts.mcp.routing import RouteExplainRequest, RouteExplanation
from contracts.platform.identity import Scope
from domain.learning.session.deployment import refuse_missing_part
from domain.mcp.policy_facts import calling_as, shown_to

_BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])

NEXT_STEPS: Mapping[DispatchStatus, str] = {
    DispatchStatus.PENDING_APPROVAL: "Do not call again: the call waits for a person. Give the user approve_url, "
    "then ask get_call with this dispatch_id; once approved it runs by itself, once.",
    DispatchStatus.RUNNING: "Do not call again: it goes on by itself. Ask get_call with this dispatch_id.",
    DispatchStatus.COMPLETED: "Use the result.",
    DispatchStatus.BLOCKED: "This call is not allowed. Do not try again; tell the user.",
    DispatchStatus.DENIED: "A person said no. Do not try again; tell the user.",
    DispatchStatus.EXPIRED: "Nobody decided in time and nothing was sent. Ask the user before you call again.",
    DispatchStatus.CANCELLED: "The call was given up. Do not try again unless the user asks for it.",
    DispatchStatus.AUTH_REQUIRED: "The user has to sign in to that server; then call again.",
    DispatchStatus.FAILED: "Tell the user what failed; call again only with other arguments.",
    DispatchStatus.OUTCOME_UNKNOWN: "The tool may have done its work. Never repeat this call; tell the user to "
    "look what happened.",
}
"""What an agent does next, by how the call stands."""

_ADVISED: Mapping[DispatchStatus, str] = {
    DispatchStatus.BLOCKED: "This call is not allowed. Do not try again; tell the user:",
    DispatchStatus.AUTH_REQUIRED: "Tell the user:",
    DispatchStatus.FAILED: "Tell the user what failed.",
}
"""What an agent does where the call says itself what would help. Where it is not here, its own advice is for people."""

_READS = frozenset({ActionClass.READ, ActionClass.SEARCH, ActionClass.FETCH})

_NOT_SHOWN = (
    "It was made, by another token: its answer is shown to that one alone, and to those that may approve. "
    "Do not call again."
)

NO_ERROR = frozenset({DispatchStatus.PENDING_APPROVAL, DispatchStatus.RUNNING, DispatchStatus.COMPLETED})
"""How a call stands that is, or may yet become, a good one. Agents repeat what is an error, so waiting is none."""

_APPROVAL = "approval"


def as_call(view: DispatchView, console_url: str) -> AgentCall:
    """A call as agents see it; ``console_url`` is where people decide."""
    pending = view.status is DispatchStatus.PENDING_APPROVAL
    code = (view.error_code or view.status.value.upper()) if view.status not in NO_ERROR else None
    return AgentCall(
        dispatch_id=view.dispatch_id,
        status=view.status,
        server_id=view.server_id,
        tool_name=view.tool_name,
        next_step=clipped(_next_step(view), 500),
        approve_url=f"{console_url}#ask-first/{view.dispatch_id}" if pending else None,
        expires_at=view.ask_first.expires_at if pending and view.ask_first is not None else None,
        result=view.result if view.status is DispatchStatus.COMPLETED else None,
        error_code=code,
        error_message=view.error_message if code is not None else None,
        waits_until=view.waits_until if view.status is DispatchStatus.RUNNING else None,
    )


def _next_step(view: DispatchView) -> str:
    said = NEXT_STEPS[view.status]
    if view.status is DispatchStatus.OUTCOME_UNKNOWN and view.action_class in _READS:
        return "Nobody knows what became of it; it only reads."
    if view.status is DispatchStatus.COMPLETED and view.result is None:
        return _NOT_SHOWN
    if view.status is DispatchStatus.RUNNING and view.waits_until is not None:
        return " ".join(part for part in (said, view.error_message, view.next_action) if part)
    if view.status in _ADVISED and view.next_action:
        return f"{_ADVISED[view.status]} {view.next_action}"
    return said


def made(view: DispatchView, console_url: str) -> CallToolResult:
    """The answer to who made the call: an error where it came to nothing, or where the tool reports one."""
    is_error = view.status not in NO_ERROR or bool(view.is_error)
    return _result(as_call(view, console_url), is_error=is_error)


def looked_at(view: DispatchView, console_url: str) -> CallToolResult:
    """The answer to who asks how a call stands: that it failed is no failure of asking."""
    return _result(as_call(view, console_url), is_error=False)


def asks_to_open(call: AgentCall, url: str) -> InputRequiredResult:
    """Has the client show its user the link, and come back for the same call."""
    message = f"Please decide about the call of {call.tool_name} at {call.server_id}."
    link = ElicitRequestURLParams(message=message, url=url, elicitation_id=call.dispatch_id)
    return InputRequiredResult(
        input_requests={_APPROVAL: ElicitRequest(params=link)}, request_state=call.dispatch_id
    )


def _result(call: AgentCall, *, is_error: bool) -> CallToolResult:
    return CallToolResult(
        content=_content(call), structured_content=call.model_dump(mode="json"), is_error=is_error
    )


def _content(call: AgentCall) -> list[ContentBlock]:
    blocks = _blocks_of(call)
    if blocks:
        return blocks
    if call.error_code is not None:
        lines = (f"{call.error_code}: {call.error_message or call.status.value}", f"Next: {call.next_step}")
        return [TextContent(text="\n".join(lines))]
    return [TextContent(text=call.model_dump_json(exclude_none=True))]


def _blocks_of(call: AgentCall) -> list[ContentBlock]:
    """What the tool itself showed."""
    if call.result is None:
        return []
    try:
        return _BLOCKS.validate_python(call.result.get("content") or [])
    except ValidationError:
        return []


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
    """The existing call of a request that is resumed with its state."""
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
