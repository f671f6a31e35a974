"""Requests to feeds, counted for each source over all processes: 100 an hour (CH-13, O-12)."""

from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from stores.platform.canonical import digest_of
from stores.platform.database import Database, advisory_lock
from stores.skills.skill_tables import feed_requests

HOUR = timedelta(hours=1)


class FeedRequests:
    """The requests of the last hour. Safe to share between threads and processes."""

    def __init__(self, database: Database, *, per_hour: int) -> None:
        self._database = database
        self.per_hour = per_hour

    def admit(self, source: str, now: datetime) -> bool:
        """Counts one request to a source, unless there were as many within the hour as may be."""
        key = digest_of(source)
        with self._database.write() as connection:
            advisory_lock(connection, f"feed {key}")
            over = rfc3339(now - HOUR)
            connection.execute(delete(feed_requests).where(feed_requests.c.at <= over))
            made = connection.scalar(
                select(func.count()).select_from(feed_requests).where(feed_requests.c.source == key)
            )
            if (made or 0) >= self.per_hour:
                return False
            row = {"request_id": str(uuid7()), "source": key, "at": rfc3339(now)}
            connection.execute(insert(feed_requests).values(row))
            return True
