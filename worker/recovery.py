"""Brings back what Temporal should be running: after a start, and after Temporal itself has lost its data."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from config.settings import Settings
from stores.database import Database
from stores.open_sessions import OpenSessions
from worker.dispatch_recovery import recover_dispatches
from worker.registration import register_search_attributes
from worker.schedule import register_schedules
from workflows.ids import NIGHTLY_SCHEDULE
from workflows.learn_session_messages import LearnSessionStart
from workflows.learn_session_workflow import LearnSessionWorkflow
from workflows.session_opening import opening_of

log = structlog.get_logger(__name__)

LOOK_EVERY_SECONDS = 30.0
"""How often a worker asks Temporal whether it still has its data: one small call."""


async def recover_sessions(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each session that is not at rest, so that its deadline runs; one that runs stays.

    Returns how many sessions were looked at. Safe to repeat, by any number of workers: a workflow begins with
    what the store has, and the store refuses a decision that was based on anything older.
    """
    sessions = OpenSessions(database)
    seen = await asyncio.to_thread(sessions.ids)
    for session_id in seen:
        aggregate = await asyncio.to_thread(sessions.one, session_id)
        if aggregate is not None:
            await client.start_workflow(
                LearnSessionWorkflow.run,
                LearnSessionStart(aggregate=aggregate),
                **opening_of(aggregate, settings.task_queue),
            )
    return len(seen)


async def keep_recovered(client: Client, settings: Settings, database: Database) -> None:
    """Recovers now, and again whenever Temporal no longer knows the nightly schedule; runs until cancelled.

    The schedule is registered by every worker before it polls, so a server without it has lost its data:
    search attributes, schedule and sessions are brought back.
    """
    await _whatever_happens(lambda: _recover(client, settings, database))
    while True:
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        await _whatever_happens(lambda: _look(client, settings, database))


async def _look(client: Client, settings: Settings, database: Database) -> None:
    try:
        await client.get_schedule_handle(NIGHTLY_SCHEDULE).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        log.warning("temporal has lost its data; bringing back what should run")
        await register_search_attributes(client)
        await _recover(client, settings, database)
        # Last, because it is what tells that everything before it is done.
        await register_schedules(client, settings)


async def _recover(client: Client, settings: Settings, database: Database) -> None:
    seen = await recover_sessions(client, settings, database)
    calls = await recover_dispatches(client, settings, database)
    log.info("open sessions and tool calls have their workflows", sessions=seen, calls=calls)


async def _whatever_happens(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:
        # The next look tries again; a worker without it still does its work.
        log.warning("recovery was put off", error=f"{type(error).__name__}: {error}")
