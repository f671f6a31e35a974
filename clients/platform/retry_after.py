"""The ``Retry-After`` header of HTTP answers (RFC 9110 §10.2.3)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_seconds(value: str, now: datetime | None = None) -> float | None:
    """Seconds to wait: a number, or the time from ``now`` until a date; None where it is neither.

    Of a number nine digits count. A date without a zone is in UTC; one that is over gives 0.
    """
    text = value.strip()
    try:
        if text.isascii() and text.isdecimal():
            return float(text[:9])
        at = parsedate_to_datetime(text)
        return max(
            0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - (now or datetime.now(UTC))).total_seconds()
        )
    except (ValueError, OverflowError, TypeError):
        return None
