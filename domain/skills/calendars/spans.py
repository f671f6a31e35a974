"""Ranges, times and free time of a calendar, in the operator's time zone (AM-33, AM-34)."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from contracts.skills.calendars import CalendarEvent, TimeSpan

RANGES = "today, tomorrow, week (today and the six days after it), or a date such as 2026-02-22"

LONGEST_EVENT = timedelta(days=366)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEARS = range(1970, 2200)


class WrongTime(ValueError):
    """A range or time that cannot be meant; the text says what to write."""


def span_of(asked: str, now: datetime, zone: ZoneInfo) -> TimeSpan:
    """The days that a range stands for, from midnight to midnight in ``zone``: 23 or 25 hours at a change of clocks.

    Raises:
        WrongTime: it is none of the ranges.
    """
    word, today = asked.strip().lower(), now.astimezone(zone).date()
    first, days = {"today": (today, 1), "tomorrow": (today + timedelta(days=1), 1), "week": (today, 7)}.get(
        word, (None, 1)
    )
    if first is None:
        first = _date_of(word)
    return TimeSpan(start=midnight(first, zone), end=midnight(first + timedelta(days=days), zone))


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """When a day begins in a zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def event_span(start: str, end: str, zone: ZoneInfo) -> TimeSpan:
    """Start and end of a new event; a time without an offset is one of ``zone``.

    Raises:
        WrongTime: one is no date and time, does not exist in ``zone``, or the event ends before it begins.
    """
    begins, ends = _time_of("start", start, zone), _time_of("end", end, zone)
    if ends.astimezone(UTC) <= begins.astimezone(UTC):
        raise WrongTime("end: is not after start")
    if ends.astimezone(UTC) - begins.astimezone(UTC) > LONGEST_EVENT:
        raise WrongTime("end: is more than 366 days after start")
    return TimeSpan(start=begins, end=ends)


def free_spans(events: Iterable[CalendarEvent], within: TimeSpan) -> tuple[TimeSpan, ...]:
    """The gaps of ``within`` that no busy event touches, in order."""
    zone = within.start.tzinfo
    free, at, end = list[TimeSpan](), within.start.astimezone(UTC), within.end.astimezone(UTC)
    busy = ((one.start.astimezone(UTC), one.end.astimezone(UTC)) for one in events if one.busy)
    for begins, ends in sorted(busy):
        if begins > at:
            free.append(TimeSpan(start=at.astimezone(zone), end=min(begins, end).astimezone(zone)))
        at = max(at, ends)
        if at >= end:
            return tuple(free)
    free.append(TimeSpan(start=at.astimezone(zone), end=end.astimezone(zone)))
    return tuple(free)


def conflicts_with(span: TimeSpan, events: Iterable[CalendarEvent]) -> tuple[CalendarEvent, ...]:
    """The busy events that overlap a span; one that ends when it begins does not."""
    begins, ends = span.start.astimezone(UTC), span.end.astimezone(UTC)
    return tuple(
        one
        for one in events
        if one.busy and one.start.astimezone(UTC) < ends and one.end.astimezone(UTC) > begins
    )


def _date_of(text: str) -> date:
    try:
        found = date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        found = None
    if found is None or found.year not in _YEARS:
        raise WrongTime(f"range: write {RANGES}")
    return found


def _time_of(field: str, text: str, zone: ZoneInfo) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        found = None
    if found is None or found.year not in _YEARS:
        raise WrongTime(f"{field}: write a date and time such as 2026-02-22T14:30")
    if found.tzinfo is not None:
        return found.astimezone(zone)
    local = found.replace(tzinfo=zone)
    if local.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != found:
        raise WrongTime(f"{field}: the clocks skip this time in {zone.key}; write another, or its offset")
    return local
