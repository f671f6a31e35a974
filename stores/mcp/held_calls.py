"""The calls that are held back for a server, for whoever finds it well again."""

from datetime import datetime
from itertools import islice

from stores.database import Database
from stores.mcp.attempt_rows import told_when
from stores.mcp.dispatch_rows import resting_records
from stores.mcp.health import is_open


class HeldCalls:
    """Only reads. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_server(self, server_id: str, limit: int) -> tuple[str, ...]:
        """Up to ``limit`` calls that rest for no better reason than how the server was, the oldest first.

        One whose own last attempt was told when to come back is none of them: it keeps to that.
        """
        with self._database.read() as connection:
            found = (
                record.dispatch_id
                for record in resting_records(connection, server_id)
                if record.held_since is not None
                or not told_when(connection, record.dispatch_id, record.attempts)
            )
            return tuple(islice(found, limit))

    def may_go(self, server_id: str, now: datetime) -> bool:
        """Whether the server lets everybody pass at ``now``."""
        with self._database.read() as connection:
            return is_open(connection, server_id, now)
