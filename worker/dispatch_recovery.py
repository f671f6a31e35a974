"""Starts the workflow of each tool call that has not ended, where Temporal does not run it any more."""

import asyncio

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy

from config.settings import Settings
from contracts.mcp.dispatch_record import DispatchOrder
from stores.database import Database
from stores.mcp.dispatches import DispatchStore
from workflows.ids import mcp_dispatch_id
from workflows.mcp_dispatch_messages import DispatchStart
from workflows.mcp_dispatch_view import KIND, summary_of
from workflows.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.session_view import search_attributes_of


async def recover_dispatches(client: Client, settings: Settings, database: Database) -> int:
    """How many were looked at. Safe to repeat, by any number of workers: one that runs stays, and one that was
    being sent when it was lost is not sent again.
    """
    found = await asyncio.to_thread(DispatchStore(database).open_orders)
    for order in found:
        await run_dispatch(client, settings, order, told=False)
    return len(found)


async def run_dispatch(client: Client, settings: Settings, order: DispatchOrder, *, told: bool) -> None:
    """Starts the workflow of a call that the store has; one that runs stays.

    Whether anybody was told that the call waits is lost with its workflow. Unless ``told``, it is told once more,
    under the name that the notice had.
    """
    await client.start_workflow(
        McpDispatchWorkflow.run,
        DispatchStart(order=order, console_url=settings.console_url, told=told),
        id=mcp_dispatch_id(order.dispatch_id),
        task_queue=settings.task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary=summary_of(order),
        memo={"correlation_id": order.correlation_id},
        search_attributes=search_attributes_of(KIND, order.caller.user_id),
    )
