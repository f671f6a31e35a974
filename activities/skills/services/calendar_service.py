"""The service ``calendar``: events and free time of the operator's calendars, and new events (AM-32…AM-39).

A calendar is a file of iCalendar text or a CalDAV collection. An event is made once for each invocation.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from activities.skills.services.offered import Asker, Method
from clients.skills.caldav import CalDav, CalDavFailed
from contracts.skills.calendars import CalendarEvent, CreateEventRequest, LookUpRequest, TimeSpan
from domain.skills.calendars.spans import WrongTime, conflicts_with, event_span, free_spans, span_of
from skills.runtime.broker import BrokerRefused
from stores.skills.services.calendar_files import CalendarFileFailed, CalendarFiles, UnknownCalendar


class Calendars(Protocol):
    """Where calendars lie."""

    async def texts(self, name: str | None, span: TimeSpan) -> list[str]:
        """The iCalendar texts that hold whatever touches a time."""
        ...

    async def add(self, name: str | None, event: CalendarEvent) -> bool:
        """Adds an event; false where it is there already."""
        ...


class CalendarFolder:
    """Calendars in files; the library that reads them is loaded by the first look-up."""

    def __init__(self, files: CalendarFiles) -> None:
        self._files = files

    async def texts(self, name: str | None, span: TimeSpan) -> list[str]:
        """The whole text of a calendar."""
        text = await asyncio.to_thread(self._files.read, name)
        return [text] if text and text.strip() else []

    async def add(self, name: str | None, event: CalendarEvent) -> bool:
        """Writes an event into a calendar."""
        from domain.skills.calendars.ics import has_uid, with_event

        def changed(text: str | None) -> str | None:
            if text and text.strip() and has_uid(text, event.uid):
                return None
            return with_event(text, event, datetime.now(UTC))

        return await asyncio.to_thread(self._files.change, name, changed)


class CalendarCollection:
    """Calendars on a CalDAV server."""

    def __init__(self, server: CalDav) -> None:
        self._server = server

    async def texts(self, name: str | None, span: TimeSpan) -> list[str]:
        """What the server finds within a time."""
        return await self._server.events(name, span.start, span.end)

    async def add(self, name: str | None, event: CalendarEvent) -> bool:
        """Puts an event there."""
        from domain.skills.calendars.ics import alone

        return await self._server.create(name, event.uid, alone(event, datetime.now(UTC)))


class CalendarService:
    """The operator's calendars."""

    def __init__(self, calendars: Calendars, zone: ZoneInfo) -> None:
        """Times without an offset are of ``zone``."""
        self._calendars = calendars
        self._zone = zone
        self.methods: Mapping[str, Method] = {
            "lookup": Method(LookUpRequest, self._look_up, reads=True),
            "would_create": Method(CreateEventRequest, self._would_create, reads=True),
            "create": Method(CreateEventRequest, self._create),
        }

    async def _look_up(self, asker: Asker, asked: LookUpRequest) -> dict[str, Any]:
        try:
            span = span_of(asked.range, datetime.now(UTC), self._zone)
        except WrongTime as error:
            raise BrokerRefused("INVALID_INPUT", str(error)) from None
        events, unread = await self._within(asked.calendar, span)
        return {
            "range": _told(span),
            "events": [_event(one) for one in events],
            "free": [_told(one) for one in free_spans(events, span)],
            "unread": unread,
        }

    async def _would_create(self, asker: Asker, asked: CreateEventRequest) -> dict[str, Any]:
        """Refuses what could not be created."""
        self._span(asked)
        return {}

    async def _create(self, asker: Asker, asked: CreateEventRequest) -> dict[str, Any]:
        span = self._span(asked)
        uid = f"{asker.key}@apprentice"
        events, _ = await self._within(asked.calendar, span)
        conflicts = conflicts_with(span, [one for one in events if one.uid != uid])
        event = CalendarEvent(
            title=asked.title,
            start=span.start,
            end=span.end,
            location=asked.location,
            notes=asked.notes,
            uid=uid,
        )
        await self._doing(partial(self._calendars.add, asked.calendar, event))
        return {**_event(event), "conflicts": [_event(one) for one in conflicts]}

    def _span(self, asked: CreateEventRequest) -> TimeSpan:
        try:
            return event_span(asked.start, asked.end, self._zone)
        except WrongTime as error:
            raise BrokerRefused("INVALID_INPUT", str(error)) from None

    async def _within(self, name: str | None, span: TimeSpan) -> tuple[list[CalendarEvent], int]:
        texts = await self._doing(partial(self._calendars.texts, name, span))

        def found() -> tuple[list[CalendarEvent], int]:
            from domain.skills.calendars.ics import events_within

            events = events_within(texts, span, self._zone)
            return events.events, events.unread

        return await self._doing(partial(asyncio.to_thread, found)) if texts else ([], 0)

    async def _doing(self, work: Any) -> Any:
        try:
            return await work()
        except UnknownCalendar as error:
            raise BrokerRefused("INVALID_INPUT", str(error)) from None
        except CalDavFailed as error:
            raise BrokerRefused("CALENDAR_UNAVAILABLE", str(error), unsure=error.may_have_arrived) from None
        except (CalendarFileFailed, ValueError) as error:
            raise BrokerRefused("CALENDAR_UNAVAILABLE", f"the calendar: {error}"[:300]) from None


def _told(span: TimeSpan) -> dict[str, str]:
    return {"start": span.start.isoformat(), "end": span.end.isoformat()}


def _event(event: CalendarEvent) -> dict[str, Any]:
    told = event.model_dump(exclude_none=True)
    return {**told, "start": event.start.isoformat(), "end": event.end.isoformat()}
