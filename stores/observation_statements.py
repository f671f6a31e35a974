"""The statements of taking observations in, spelled for the driver: nothing of the long ones is composed per group."""

from collections.abc import Sequence
from itertools import chain

from sqlalchemy import Connection

from contracts.learning.session import LearnSessionState

ROWS_A_STATEMENT = (100, 10, 1)
"""How many rows one statement inserts: few sizes, as the driver keeps each statement that it has parsed once."""

ObservationRow = tuple[str, str, bool, str]
"""Session, event, whether it is kept past the purge, and the redacted event as JSON."""

Addition = tuple[int, int, int, str, str]
"""How many more were accepted, off target and not meaningful; when; in which session."""


class IngestStatements:
    """The statements in one database's spelling."""

    def __init__(self, *, is_sqlite: bool) -> None:
        self._placeholder = one = "?" if is_sqlite else "%s"
        row = f"({', '.join([one] * 4)})"
        # Row by row, the driver gives the interpreter lock away as many times.
        self._insert = {
            size: "INSERT INTO observations (session_id, event_id, retain, body)"  # noqa: S608 - placeholders only
            f" VALUES {', '.join([row] * size)} ON CONFLICT (session_id, event_id) DO NOTHING"
            for size in ROWS_A_STATEMENT
        }
        # SQLite's writer is alone anyway.
        self._lock = "" if is_sqlite else " FOR UPDATE"
        self._add = (
            f"UPDATE observation_counters SET accepted = accepted + {one}, off_target = off_target + {one},"  # noqa: S608 - placeholders only
            f" not_meaningful = not_meaningful + {one}, updated_at = {one} WHERE session_id = {one}"
        )

    def locked_states(
        self, connection: Connection, session_ids: Sequence[str]
    ) -> dict[str, LearnSessionState]:
        """The states of the sessions that exist, locked to the end of the transaction.

        So no session stops between the check and the write; the locks are taken in one order everywhere, so
        two processes never wait for each other.
        """
        wanted = ", ".join([self._placeholder] * len(session_ids))
        rows = connection.exec_driver_sql(
            f"SELECT session_id, state FROM learn_sessions WHERE session_id IN ({wanted})"  # noqa: S608 - placeholders only
            f" ORDER BY session_id{self._lock}",
            tuple(session_ids),
        )
        return {session_id: LearnSessionState(state) for session_id, state in rows}

    def insert(self, connection: Connection, rows: Sequence[ObservationRow]) -> int:
        """Inserts the rows that are new and returns how many those were."""
        inserted = start = 0
        for size, statement in self._insert.items():
            while start + size <= len(rows):
                values = tuple(chain.from_iterable(rows[start : start + size]))
                inserted += connection.exec_driver_sql(statement, values).rowcount
                start += size
        return inserted

    def add_counts(self, connection: Connection, additions: list[Addition]) -> None:
        """Adds to the counters of sessions that have some."""
        if additions:
            connection.exec_driver_sql(self._add, additions)
