"""Calendars as skills see them: events, free time, and what is asked (AM-32…AM-39)."""

from datetime import datetime

from pydantic import Field

from contracts.base import Contract, Text120, Text200, Text500

MAX_TEXT = 500
"""The longest title, place and calendar name."""

MAX_NOTES = 4_000
"""The longest notes."""


class CalendarEvent(Contract):
    """One event, or one occurrence of an event that repeats. Times carry the operator's offset."""

    title: str
    start: datetime
    end: datetime
    all_day: bool = False
    location: str | None = None
    notes: str | None = None
    uid: str = ""
    repeats: bool = False
    busy: bool = True


class TimeSpan(Contract):
    """From a time up to, and not with, another."""

    start: datetime
    end: datetime


class LookUpRequest(Contract):
    """Asks for the events of a range: today, tomorrow, week, or a date."""

    range: Text120 = "today"
    calendar: Text200 | None = None


class CreateEventRequest(Contract):
    """Asks for a new event."""

    title: str = Field(min_length=1, max_length=MAX_TEXT)
    start: Text120
    end: Text120
    calendar: Text200 | None = None
    location: Text500 | None = None
    notes: str | None = Field(default=None, max_length=MAX_NOTES)
