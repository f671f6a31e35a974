"""How a tool call shows itself in the Temporal UI."""

from collections.abc import Mapping
from types import MappingProxyType

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from contracts.base import rfc3339
    from contracts.mcp.dispatch import DispatchStatus
    from contracts.mcp.dispatch_work import DispatchOrder, DispatchStanding


KIND = "mcp-dispatch"

_WAITS_FOR: Mapping[DispatchStatus, str] = MappingProxyType(
    {
        DispatchStatus.RUNNING: "the tool's answer",
        DispatchStatus.PENDING_APPROVAL: "an answer to `decide`, or its end by `cancel`",
    }
)


def summary_of(order: DispatchOrder) -> str:
    """The one line that lists show: names only."""
    return f"{order.tool_name}@{order.server_id} for {order.caller.user_id}"[:200]


def render_details(order: DispatchOrder, standing: DispatchStanding, console_url: str | None) -> str:
    """The current details: how it stands, since when, what it waits for, until when, and where to answer."""
    lines = [
        f"**State:** `{standing.status.value}` since {rfc3339(standing.since)}",
        f"**Call:** `{order.tool_name}` of `{order.server_id}` for {order.caller.user_id}",
        f"**Waits for:** {_WAITS_FOR.get(standing.status, 'nothing')}",
        f"**Attempts:** {standing.attempts}",
        f"**Correlation:** `{order.correlation_id}`",
    ]
    if standing.expires_at is not None:
        lines.append(f"**Deadline:** {rfc3339(standing.expires_at)}")
    if standing.waits_until is not None:
        lines.append(f"**Tried again:** {rfc3339(standing.waits_until)}")
    if standing.error_code is not None:
        lines.append(f"**Why:** `{standing.error_code}`")
    if console_url is not None:
        lines.append(f"[Open the console]({console_url})")
    return "\n\n".join(lines)
