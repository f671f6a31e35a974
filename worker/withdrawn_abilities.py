"""Stops the tool calls of abilities that are out of use, whoever took them out: the store says which these are.

A command's own workflow does so at once. A capability's health changes in many places, some of them transactions of
the API or of an attempt that ends with it; whoever made the change need not live any longer for this to happen.
"""

import asyncio

import structlog
from temporalio.client import Client

from activities.call_stopping import CallStopping
from config.settings import Settings
from contracts.mcp.dispatch_record import DispatchOrder
from stores.database import Database
from stores.mcp.ability_calls import AbilityCalls
from worker.dispatch_recovery import run_dispatch

log = structlog.get_logger(__name__)

LOOK_EVERY_SECONDS = 2.0
"""How often a worker looks: one small query, and nothing more while no such call is open."""

BY = "system"
"""Who gives the calls up, in their receipts."""


def call_stopping(settings: Settings, database: Database) -> CallStopping:
    """Stops calls, and runs the workflow of one that Temporal has lost, so that it ends in order."""

    async def run_call(client: Client, order: DispatchOrder) -> None:
        # It is run to be given up, which is no news for anybody.
        await run_dispatch(client, settings, order, told=True)

    return CallStopping(AbilityCalls(database), run_call)


async def stop_calls_of_withdrawn(client: Client, settings: Settings, database: Database) -> tuple[str, ...]:
    """Looks once; the calls that could not be reached. Safe to repeat, by any number of workers."""
    return await call_stopping(settings, database).stop_withdrawn(client, BY)


async def keep_stopped(
    client: Client,
    settings: Settings,
    database: Database,
    *,
    every_seconds: float = LOOK_EVERY_SECONDS,
) -> None:
    """Looks again and again, until cancelled."""
    while True:
        try:
            left = await stop_calls_of_withdrawn(client, settings, database)
        except Exception as error:
            # The next look tries again; a worker without it still does its work.
            log.warning("calls were not looked after", error=f"{type(error).__name__}: {error}")
        else:
            if left:
                log.warning("calls of abilities that are out of use could not be stopped yet", calls=left)
        await asyncio.sleep(every_seconds)
