"""A Retry-After header states a number of seconds or a date; anything else states nothing."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

from clients.platform.retry_after import retry_after_seconds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_time_to_come_back_is_a_number_of_seconds_or_a_date():
    assert retry_after_seconds(" 120 ", NOW) == 120.0
    assert retry_after_seconds(format_datetime(NOW + timedelta(seconds=90), usegmt=True), NOW) == 90.0
    assert retry_after_seconds(format_datetime(NOW - timedelta(days=1), usegmt=True), NOW) == 0.0
    assert [retry_after_seconds(text, NOW) for text in ("", "soon", "-1", "1.5", "٣")] == [None] * 5


def test_a_number_without_end_is_cut():
    assert retry_after_seconds("9" * 400, NOW) == 999_999_999.0


def test_a_date_without_a_zone_is_in_utc():
    later = NOW + timedelta(seconds=90)
    assert retry_after_seconds(format_datetime(later.replace(tzinfo=None)), NOW) == 90.0
    assert retry_after_seconds(format_datetime(later.astimezone(timezone(timedelta(hours=3)))), NOW) == 90.0
