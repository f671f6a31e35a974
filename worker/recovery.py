"""Restarts workflows that Temporal has lost, has those look at the store that are behind it.

Stops calls of abilities out of use.

A command's own workflow stops the calls of its ability at once. A capability's health changes in many places, some
of them transactions of the API or of an ending attempt; the loop here does not depend on their process.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.mcp.call_stopping import CallStopping
from config.settings import Settings
from contracts.mcp.dispatch_work import DispatchOrder
from contracts.workflow_ids import NIGHTLY_SCHEDULE
from gateways.imports.pack_installs import run_pack_install
from gateways.imports.skill_imports import run_import, run_import_validation
from gateways.learning.sessions import run_session
from gateways.mcp.auth_profiles import run_sign_in
from gateways.mcp.dispatch import run_dispatch
from gateways.memory.check_ins import run_check_in
from gateways.practice.practice import run_practice
from gateways.skills.invocations import run_invocation
from stores.imports.import_backfill import backfill_imports
from stores.imports.import_installs import ImportInstalls
from stores.imports.imports import SkillImports
from stores.imports.pack_installs import PackInstalls
from stores.learning.session_reads import OpenSessions
from stores.mcp.auth.profiles import AuthProfileStore
from stores.mcp.dispatch.reads import AbilityCalls, DispatchStore
from stores.memory.check_ins import CheckIns
from stores.platform.database import Database
from stores.practice.practice import PracticeStore
from stores.skills.invocation_reads import InvocationReads
from worker.schedule import register_schedules, register_search_attributes


async def recover_dispatches(client: Client, settings: Settings, database: Database) -> int:
    """How many were looked at. Safe to repeat, by any number of workers: one that runs stays, and one that was
    being sent when it was lost is not sent again.
    """
    found = await asyncio.to_thread(DispatchStore(database).open_records)
    for record in found:
        await _run(client, settings, record.order, told=False, look=record.answer_is_newest)
    return len(found)


UNHEARD_AFTER = timedelta(seconds=30)
"""How long an answered call or a practice may be without any news before its workflow is looked after."""


async def tell_unheard_answers(client: Client, settings: Settings, database: Database) -> int:
    """How many calls were told of an answer that their workflow may have lost, with the process that gave it."""
    until = datetime.now(UTC) - UNHEARD_AFTER
    found = await asyncio.to_thread(DispatchStore(database).unheard_answers, until)
    for order in found:
        await _run(client, settings, order, told=True, look=True)
    return len(found)


log = structlog.get_logger(__name__)


async def _run(client: Client, settings: Settings, order: DispatchOrder, *, told: bool, look: bool) -> None:
    await run_dispatch(
        client, settings.task_queue, order, console_url=settings.console_url, told=told, look=look
    )


LOOK_EVERY_SECONDS = 30.0
"""How often a worker asks Temporal whether it still has its data: one small call."""


async def recover_sessions(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each session that is not at rest, so that its deadline runs; one that runs looks at
    the store. How many sessions were looked at.

    Safe to repeat, by any number of workers: a workflow begins with what the store has, and the store refuses a
    decision that was based on anything older.
    """
    sessions = OpenSessions(database)
    seen = await asyncio.to_thread(sessions.ids)
    for session_id in seen:
        aggregate = await asyncio.to_thread(sessions.one, session_id)
        if aggregate is not None:
            await run_session(client, settings.task_queue, aggregate)
    return len(seen)


async def recover_practices(
    client: Client, settings: Settings, database: Database, unheard_for: timedelta = timedelta()
) -> int:
    """Starts the workflow of each practice that has not ended, also where its session is at rest: it closes the
    record then. One that runs stays. How many have made no news for ``unheard_for``.
    """
    found = await asyncio.to_thread(PracticeStore(database).unheard, datetime.now(UTC) - unheard_for)
    for practice in found:
        await run_practice(client, settings.task_queue, practice)
    return len(found)


async def recover_sign_ins(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each sign-in that is renewed on time; one that runs looks at the store. How many."""
    found = await asyncio.to_thread(AuthProfileStore(database).renewed_on_time)
    for stored in found:
        await run_sign_in(client, settings.task_queue, stored)
    return len(found)


async def recover_invocations(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each invocation of a skill that has not ended; one that runs looks at the store."""
    found = await asyncio.to_thread(InvocationReads(database).open_orders)
    for order in found:
        await run_invocation(client, settings.task_queue, order, settings.console_url)
    return len(found)


async def recover_check_ins(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each check-in that is still to fire; one that runs is left alone."""
    found = await asyncio.to_thread(CheckIns(database).scheduled)
    for check_in in found:
        await run_check_in(client, settings.task_queue, check_in)
    return len(found)


async def recover_imports(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each skill import that is not over; one that runs is left alone. How many."""
    found = await asyncio.to_thread(SkillImports(database).not_over)
    for one in found:
        await run_import(client, settings.task_queue, one.import_id, one.owner_user_id)
    return len(found)


async def recover_import_validations(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each further validation of an imported skill that has not ended; one that runs stays."""
    found = await asyncio.to_thread(ImportInstalls(database).open_again_runs)
    for request in found:
        await run_import_validation(client, settings.task_queue, request)
    return len(found)


async def recover_pack_installs(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each install of a pack that has not ended; one that runs is left alone. How many."""
    found = await asyncio.to_thread(PackInstalls(database).not_over)
    for one in found:
        await run_pack_install(client, settings.task_queue, one.pack_install_id, one.owner_user_id)
    return len(found)


async def start_unstarted(client: Client, settings: Settings, database: Database) -> int:
    """Starts the workflow of each invocation that was let in a while ago and not begun since; how many.

    The process that let it in may have ended, or Temporal been away, before the workflow was started.
    """
    before = datetime.now(UTC) - timedelta(seconds=LOOK_EVERY_SECONDS)
    found = await asyncio.to_thread(InvocationReads(database).unstarted_orders, before)
    for order in found:
        await run_invocation(client, settings.task_queue, order, settings.console_url)
    return len(found)


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
    await tell_unheard_answers(client, settings, database)
    await recover_practices(client, settings, database, UNHEARD_AFTER)
    await start_unstarted(client, settings, database)
    try:
        await client.get_schedule_handle(NIGHTLY_SCHEDULE).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        log.warning("temporal has lost its data; bringing back what should run")
        await register_search_attributes(client)
        await _recover(client, settings, database)
        # Last: its presence marks that everything before it is done.
        await register_schedules(client, settings)


async def _recover(client: Client, settings: Settings, database: Database) -> None:
    seen = await recover_sessions(client, settings, database)
    practices = await recover_practices(client, settings, database)
    calls = await recover_dispatches(client, settings, database)
    sign_ins = await recover_sign_ins(client, settings, database)
    invocations = await recover_invocations(client, settings, database)
    check_ins = await recover_check_ins(client, settings, database)
    await asyncio.to_thread(backfill_imports, database, datetime.now(UTC))
    imports = await recover_imports(client, settings, database)
    validations = await recover_import_validations(client, settings, database)
    packs = await recover_pack_installs(client, settings, database)
    log.info(
        "open sessions, practices, tool calls, sign-ins, invocations, check-ins, imports, their validations and pack"
        " installs have their workflows",
        sessions=seen,
        practices=practices,
        calls=calls,
        sign_ins=sign_ins,
        invocations=invocations,
        check_ins=check_ins,
        imports=imports,
        validations=validations,
        packs=packs,
    )


async def _whatever_happens(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:
        # The next look tries again; a worker without it still does its work.
        log.warning("recovery was put off", error=f"{type(error).__name__}: {error}")


LOOK_FOR_WITHDRAWN_EVERY_SECONDS = 2.0
"""How often a worker looks: one small query, and nothing more while no such call is open."""

BY = "system"
"""Who gives the calls up, in their receipts."""


def call_stopping(settings: Settings, database: Database) -> CallStopping:
    """Stops calls, and runs the workflow of one that Temporal has lost, so that it ends in order."""

    async def run_call(client: Client, order: DispatchOrder) -> None:
        # It is run to be given up, so nothing is notified.
        await _run(client, settings, order, told=True, look=False)

    return CallStopping(AbilityCalls(database), run_call)


async def stop_calls_of_withdrawn(client: Client, settings: Settings, database: Database) -> tuple[str, ...]:
    """Looks once; the calls that could not be reached. Safe to repeat, by any number of workers."""
    return await call_stopping(settings, database).stop_withdrawn(client, BY)


async def keep_stopped(
    client: Client,
    settings: Settings,
    database: Database,
    *,
    every_seconds: float = LOOK_FOR_WITHDRAWN_EVERY_SECONDS,
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
