"""The schedule of nightly maintenance (decisions "Numbers")."""

from datetime import timedelta

import structlog
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from config.settings import Settings
from workflows.ids import NIGHTLY_SCHEDULE
from workflows.nightly_maintenance_messages import MaintenanceStart
from workflows.nightly_maintenance_workflow import NightlyMaintenanceWorkflow
from workflows.session_view import KIND_ATTRIBUTE

log = structlog.get_logger(__name__)

CATCH_UP = timedelta(hours=24)
"""A night that was missed is made up for when the server is back within this time."""


def build_schedule(settings: Settings) -> Schedule:
    """Once a night at ``nightly_at`` in ``timezone``; skipped while the last one goes on.

    The rules themselves are read by the activities and are not stored in the schedule.
    """
    hour, minute = (int(part) for part in settings.nightly_at.split(":"))
    return Schedule(
        action=ScheduleActionStartWorkflow(
            NightlyMaintenanceWorkflow.run,
            MaintenanceStart(),
            id=NIGHTLY_SCHEDULE,
            task_queue=settings.task_queue,
            static_summary="nightly maintenance",
            typed_search_attributes=TypedSearchAttributes(
                [SearchAttributePair(KIND_ATTRIBUTE, NIGHTLY_SCHEDULE)]
            ),
        ),
        spec=ScheduleSpec(
            calendars=[ScheduleCalendarSpec(hour=[ScheduleRange(hour)], minute=[ScheduleRange(minute)])],
            time_zone_name=settings.timezone,
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
    )


async def register_schedule(client: Client, settings: Settings) -> None:
    """Makes sure that the schedule exists and says what the settings say. Safe to repeat, by any worker.

    Whether a person has paused it stays as it is. A schedule that is right already is not touched: an update
    makes the server forget a night that it is about to make up for.
    """
    wanted = build_schedule(settings)
    try:
        await client.create_schedule(NIGHTLY_SCHEDULE, wanted)
    except ScheduleAlreadyRunningError:
        await client.get_schedule_handle(NIGHTLY_SCHEDULE).update(lambda found: _brought_up(found, wanted))
    else:
        log.info("nightly maintenance is scheduled", at=settings.nightly_at, timezone=settings.timezone)


def _brought_up(found: ScheduleUpdateInput, wanted: Schedule) -> ScheduleUpdate | None:
    present = found.description.schedule
    if _essence(present) == _essence(wanted):
        return None
    log.info("the schedule of nightly maintenance follows the settings")
    wanted.state = present.state
    return ScheduleUpdate(schedule=wanted)


def _essence(schedule: Schedule) -> tuple[object, ...]:
    """What the settings decide of a schedule, in the one spelling that survives the server."""
    action = schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow), "schedules start workflows"
    times = [
        (
            tuple((r.start, r.end or r.start) for r in at.hour),
            tuple((r.start, r.end or r.start) for r in at.minute),
        )
        for at in schedule.spec.calendars
    ]
    return (
        times,
        schedule.spec.time_zone_name or "UTC",
        action.workflow,
        action.task_queue,
        action.id,
        schedule.policy.overlap,
        schedule.policy.catchup_window,
    )
