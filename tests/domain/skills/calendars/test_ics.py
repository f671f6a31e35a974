"""Events of a span, with their repetitions and the changes of clocks; and new events (AM-33, AM-34)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from contracts.skills.calendars import CalendarEvent
from domain.skills.calendars.ics import BrokenCalendar, events_within, has_uid, with_event
from domain.skills.calendars.spans import WrongTime, conflicts_with, event_span, free_spans, span_of

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 28, 12, tzinfo=BERLIN)  # the clocks skip an hour the night after


def calendar(*events: str) -> str:
    bodies = "".join(
        f"BEGIN:VEVENT\r\nUID:u{n}\r\n{event}\r\nEND:VEVENT\r\n" for n, event in enumerate(events)
    )
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n{bodies}END:VCALENDAR\r\n"


def seen(text: str, asked: str, now: datetime = NOON) -> list[tuple[str, str, str]]:
    found = events_within([text], span_of(asked, now, BERLIN), BERLIN)
    assert found.unread == 0
    return [(one.title, f"{one.start:%d %H:%M%z}", f"{one.end:%d %H:%M%z}") for one in found.events]


def timed(title: str, start: str, end: str, *more: str) -> str:
    lines = [
        f"SUMMARY:{title}",
        f"DTSTART;TZID=Europe/Berlin:{start}",
        f"DTEND;TZID=Europe/Berlin:{end}",
        *more,
    ]
    return "\r\n".join(lines)


@pytest.mark.acceptance("AM-33")
def test_a_range_holds_what_touches_it_and_nothing_beside_it() -> None:
    text = calendar(
        timed("ends at midnight", "20260327T230000", "20260328T000000"),
        timed("over midnight", "20260327T230000", "20260328T003000"),
        timed("begins at midnight", "20260329T000000", "20260329T010000"),
        timed("last minute", "20260328T235900", "20260329T000000"),
    )
    assert [title for title, _, _ in seen(text, "today")] == ["over midnight", "last minute"]
    assert [title for title, _, _ in seen(text, "2026-03-29")] == ["begins at midnight"]
    assert [title for title, _, _ in seen(text, "tomorrow")] == ["begins at midnight"]
    assert len(seen(text, "week")) == 3


@pytest.mark.acceptance("AM-33")
def test_a_day_at_the_change_of_clocks_has_its_own_length() -> None:
    def hours(day: str) -> float:
        span = span_of(day, NOON, BERLIN)
        return (span.end.astimezone(UTC) - span.start.astimezone(UTC)) / timedelta(hours=1)

    assert [hours(day) for day in ("2026-03-28", "2026-03-29", "2026-10-25")] == [24, 23, 25]


@pytest.mark.acceptance("AM-33")
def test_what_repeats_stays_at_its_hour_when_the_clocks_change() -> None:
    text = calendar(timed("stand-up", "20260326T090000", "20260326T091500", "RRULE:FREQ=DAILY"))
    assert [start for _, start, _ in seen(text, "week")][:3] == [
        "28 09:00+0100",
        "29 09:00+0200",
        "30 09:00+0200",
    ]


REPEATING = (
    ("RRULE:FREQ=WEEKLY;COUNT=2", "20260321T100000", ["28"]),
    ("RRULE:FREQ=WEEKLY;UNTIL=20260327T235959Z", "20260321T100000", []),
    ("RRULE:FREQ=WEEKLY;UNTIL=20260328T090000Z", "20260321T100000", ["28"]),
    ("RRULE:FREQ=WEEKLY;UNTIL=20260328", "20260321T100000", ["28"]),
    ("RRULE:FREQ=MONTHLY;BYDAY=-1SU", "20260125T100000", ["29"]),
    ("RRULE:FREQ=MONTHLY;BYMONTHDAY=31", "20260131T100000", ["31"]),
    ("RRULE:FREQ=YEARLY", "20200401T100000", ["01"]),
    ("RRULE:FREQ=WEEKLY;INTERVAL=2", "20260321T100000", []),
    (
        "RRULE:FREQ=DAILY\r\nEXDATE;TZID=Europe/Berlin:20260329T100000,20260330T100000",
        "20260327T100000",
        ["28", "31", "01", "02", "03"],
    ),
    ("RDATE;TZID=Europe/Berlin:20260330T100000", "20260101T100000", ["30"]),
)


@pytest.mark.acceptance("AM-33")
@pytest.mark.parametrize(("rule", "first", "days"), REPEATING)
def test_each_way_to_repeat_is_counted_out(rule: str, first: str, days: list[str]) -> None:
    end = first.replace("T10", "T11")
    found = seen(calendar(timed("it", first, end, rule)), "week")
    assert [start[:2] for _, start, _ in found] == days


@pytest.mark.acceptance("AM-33")
def test_a_repetition_that_was_moved_is_where_it_was_moved_to() -> None:
    text = calendar(timed("talk", "20260328T100000", "20260328T110000", "RRULE:FREQ=DAILY;COUNT=3"))
    moved = timed(
        "talk, moved",
        "20260329T150000",
        "20260329T160000",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260329T100000",
    )
    gone = timed(
        "talk",
        "20260330T100000",
        "20260330T110000",
        "STATUS:CANCELLED",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260330T100000",
    )
    both = "".join(f"BEGIN:VEVENT\r\nUID:u0\r\n{one}\r\nEND:VEVENT\r\n" for one in (moved, gone))
    text = text.replace("END:VCALENDAR", both + "END:VCALENDAR")
    assert [(title, start[:8]) for title, start, _ in seen(text, "week")] == [
        ("talk", "28 10:00"),
        ("talk, moved", "29 15:00"),
    ]


@pytest.mark.acceptance("AM-33")
def test_whole_days_other_zones_and_times_without_one_are_told_in_the_operators() -> None:
    text = calendar(
        "SUMMARY:day\r\nDTSTART;VALUE=DATE:20260329\r\nDTEND;VALUE=DATE:20260330",
        "SUMMARY:new york\r\nDTSTART;TZID=America/New_York:20260328T180000\r\nDURATION:PT1H",
        "SUMMARY:utc\r\nDTSTART:20260329T100000Z\r\nDTEND:20260329T110000Z",
        "SUMMARY:floating\r\nDTSTART:20260329T130000\r\nDTEND:20260329T140000",
    )
    assert seen(text, "2026-03-29") == [
        ("day", "29 00:00+0100", "30 00:00+0200"),
        ("utc", "29 12:00+0200", "29 13:00+0200"),
        ("floating", "29 13:00+0200", "29 14:00+0200"),
    ]
    assert seen(text, "today")[0] == ("new york", "28 23:00+0100", "29 00:00+0100")


def test_one_event_that_is_broken_does_not_hide_the_others() -> None:
    text = calendar(
        "SUMMARY:no start",
        "SUMMARY:x\r\nDTSTART:20260328T100000Z\r\nRRULE:FREQ=SECONDLY",
        timed("good", "20260328T100000", "20260328T110000"),
    )
    found = events_within([text], span_of("today", NOON, BERLIN), BERLIN)
    assert ([one.title for one in found.events], found.unread) == (["good"], 2)


@pytest.mark.acceptance("AM-38")
@pytest.mark.parametrize(
    "text", ["nonsense", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n", "BEGIN:VEVENT\r\nEND:VEVENT\r\n"]
)
def test_a_text_that_is_no_calendar_is_refused(text: str) -> None:
    with pytest.raises(BrokenCalendar):
        events_within([text], span_of("today", NOON, BERLIN), BERLIN)


@pytest.mark.acceptance("AM-33")
@pytest.mark.parametrize(
    "asked", ["", "yesterday", "2026-02-30", "20260301", "2026-3-1", "0001-01-01", "9999-12-31", "next week"]
)
def test_another_range_is_refused_with_what_to_write(asked: str) -> None:
    with pytest.raises(WrongTime, match="today, tomorrow, week"):
        span_of(asked, NOON, BERLIN)


@pytest.mark.acceptance("AM-34")
@pytest.mark.parametrize(
    ("start", "end", "wrong"),
    [
        ("2026-03-28T10:00", "2026-03-28T10:00", "end"),
        ("2026-03-28T10:00", "2026-03-28T09:00", "end"),
        ("2026-03-28T10:00+05:00", "2026-03-28T04:30Z", "end"),
        ("soon", "2026-03-28T10:00", "start"),
        ("2026-03-28T10:00", "2026-03-32T10:00", "end"),
        ("2026-03-29T02:30", "2026-03-29T04:00", "start"),
        ("2026-03-28T10:00", "2028-03-28T10:00", "end"),
    ],
)
def test_times_that_cannot_be_meant_are_refused_by_field(start: str, end: str, wrong: str) -> None:
    with pytest.raises(WrongTime, match=f"^{wrong}:"):
        event_span(start, end, BERLIN)


def test_free_time_is_what_no_busy_event_touches() -> None:
    text = calendar(
        timed("a", "20260328T090000", "20260328T100000"),
        timed("b", "20260328T093000", "20260328T113000"),
        timed("only noted", "20260328T150000", "20260328T160000", "TRANSP:TRANSPARENT"),
        timed("over", "20260328T230000", "20260329T010000"),
    )
    span = span_of("today", NOON, BERLIN)
    events = events_within([text], span, BERLIN).events
    free = [(f"{one.start:%d %H:%M}", f"{one.end:%d %H:%M}") for one in free_spans(events, span)]
    assert free == [("28 00:00", "28 09:00"), ("28 11:30", "28 23:00")]
    asked = event_span("2026-03-28T11:00", "2026-03-28T12:00", BERLIN)
    assert [one.title for one in conflicts_with(asked, events)] == ["b"]
    after = event_span("2026-03-28T11:30", "2026-03-28T12:00", BERLIN)
    assert conflicts_with(after, events) == ()


INJECTIONS = (
    "x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:evil",
    "x\nATTENDEE:mailto:eve@example.org",
    "x\rSUMMARY:evil",
    'a;b,c\\n:d"e',
    "é" * 100,
    "BEGIN:VCALENDAR",
    "x\u2028SUMMARY:evil\x85SUMMARY:evil\x0bSUMMARY:evil\x0cSUMMARY:evil",
)


@pytest.mark.acceptance("AM-34")
@pytest.mark.parametrize("words", INJECTIONS)
def test_whatever_a_new_event_says_it_stays_one_event_and_others_stay_as_they_were(words: str) -> None:
    span = event_span("2026-03-28T10:00", "2026-03-28T11:00", BERLIN)
    before = calendar(timed("old", "20260327T100000", "20260327T110000", "X-OWN;A=b:kept"))
    event = CalendarEvent(
        title=words, start=span.start, end=span.end, location=words, notes=words, uid="new@x"
    )
    after = with_event(before, event, NOON)
    assert after.startswith(before.removesuffix("END:VCALENDAR\r\n"))
    assert after.endswith("END:VCALENDAR\r\n")
    assert has_uid(after, "new@x")
    (found,) = events_within([after], span_of("today", NOON, BERLIN), BERLIN).events
    assert found.start == span.start
    assert len(events_within([after], span_of("week", NOON, BERLIN), BERLIN).events) == 1
    assert not any(line.upper().startswith(("ATTENDEE", "SUMMARY:EVIL")) for line in after.splitlines())


def test_the_first_event_makes_the_calendar() -> None:
    span = event_span("2026-03-28T10:00", "2026-03-28T11:00", BERLIN)
    text = with_event(None, CalendarEvent(title="x", start=span.start, end=span.end, uid="u"), NOON)
    assert seen(text, "today") == [("x", "28 10:00+0100", "28 11:00+0100")]
