"""Cancels the waiting and running tool calls of an ability that goes out of use."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from temporalio import activity
from temporalio.client import Client, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from activities.platform.context import heartbeats
from contracts.mcp.dispatch_work import DispatchOrder, DispatchStanding, EndCause, EndOrder, StopCallsOrder
from contracts.workflow_ids import mcp_dispatch_id
from stores.mcp.dispatch.reads import AbilityCalls

CANCEL = "cancel"
"""The update of a call's workflow that gives the call up."""

MOST_AT_ONCE = 10
"""Calls that are given up at the same time."""

ANSWERS_WITHIN_SECONDS = 10.0
"""How long a call's workflow may take to give it up before it is asked again."""

STILL_OPEN = "CALLS_STILL_OPEN"
"""The type of the error by which the activity is tried again."""

_NOT_NOW = (
    RPCError,
    TimeoutError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
"""Errors of an update to a workflow that is closing, that Temporal has lost, or that no worker runs."""


RunCall = Callable[[Client, DispatchOrder], Awaitable[object]]
"""Starts the workflow of a call, where Temporal does not run it."""


class CallStopping:
    """Idempotent: a call is given up once, and one that has ended stays as it is."""

    def __init__(self, calls: AbilityCalls, run_call: RunCall) -> None:
        self._calls = calls
        self._run_call = run_call

    @activity.defn
    async def stop_calls(self, order: StopCallsOrder) -> int:
        """Gives up the ability's calls; how many there were.

        Raises:
            ApplicationError: ``CALLS_STILL_OPEN`` where some could not be reached; to be tried again.
        """
        async with heartbeats():
            found = await asyncio.to_thread(self._calls.open_of, order.ability_id, order.until)
            left = await self.stop(activity.client(), found, order.by, order.reason)
        if left:
            raise ApplicationError(f"{len(left)} of {len(found)} calls still run or wait.", type=STILL_OPEN)
        return len(found)

    async def stop_withdrawn(self, client: Client, by: str) -> tuple[str, ...]:
        """Gives up the calls of every ability that is out of use; those that could not be reached."""
        left: list[str] = []
        for ability in await asyncio.to_thread(self._calls.of_withdrawn):
            left += await self.stop(client, ability.dispatch_ids, by, ability.because)
        return tuple(left)

    async def stop(
        self, client: Client, dispatch_ids: Sequence[str], by: str, reason: str
    ) -> tuple[str, ...]:
        """Has each of these calls given up by its own workflow; those that run or wait even so."""
        orders = [
            EndOrder(dispatch_id=one, cause=EndCause.CANCELLED, by=by, reason=reason) for one in dispatch_ids
        ]
        slots = asyncio.Semaphore(MOST_AT_ONCE)

        async def give_up(order: EndOrder) -> None:
            async with slots:
                await _give_up(client, order)

        await asyncio.gather(*map(give_up, orders))
        lost = await asyncio.to_thread(self._calls.still_open, dispatch_ids)
        for one in lost:
            await self._run_call(client, one)
        left = {one.dispatch_id for one in lost}
        await asyncio.gather(*(give_up(order) for order in orders if order.dispatch_id in left))
        still = await asyncio.to_thread(self._calls.still_open, tuple(left))
        return tuple(one.dispatch_id for one in still)


async def _give_up(client: Client, order: EndOrder) -> None:
    """Sends the update to the call's workflow; its row has the outcome."""
    handle = client.get_workflow_handle(mcp_dispatch_id(order.dispatch_id))
    try:
        async with asyncio.timeout(ANSWERS_WITHIN_SECONDS):
            await handle.execute_update(  # pyright: ignore[reportUnknownMemberType]
                CANCEL, order, id=f"out-of-use/{order.dispatch_id}", result_type=DispatchStanding
            )
    except _NOT_NOW:
        return
