"""Registers schedules (maintenance, recheck of capabilities, mining, health of tool servers) and search attributes.

Decisions "Numbers", DOC3 §1.1I. A worker does so before it polls; any number of workers may repeat it.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from pydantic import BaseModel
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from config.settings import Settings
from contracts.workflow_ids import MCP_HEALTH_SCHEDULE, MINING_SCHEDULE, NIGHTLY_SCHEDULE, REPROBE_SCHEDULE
from gateways.platform.payload_signing import is_signed
from workflows.abilities.ability_messages import ReprobeStart
from workflows.abilities.capability_reprobe_workflow import CapabilityReprobeWorkflow
from workflows.maintenance.nightly_maintenance_messages import MaintenanceStart
from workflows.maintenance.nightly_maintenance_workflow import NightlyMaintenanceWorkflow
from workflows.mcp.mcp_messages import SweepStart
from workflows.mcp.mcp_probe_workflow import McpHealthSweepWorkflow
from workflows.mining.skill_mining_messages import MiningStart
from workflows.mining.skill_mining_workflow import SkillMiningWorkflow
from workflows.platform.presets import WORKFLOW_TASK_TIMEOUT
from workflows.platform.search_attributes import (
    KIND_ATTRIBUTE,
    OWNER_ATTRIBUTE,
    STATE_ATTRIBUTE,
    search_attributes_of,
)

log = structlog.get_logger(__name__)

CATCH_UP = timedelta(hours=24)
"""A night that was missed is made up for when the server is back within this time."""


def build_schedule(settings: Settings) -> Schedule:
    """Once a night at ``nightly_at`` in ``timezone``; skipped while the last one goes on.

    The rules themselves are read by the activities and are not stored in the schedule.
    """
    action = _action(
        settings, NIGHTLY_SCHEDULE, NightlyMaintenanceWorkflow.run, MaintenanceStart(), "nightly maintenance"
    )
    return Schedule(action=action, spec=_each_night(settings), policy=_one_at_a_time(CATCH_UP))


def build_reprobe_schedule(settings: Settings) -> Schedule:
    """Every ``reprobe_every``; skipped while the last one goes on, and not made up for."""
    action = _action(
        settings,
        REPROBE_SCHEDULE,
        CapabilityReprobeWorkflow.run,
        ReprobeStart(),
        "recheck of degraded and quarantined capabilities",
    )
    return Schedule(
        action=action, spec=_each(settings.reprobe_every), policy=_one_at_a_time(settings.reprobe_every)
    )


def build_mcp_health_schedule(settings: Settings) -> Schedule:
    """Every ``mcp_probe_every``; skipped while the last sweep goes on, and not made up for."""
    action = _action(
        settings,
        MCP_HEALTH_SCHEDULE,
        McpHealthSweepWorkflow.run,
        SweepStart(),
        "a look at every tool server that is due",
    )
    return Schedule(
        action=action, spec=_each(settings.mcp_probe_every), policy=_one_at_a_time(settings.mcp_probe_every)
    )


def build_mining_schedule(settings: Settings) -> Schedule:
    """Once a night, when maintenance runs; skipped while the last one goes on."""
    action = _action(
        settings,
        MINING_SCHEDULE,
        SkillMiningWorkflow.run,
        MiningStart(),
        "skill mining over everybody's captures",
    )
    return Schedule(action=action, spec=_each_night(settings), policy=_one_at_a_time(CATCH_UP))


def _action(
    settings: Settings, schedule_id: str, run: Callable[..., Any], start: BaseModel, summary: str
) -> ScheduleActionStartWorkflow:
    """Each of a schedule's workflows bears the schedule's name, and is found by it."""
    return ScheduleActionStartWorkflow(
        run,
        start,
        id=schedule_id,
        task_queue=settings.task_queue,
        task_timeout=WORKFLOW_TASK_TIMEOUT,
        static_summary=summary,
        typed_search_attributes=search_attributes_of(schedule_id),
    )


def _one_at_a_time(catch_up: timedelta) -> SchedulePolicy:
    return SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=catch_up)


def _each(interval: timedelta) -> ScheduleSpec:
    return ScheduleSpec(intervals=[ScheduleIntervalSpec(every=interval)])


def _each_night(settings: Settings) -> ScheduleSpec:
    hour, minute = (int(part) for part in settings.nightly_at.split(":"))
    return ScheduleSpec(
        calendars=[ScheduleCalendarSpec(hour=[ScheduleRange(hour)], minute=[ScheduleRange(minute)])],
        time_zone_name=settings.timezone,
    )


async def register_schedules(client: Client, settings: Settings) -> None:
    """Makes sure that every schedule exists; the nightly one last, since its presence marks that all are."""
    await _register(client, REPROBE_SCHEDULE, build_reprobe_schedule(settings))
    await _register(client, MINING_SCHEDULE, build_mining_schedule(settings))
    await _register(client, MCP_HEALTH_SCHEDULE, build_mcp_health_schedule(settings))
    await register_schedule(client, settings)


async def register_schedule(client: Client, settings: Settings) -> None:
    """Creates the nightly schedule, or updates it to the settings. Safe to repeat, by any worker.

    Whether a person has paused it stays as it is. A schedule that is right already is not touched: an update
    makes the server forget a night that it is about to make up for.
    """
    await _register(client, NIGHTLY_SCHEDULE, build_schedule(settings))


async def _register(client: Client, schedule_id: str, wanted: Schedule) -> None:
    try:
        await client.create_schedule(schedule_id, wanted)
    except ScheduleAlreadyRunningError:
        signs = client.data_converter.payload_codec is not None
        await client.get_schedule_handle(schedule_id).update(lambda found: _brought_up(found, wanted, signs))
    else:
        log.info("a schedule was registered", schedule=schedule_id)


def _brought_up(found: ScheduleUpdateInput, wanted: Schedule, signs: bool) -> ScheduleUpdate | None:
    present = found.description.schedule
    # What a schedule of a version that did not sign starts would be refused.
    unsigned = signs and not all(map(is_signed, _action_of(present).args))
    if _essence(present) == _essence(wanted) and not unsigned:
        return None
    log.info("a schedule follows the settings", schedule=found.description.id)
    wanted.state = present.state
    return ScheduleUpdate(schedule=wanted)


def _action_of(schedule: Schedule) -> ScheduleActionStartWorkflow:
    action = schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow), "schedules start workflows"
    return action


def _essence(schedule: Schedule) -> tuple[object, ...]:
    """What the settings decide of a schedule, in the one spelling that survives the server."""
    action = _action_of(schedule)
    times = [
        (
            tuple((r.start, r.end or r.start) for r in at.hour),
            tuple((r.start, r.end or r.start) for r in at.minute),
        )
        for at in schedule.spec.calendars
    ]
    return (
        times,
        [interval.every for interval in schedule.spec.intervals],
        schedule.spec.time_zone_name or "UTC",
        action.workflow,
        action.task_queue,
        action.task_timeout,
        action.id,
        schedule.policy.overlap,
        schedule.policy.catchup_window,
    )


_ATTRIBUTES = (STATE_ATTRIBUTE, OWNER_ATTRIBUTE, KIND_ATTRIBUTE)


async def register_search_attributes(client: Client) -> None:
    """Adds the three search attributes that are missing."""
    known = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    missing = {
        attribute.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        for attribute in _ATTRIBUTES
        if attribute.name not in known.custom_attributes
    }
    if not missing:
        return
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise
