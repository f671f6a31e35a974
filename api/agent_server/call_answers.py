"""What an agent is told of a call: its result, that it waits for a person and where, or what to do instead."""

from collections.abc import Mapping

from mcp_types import (
    CallToolResult,
    ContentBlock,
    ElicitRequest,
    ElicitRequestURLParams,
    InputRequiredResult,
    TextContent,
)
from pydantic import TypeAdapter, ValidationError

from contracts.agents.tools import AgentCall
from contracts.base import clipped
from contracts.mcp.dispatch import DispatchStatus, DispatchView

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

NO_ERROR = frozenset({DispatchStatus.PENDING_APPROVAL, DispatchStatus.RUNNING, DispatchStatus.COMPLETED})
"""How a call stands that is, or may yet become, a good one. Agents repeat what is an error, so waiting is none."""

_APPROVAL = "approval"


def as_call(view: DispatchView, console_url: str) -> AgentCall:
    """A call as agents see it; ``console_url`` is where people decide."""
    pending = view.status is DispatchStatus.PENDING_APPROVAL
    code, next_step = None, NEXT_STEPS[view.status]
    if view.status not in NO_ERROR:
        code = view.error_code or view.status.value.upper()
        if view.next_action:
            next_step = clipped(f"{next_step} {view.next_action}", 500)
    return AgentCall(
        dispatch_id=view.dispatch_id,
        status=view.status,
        server_id=view.server_id,
        tool_name=view.tool_name,
        next_step=next_step,
        approve_url=f"{console_url}#ask-first/{view.dispatch_id}" if pending else None,
        expires_at=view.ask_first.expires_at if pending and view.ask_first is not None else None,
        result=view.result if view.status is DispatchStatus.COMPLETED else None,
        error_code=code,
        error_message=view.error_message if code is not None else None,
    )


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
