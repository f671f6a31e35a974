"""Reads and writes iCalendar texts (RFC 5545): the events of a span with their repetitions, and a new event.

Repetitions are counted in the event's own wall clock, so that a meeting at nine stays at nine when the clocks change.
Other people's events are never written anew: a new one is put before the end of the text, the rest stays as it is.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

import icalendar
from dateutil.rrule import rruleset, rrulestr

from contracts.skills.calendars import CalendarEvent, TimeSpan
from domain.skills.calendars.spans import midnight

MAX_BYTES = 16_777_216
"""The longest calendar that is read: 16 MiB."""

MOST_EVENTS = 1_000
"""The most events of one answer."""

_MOST_STEPS = 200_000
"""How many repetitions of one event are counted from its beginning."""

_TOO_OFTEN = re.compile(r"FREQ=(SECONDLY|MINUTELY)", re.IGNORECASE)
_UNTIL = re.compile(r"UNTIL=([0-9TZ]+)", re.IGNORECASE)
_LINE_ENDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_END = re.compile(r"^END:VCALENDAR[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
_BROKEN = (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, NotImplementedError)

_EMPTY = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Apprentice//Calendar//EN\r\nEND:VCALENDAR\r\n"


class BrokenCalendar(ValueError):
    """The text is no calendar."""


@dataclass
class Found:
    """The events of a span in order, and what could not be read."""

    events: list[CalendarEvent] = field(default_factory=list[CalendarEvent])
    unread: int = 0


def events_within(texts: Iterable[str], span: TimeSpan, zone: ZoneInfo) -> Found:
    """The events and repetitions that touch ``span``, in the order of their start. An event that is broken is counted.

    Raises:
        BrokenCalendar: a text is no calendar.
    """
    found = Found()
    for text in texts:
        components = [one for calendar in _calendars(text) for one in calendar.walk("VEVENT")]
        changed = _changes(components, zone)
        for component in components:
            try:
                found.events += _of_event(component, changed, span, zone)
            except _BROKEN:
                found.unread += 1
    found.events.sort(key=lambda one: (one.start, one.end, one.title))
    del found.events[MOST_EVENTS:]
    return found


def with_event(text: str | None, event: CalendarEvent, now: datetime) -> str:
    """The calendar with one more event; everything else is as it was.

    Raises:
        BrokenCalendar: the text is no calendar.
    """
    text = text if text and text.strip() else _EMPTY
    before = sum(len(calendar.walk("VEVENT")) for calendar in _calendars(text))
    ends = list(_END.finditer(text))
    if not ends:
        raise BrokenCalendar("it has no END:VCALENDAR")
    at = ends[-1].start()
    longer = text[:at] + _event_text(event, now) + text[at:]
    if sum(len(calendar.walk("VEVENT")) for calendar in _calendars(longer)) != before + 1:
        raise BrokenCalendar("an event cannot be added to it")
    return longer


def alone(event: CalendarEvent, now: datetime) -> str:
    """A calendar of one event, as CalDAV wants it."""
    return with_event(None, event, now)


def has_uid(text: str, uid: str) -> bool:
    """Whether an event of the calendar has this UID."""
    return any(
        str(one.get("UID", "")) == uid for calendar in _calendars(text) for one in calendar.walk("VEVENT")
    )


def _event_text(event: CalendarEvent, now: datetime) -> str:
    made: Any = icalendar.Event()
    made.add("uid", event.uid)
    made.add("dtstamp", now.astimezone(UTC))
    made.add("dtstart", event.start.astimezone(UTC))
    made.add("dtend", event.end.astimezone(UTC))
    made.add("summary", _one_text(event.title))
    if event.location:
        made.add("location", _one_text(event.location))
    if event.notes:
        made.add("description", _one_text(event.notes))
    return made.to_ical().decode()


def _one_text(text: str) -> str:
    """A text without the characters that some reader takes for the end of a line; ``\\n`` is written as such."""
    return _LINE_ENDS.sub(" ", text.replace("\r\n", "\n"))


def _calendars(text: str) -> list[Any]:
    if len(text) > MAX_BYTES:
        raise BrokenCalendar("it is longer than 16 MiB")
    try:
        found = cast("list[Any]", icalendar.Calendar.from_ical(text.removeprefix("\ufeff"), multiple=True))
    except _BROKEN as error:
        raise BrokenCalendar(f"it is no calendar ({type(error).__name__})") from None
    if not found or any(one.name != "VCALENDAR" for one in found):
        raise BrokenCalendar("it is no calendar")
    return found


def _changes(components: list[Any], zone: ZoneInfo) -> dict[str, set[datetime]]:
    """The repetitions that are written down by themselves, by UID: each as the instant it took the place of."""
    changed: dict[str, set[datetime]] = {}
    for component in components:
        instead = component.get("RECURRENCE-ID")
        if instead is not None:
            try:
                instant = _aware(instead.dt, zone).astimezone(UTC)
            except _BROKEN:
                continue
            changed.setdefault(str(component.get("UID", "")), set()).add(instant)
    return changed


def _of_event(
    component: Any, changed: dict[str, set[datetime]], span: TimeSpan, zone: ZoneInfo
) -> list[CalendarEvent]:
    if str(component.get("STATUS", "")).upper() == "CANCELLED":
        return []
    first: date | datetime = component["DTSTART"].dt
    length = _length(component, first, zone)
    all_day = not isinstance(first, datetime)
    repeats = "RRULE" in component or "RDATE" in component
    if repeats and "RECURRENCE-ID" not in component:
        instead = changed.get(str(component.get("UID", "")), set[datetime]())
        starts = [
            one for one in _starts(component, first, length, span, zone) if one.astimezone(UTC) not in instead
        ]
    else:
        starts = [_aware(first, zone)]
    found = list[CalendarEvent]()
    for start in starts:
        end = _end_of(start, length, zone)
        if not _touches(start, end, span):
            continue
        found.append(
            CalendarEvent(
                title=str(component.get("SUMMARY", "")) or "(no title)",
                start=start.astimezone(zone),
                end=end.astimezone(zone),
                all_day=all_day,
                location=str(component["LOCATION"]) if component.get("LOCATION") else None,
                notes=str(component["DESCRIPTION"]) if component.get("DESCRIPTION") else None,
                uid=str(component.get("UID", "")),
                repeats=repeats or "RECURRENCE-ID" in component,
                busy=str(component.get("TRANSP", "")).upper() != "TRANSPARENT",
            )
        )
    return found


@dataclass(frozen=True)
class _Length:
    """How long an event is: whole days of the wall clock, or an exact time."""

    days: int = 0
    exact: timedelta = timedelta()


def _length(component: Any, first: date | datetime, zone: ZoneInfo) -> _Length:
    if (end := component.get("DTEND")) is not None:
        if not isinstance(first, datetime):
            last = end.dt.date() if isinstance(end.dt, datetime) else end.dt
            return _Length(days=max((last - first).days, 1))
        length = _aware(end.dt, zone).astimezone(UTC) - _aware(first, zone).astimezone(UTC)
        return _Length(exact=max(length, timedelta()))
    if (duration := component.get("DURATION")) is not None:
        given = max(duration.dt, timedelta())
        return _Length(days=given.days, exact=given - timedelta(days=given.days))
    return _Length(days=0 if isinstance(first, datetime) else 1)


def _end_of(start: datetime, length: _Length, zone: ZoneInfo) -> datetime:
    later = start
    if length.days:
        wall = start.replace(tzinfo=None) + timedelta(days=length.days)
        later = wall.replace(tzinfo=start.tzinfo or zone)
    return (later.astimezone(UTC) + length.exact).astimezone(zone)


def _touches(start: datetime, end: datetime, span: TimeSpan) -> bool:
    begins, ends = start.astimezone(UTC), end.astimezone(UTC)
    since, until = span.start.astimezone(UTC), span.end.astimezone(UTC)
    return begins < until and (ends > since or (begins == ends and begins >= since))


def _starts(
    component: Any, first: date | datetime, length: _Length, span: TimeSpan, zone: ZoneInfo
) -> Iterator[datetime]:
    """The starts of an event that repeats, from shortly before the span to its end."""
    own = _aware(first, zone)
    rules = rruleset()
    wall = own.replace(tzinfo=None)
    for rule in _list(component.get("RRULE")):
        text = rule.to_ical().decode()
        if _TOO_OFTEN.search(text):
            raise ValueError("it repeats more often than once an hour")
        rules.rrule(cast("Any", rrulestr(_UNTIL.sub(lambda found: _until(found, own), text), dtstart=wall)))
    rules.rdate(wall)
    for moment in _moments(component.get("RDATE")):
        rules.rdate(_as_wall(moment, own, zone))
    for moment in _moments(component.get("EXDATE")):
        rules.exdate(_as_wall(moment, own, zone))
    earliest = span.start.astimezone(UTC) - timedelta(days=length.days + 1) - length.exact
    latest = span.end.astimezone(UTC)
    for number, naive in enumerate(rules):
        if number > _MOST_STEPS:
            raise ValueError("it has too many repetitions")
        start = naive.replace(tzinfo=own.tzinfo)
        at = start.astimezone(UTC)
        if at >= latest:
            return
        if at >= earliest:
            yield start


def _until(found: re.Match[str], own: datetime) -> str:
    """UNTIL in the event's wall clock: a date holds to its end, a time of UTC is that instant (RFC 5545 3.3.10)."""
    text = found[1].upper()
    if "T" not in text:
        return f"UNTIL={text}T235959"
    if text.endswith("Z"):
        instant = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        return f"UNTIL={instant.astimezone(own.tzinfo):%Y%m%dT%H%M%S}"
    return f"UNTIL={text}"


def _moments(given: Any) -> Iterator[date | datetime]:
    for one in _list(given):
        for value in one.dts:
            moment = value.dt
            yield moment[0] if isinstance(moment, tuple) else moment


def _as_wall(moment: date | datetime, own: datetime, zone: ZoneInfo) -> datetime:
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, own.hour, own.minute, own.second)
    aware = moment.replace(tzinfo=own.tzinfo) if moment.tzinfo is None else moment
    return aware.astimezone(own.tzinfo).replace(tzinfo=None)


def _aware(moment: date | datetime, zone: ZoneInfo) -> datetime:
    """A date as its midnight, a time without a zone as one of the operator's."""
    if not isinstance(moment, datetime):
        return midnight(moment, zone)
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment


def _list(given: Any) -> list[Any]:
    if given is None:
        return []
    return cast("list[Any]", given) if isinstance(given, list) else [given]
