"""When a token is renewed (decisions "Numbers": at 80 % of its life, at least 60 s before its end)."""

from datetime import datetime, timedelta

RENEWED_AT = 0.8
"""The part of a token's life after which it is renewed."""

BEFORE_THE_END = timedelta(seconds=60)
"""The least time between a renewal and the end of the token's life."""

SHORTEST_USE = 0.5
"""A token too short for both is used for half of its life: a renewal that is due at once would never end."""

STILL_GOOD = timedelta(seconds=30)
"""A token with less left is not sent any more: it could end on its way."""


def renewal_time(issued_at: datetime, expires_at: datetime | None) -> datetime | None:
    """When to renew a token of this life; never, for one without an end."""
    if expires_at is None:
        return None
    life = max(expires_at - issued_at, timedelta())
    wanted = min(issued_at + life * RENEWED_AT, expires_at - BEFORE_THE_END)
    return max(wanted, issued_at + life * SHORTEST_USE)


def is_good(expires_at: datetime | None, issued_at: datetime, now: datetime) -> bool:
    """Whether a token may still be sent. Of a very short life only the last tenth is given up."""
    if expires_at is None:
        return True
    margin = min(STILL_GOOD, (expires_at - issued_at) * 0.1)
    return now < expires_at - margin
