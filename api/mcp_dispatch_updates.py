"""Updates to the workflow of a tool call: each starts it where it does not run."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import anyio.to_thread
from pydantic import BaseModel
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from api.opening_update import ANSWER_WITHIN, REOPENINGS, update_or_open
from api.update_errors import WorkflowWasClosing, as_refusals
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch_record import DispatchOrder
from contracts.mcp.dispatch_work import DispatchStanding
from stores.mcp.dispatches import DispatchStore
from workflows.ids import mcp_dispatch_id
from workflows.mcp_dispatch_messages import DispatchEnd, DispatchStart, DispatchWait, WaitUntil
from workflows.mcp_dispatch_view import KIND, summary_of
from workflows.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.session_view import search_attributes_of

_Answer = TypeVar("_Answer", bound=BaseModel)


class DispatchUpdates:
    """The way to the workflows of calls."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        dispatches: DispatchStore,
        console_url: str | None,
        answer_within: timedelta = ANSWER_WITHIN,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._dispatches = dispatches
        self._console_url = console_url
        self._answer_within = answer_within

    async def wait(self, order: DispatchOrder, wait_ms: int, since: int) -> None:
        """Starts the call, or finds it, and waits for its rest; in the end its row is there.

        ``since`` is the version that the caller has seen.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``, which names the call's ``dispatch_id``.
        """
        dispatch_id = order.dispatch_id
        nobody = Refusal(
            ErrorCode.TEMPORAL_UNAVAILABLE,
            "No worker has taken the call in time; it is made when one does. Look at it, or try again with the "
            "same key.",
            dispatch_id=dispatch_id,
        )
        if wait_ms:
            try:
                await self._waited(order, WaitUntil.AT_REST, timedelta(milliseconds=wait_ms), nobody, since)
                return
            except Refusal as refusal:
                if refusal is not nobody:
                    raise
            if await anyio.to_thread.run_sync(self._dispatches.find, dispatch_id) is not None:
                return
        await self._waited(order, WaitUntil.JUDGED, self._answer_within, nobody, since)

    async def _waited(
        self, order: DispatchOrder, until: WaitUntil, within: timedelta, nobody: Refusal, since: int
    ) -> None:
        wait = DispatchWait(dispatch_id=order.dispatch_id, until=until)
        # The same id for everybody: who asks again waits for the same update, unless the call has moved on since.
        update_id = f"dispatch/{until.value}/{since}"
        for _ in range(1 + REOPENINGS):
            with suppress(WorkflowWasClosing):
                await update_or_open(
                    self._client,
                    self._start(order),
                    "dispatch",
                    wait,
                    DispatchStanding,
                    update_id=update_id,
                    within=within,
                    nobody=nobody,
                )
                return
            # A call that was closing has its row. A server under load can also lose an update on its way.
            if await anyio.to_thread.run_sync(self._dispatches.find, order.dispatch_id) is not None:
                return
        raise nobody

    async def send(
        self,
        order: DispatchOrder,
        name: str,
        message: BaseModel,
        answer: type[_Answer],
        update_id: str,
    ) -> _Answer:
        """One command to the call's workflow, which is opened where it has closed.

        Raises:
            Refusal: the workflow's own; ``TEMPORAL_UNAVAILABLE`` when nobody answers.
        """
        # It runs, but for few: starting it along costs the server as much again as the command itself.
        for update in (self._update, *(self._update_or_open,) * REOPENINGS):
            with suppress(WorkflowWasClosing):
                return await update(order, name, message, answer, update_id)
        raise Refusal(ErrorCode.CONFLICT, "The call is changing too fast; repeat the command.")

    async def _update(
        self, order: DispatchOrder, name: str, message: BaseModel, answer: type[_Answer], update_id: str
    ) -> _Answer:
        handle = self._client.get_workflow_handle(mcp_dispatch_id(order.dispatch_id))
        with as_refusals():
            async with asyncio.timeout(self._answer_within.total_seconds()):
                found: _Answer = await handle.execute_update(  # pyright: ignore[reportUnknownMemberType]
                    name, message, id=update_id, result_type=answer, rpc_timeout=self._answer_within
                )
                return found

    async def _update_or_open(
        self, order: DispatchOrder, name: str, message: BaseModel, answer: type[_Answer], update_id: str
    ) -> _Answer:
        return await update_or_open(
            self._client,
            self._start(order),
            name,
            message,
            answer,
            update_id=update_id,
            within=self._answer_within,
        )

    def _start(self, order: DispatchOrder) -> WithStartWorkflowOperation[McpDispatchWorkflow, DispatchEnd]:
        return WithStartWorkflowOperation(
            McpDispatchWorkflow.run,
            DispatchStart(order=order, console_url=self._console_url),
            id=mcp_dispatch_id(order.dispatch_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=summary_of(order),
            memo={"correlation_id": order.correlation_id},
            search_attributes=search_attributes_of(KIND, order.caller.user_id),
        )
