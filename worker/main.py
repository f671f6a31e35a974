"""Runs a worker as a process of its own."""

import asyncio
import signal

import structlog
from temporalio.client import Client

from config.logging import configure_logging
from config.memory import collect_seldom
from config.settings import Settings, prepare_data_dir, temporal_connect_kwargs
from gateways.platform.payload_signing import signing_data_converter
from stores.platform.migrate import upgrade
from worker.composition import WorkerParts, build_worker, compose
from worker.recovery import keep_recovered, keep_stopped
from worker.schedule import register_schedules, register_search_attributes
from worker.startup_registration import register_agents

log = structlog.get_logger(__name__)


def run(settings: Settings) -> None:
    """Works until SIGINT or SIGTERM, then drains."""
    configure_logging(settings, "worker")
    prepare_data_dir(settings)
    upgrade(settings.database_url)
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    converter = signing_data_converter(settings.data_dir, encrypt=settings.payload_encryption)
    client = await Client.connect(**temporal_connect_kwargs(settings), data_converter=converter)
    await register_search_attributes(client)
    await register_schedules(client, settings)
    parts = compose(settings)
    collect_seldom()
    try:
        async with build_worker(client, settings, parts):
            log.info("worker polls", task_queue=settings.task_queue)
            recovery = asyncio.create_task(keep_recovered(client, settings, parts.database))
            stopping = asyncio.create_task(keep_stopped(client, settings, parts.database))
            registering = asyncio.create_task(_register(client, settings, parts))
            await stop.wait()
            registering.cancel()
            recovery.cancel()
            stopping.cancel()
            log.info("worker drains")
    finally:
        await parts.close()


async def _register(client: Client, settings: Settings, parts: WorkerParts) -> None:
    if settings.register_agents_on_start:
        try:
            await register_agents(client, settings, parts.database)
        except Exception as error:
            # A worker does its work all the same.
            log.warning("agents were not registered", error=f"{type(error).__name__}: {error}")
