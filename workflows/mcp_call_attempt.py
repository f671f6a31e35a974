"""One attempt of a tool call as its workflow sees it: made, cut short, or asked after when it was not heard of."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.mcp_call_activities import McpCallActivities
    from activities.mcp_dispatch_activities import McpDispatchActivities
    from contracts.mcp.dispatch_work import CallEnd, CallOrder, DispatchStanding, EndOrder, InspectOrder
    from workflows.presets import STORE_CALL, tool_call_preset


class CallAttempt:
    """Makes attempts one after another. Whatever becomes of one, the store is asked before the next."""

    def __init__(self) -> None:
        self._running: asyncio.Task[CallEnd] | None = None

    def cut_short(self) -> None:
        """Cancels the attempt under way; what was sent stays sent."""
        if self._running is not None:
            self._running.cancel()

    async def make(self, standing: DispatchStanding) -> CallEnd | None:
        """One attempt; ``None`` when it was not heard of: then ask with ``inspect``."""
        order = CallOrder(
            dispatch_id=standing.dispatch_id,
            attempt=standing.attempts + 1,
            auth_profile_id=standing.auth_profile_id,
            at=workflow.now(),
        )
        self._running = asyncio.create_task(_made(order, standing.timeout_ms))
        try:
            return await self._running
        except FailureError:
            return None
        except asyncio.CancelledError:
            # Cut short, or the workflow itself is cancelled, which who called has to know.
            if not self._running.cancelled():
                raise
            return None
        finally:
            self._running = None

    async def inspect(self, standing: DispatchStanding, given_up: EndOrder | None) -> CallEnd:
        """What became of the attempt after ``standing``; from now on nobody can make it any more."""
        order = InspectOrder(
            dispatch_id=standing.dispatch_id,
            attempt=standing.attempts + 1,
            cancelled=given_up,
            at=workflow.now(),
        )
        return await workflow.execute_local_activity_method(
            McpDispatchActivities.inspect_call, order, summary="what became of it", **STORE_CALL
        )


async def _made(order: CallOrder, timeout_ms: int) -> CallEnd:
    return await workflow.execute_activity_method(
        McpCallActivities.call_tool,
        order,
        summary=f"call, attempt {order.attempt}",
        **tool_call_preset(timeout_ms),
    )
