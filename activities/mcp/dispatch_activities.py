"""Activities of a tool call's workflow: decisions (one transaction each), approval webhook, wake-up of held calls.

The webhook carries names and a link, and no argument values.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError
from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.mcp.preopened_connections import PreopenedConnections
from activities.platform.refusals import refusing
from clients.platform.webhook import Webhook
from contracts.base import rfc3339
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import (
    CallEnd,
    DecideOrder,
    DecisionTaken,
    DispatchStanding,
    EndOrder,
    InspectOrder,
    JudgeOrder,
    NoticeOrder,
    RecheckOrder,
    ReleaseOrder,
)
from contracts.workflow_ids import mcp_dispatch_id
from stores.mcp.dispatch.attempt_ends import DispatchInspection
from stores.mcp.dispatch.attempt_rows import CallPlan
from stores.mcp.dispatch.decisions import DispatchDecisions
from stores.mcp.dispatch.opening import DispatchOpening
from stores.mcp.dispatch.reads import HeldCalls
from stores.mcp.dispatch.rows import StoredDispatch, find_dispatch
from stores.mcp.dispatch.settling import DispatchObserver
from stores.platform.database import Database

RECONSIDER = "reconsider"
"""The signal that has a workflow look again."""


async def tell_to_look(client: Client, dispatch_id: str) -> None:
    """Signals the workflow of a call to re-check, if it has not ended meanwhile.

    Raises:
        RPCError: Temporal did not take the word.
    """
    try:
        await client.get_workflow_handle(mcp_dispatch_id(dispatch_id)).signal(RECONSIDER)
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
        preopened: PreopenedConnections,
        written: Callable[[], None],
    ) -> None:
        """``written`` has the files on disk agree with the store soon."""
        self._opening = opening
        self._decisions = decisions
        self._inspection = inspection
        self._observer = observer
        self._preopened = preopened
        self._written = written

    @activity.defn
    async def judge_dispatch(self, order: JudgeOrder) -> DispatchStanding:
        """Judges a call: let pass, blocked, or made to wait. A known call stays as it is."""
        plans: list[CallPlan] = []
        standing = await asyncio.to_thread(self._judged, order, plans)
        # A call that rests in a new run of its workflow needs no conversation yet.
        if standing.waits_until is None:
            self._preopened.give(standing, order.at, *plans)
        return standing

    @activity.defn
    async def decide_dispatch(self, order: DecideOrder) -> DecisionTaken:
        """Takes one person's answer about a call that waits."""
        plans: list[CallPlan] = []
        taken = await asyncio.to_thread(self._decided, order, plans)
        self._preopened.give(taken.standing, order.at, *plans)
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
        """Signals the workflows of waiting calls to re-check."""
        client = activity.client()
        for dispatch_id in order.dispatch_ids:
            activity.heartbeat()
            await tell_to_look(client, dispatch_id)
            await asyncio.sleep(0)

    @refusing
    def _judged(self, order: JudgeOrder, plans: list[CallPlan]) -> DispatchStanding:
        return self._told(self._opening.judge(order.order, order.at, plans.append))

    @refusing
    def _decided(self, order: DecideOrder, plans: list[CallPlan]) -> DecisionTaken:
        taken = self._decisions.decide(order, plans.append)
        self._told(taken.standing)
        return taken

    def _told(self, standing: DispatchStanding) -> DispatchStanding:
        self._observer.observe(standing)
        self._written()
        return standing


class McpNoticeActivities:
    """An ordinary activity, retried for a while; what becomes of it never touches the call."""

    def __init__(self, database: Database, webhook: Webhook | None, console_url: str) -> None:
        """``webhook`` is None where none is configured."""
        self._database = database
        self._webhook = webhook
        self._console_url = console_url

    @activity.defn
    async def tell_waiting(self, order: NoticeOrder) -> None:
        """Notifies the approval webhook that a call waits, unless it no longer does."""
        if self._webhook is None:
            return
        kept = await asyncio.to_thread(self._read, order.dispatch_id)
        if kept is None or kept.record.status is not DispatchStatus.PENDING_APPROVAL:
            return
        await self._webhook.post(self._notice(kept), delivery_id=f"{order.dispatch_id}/{kept.version}")

    def _read(self, dispatch_id: str) -> StoredDispatch | None:
        with self._database.read() as connection:
            return find_dispatch(connection, dispatch_id)

    def _notice(self, kept: StoredDispatch) -> dict[str, object]:
        record = kept.record
        order, waiting = record.order, record.ask_first
        return {
            "event": "ask_first.pending",
            "dispatch_id": order.dispatch_id,
            "correlation_id": order.correlation_id,
            "user_id": record.owner,
            "server_id": order.server_id,
            "tool_name": order.tool_name,
            "summary": order.request_summary,
            "expires_at": rfc3339(waiting.expires_at) if waiting is not None else None,
            "console_url": f"{self._console_url}#ask-first/{order.dispatch_id}",
        }


MOST_TOLD = 200
"""The most calls that one recovery wakes up; younger ones retry when their delay is over."""

LASTS_AT_MOST_SECONDS = 10.0
"""After that the others go by themselves, as they would have."""


class HeldCallWakeUp:
    """Signals the held calls of a server that has recovered, within the activity that took in the good answer.

    Best effort: a call that is not signalled goes when its wait is over. The server is not flooded: the oldest calls
    are signalled first, and each one only when Temporal has the signal to the one before. Each asks for admission
    as if its wait were over, in two transactions: a half-open server takes one, a throttling one none; a call that is
    refused counts no attempt, and its next wait is spread. Before each signal the server's health is read again; once
    it fails, no further call is signalled. This happens only on the way from degraded to well, and three failures in
    a row lie before the next time, so that an unstable server is not asked again and again. A pause that a throttling
    server asked for is not shortened.
    """

    def __init__(self, held: HeldCalls) -> None:
        self._held = held

    async def wake(self, server_id: str) -> None:
        """Signals the held calls of a server that has recovered."""
        try:
            async with asyncio.timeout(LASTS_AT_MOST_SECONDS):
                await self._tell(server_id)
        except (RPCError, SQLAlchemyError, TimeoutError) as error:
            activity.logger.warning(
                "held calls were not signalled that their server has recovered",
                extra={"server": server_id, "error": type(error).__name__},
            )

    async def _tell(self, server_id: str) -> None:
        client = activity.client()
        for dispatch_id in await asyncio.to_thread(self._held.of_server, server_id, MOST_TOLD):
            if not await asyncio.to_thread(self._held.may_go, server_id, datetime.now(UTC)):
                return
            activity.heartbeat()
            await tell_to_look(client, dispatch_id)
