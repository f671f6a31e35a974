"""The sessions that are not at rest: those whose workflow should be running."""

from sqlalchemy import select

from contracts.learning.aggregate import LearnSessionAggregate
from stores.database import Database
from stores.tables import learn_sessions


class OpenSessions:
    """Reads them as last committed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ids(self) -> tuple[str, ...]:
        """Every session that is not at rest, oldest first; an owner has at most one."""
        table = learn_sessions
        with self._database.read() as connection:
            rows = connection.scalars(
                select(table.c.session_id).where(table.c.holds_slot).order_by(table.c.created_at)
            )
            return tuple(rows)

    def one(self, session_id: str) -> LearnSessionAggregate | None:
        """The session, unless it has come to rest meanwhile."""
        table = learn_sessions
        with self._database.read() as connection:
            body = connection.scalar(
                select(table.c.aggregate).where(table.c.session_id == session_id, table.c.holds_slot)
            )
        return LearnSessionAggregate.model_validate_json(body) if body else None
