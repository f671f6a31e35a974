"""The decisions about a tool call, one transaction each; and having the calls that wait look again."""

import asyncio
from collections.abc import Callable

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.head_starts import HeadStarts
from activities.refusals import refusing
from contracts.mcp.dispatch_work import (
    CallEnd,
    DecideOrder,
    DecisionTaken,
    DispatchStanding,
    EndOrder,
    InspectOrder,
    JudgeOrder,
    RecheckOrder,
    ReleaseOrder,
)
from stores.mcp.dispatch_decisions import DispatchDecisions
from stores.mcp.dispatch_inspection import DispatchInspection
from stores.mcp.dispatch_observing import DispatchObserver
from stores.mcp.dispatch_opening import DispatchOpening

RECONSIDER = "reconsider"
"""The signal that has a workflow look again."""


async def tell_to_look(client: Client, dispatch_id: str) -> None:
    """Tells the workflow of a call to look again, if it has not ended meanwhile.

    Raises:
        RPCError: Temporal did not take the word.
    """
    try:
        await client.get_workflow_handle(f"mcp-dispatch/{dispatch_id}").signal(RECONSIDER)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


class McpDispatchActivities:
    """Each is its transaction, safe to repeat."""

    def __init__(
        self,
        opening: DispatchOpening,
        decisions: DispatchDecisions,
        inspection: DispatchInspection,
        observer: DispatchObserver,
        head_starts: HeadStarts,
        written: Callable[[], None],
    ) -> None:
        """``written`` has the files on disk agree with the store soon."""
        self._opening = opening
        self._decisions = decisions
        self._inspection = inspection
        self._observer = observer
        self._head_starts = head_starts
        self._written = written

    @activity.defn
    async def judge_dispatch(self, order: JudgeOrder) -> DispatchStanding:
        """Judges a call: let pass, blocked, or made to wait. A known call stays as it is."""
        standing = await asyncio.to_thread(self._judged, order)
        # A call that rests in a new run of its workflow needs no conversation yet.
        if standing.waits_until is None:
            self._head_starts.give(standing, order.at)
        return standing

    @activity.defn
    async def decide_dispatch(self, order: DecideOrder) -> DecisionTaken:
        """Takes one person's answer about a call that waits."""
        taken = await asyncio.to_thread(self._decided, order)
        self._head_starts.give(taken.standing, order.at)
        return taken

    @activity.defn
    @refusing
    def end_dispatch(self, order: EndOrder) -> DispatchStanding:
        """Gives up a call that waits."""
        return self._told(self._decisions.end(order))

    @activity.defn
    @refusing
    def reconsider_dispatch(self, order: RecheckOrder) -> DispatchStanding:
        """Looks again whether a call that waits may pass now."""
        return self._told(self._opening.reconsider(order.dispatch_id, order.at))

    @activity.defn
    @refusing
    def inspect_call(self, order: InspectOrder) -> CallEnd:
        """Finds out what became of an attempt that was not heard of again."""
        end = self._inspection.inspect(order)
        self._told(end.standing)
        return end

    @activity.defn
    async def release_dispatches(self, order: ReleaseOrder) -> None:
        """Tells the workflows of calls that wait to look again."""
        client = activity.client()
        for dispatch_id in order.dispatch_ids:
            activity.heartbeat()
            await tell_to_look(client, dispatch_id)
            await asyncio.sleep(0)

    @refusing
    def _judged(self, order: JudgeOrder) -> DispatchStanding:
        return self._told(self._opening.judge(order.order, order.at))

    @refusing
    def _decided(self, order: DecideOrder) -> DecisionTaken:
        taken = self._decisions.decide(order)
        self._told(taken.standing)
        return taken

    def _told(self, standing: DispatchStanding) -> DispatchStanding:
        self._observer.observe(standing)
        self._written()
        return standing
