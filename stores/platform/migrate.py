"""Brings a database to the newest schema.

Migrations only go forward; the way back is the backup from before.
"""

from sqlalchemy import inspect, text

from stores.platform.database import Database

NEWEST = "0026"
"""The newest migration's revision. A database that has it needs no Alembic, whose import alone is felt at start."""

LOCK_KEY = 0x41505052_4D494752
"""The advisory lock on PostgreSQL that lets one process at a time migrate."""

WAIT_MS = 300_000
"""How long a process waits on SQLite for another one that migrates: of a large store that takes minutes."""


def upgrade(database_url: str) -> None:
    """Applies every migration that is missing, all of them or none; nothing happens when none is.

    Processes that start at once wait for each other.

    Raises:
        SQLAlchemyError: the database cannot be reached, or refuses a change; it is as it was before.
    """
    database = Database(database_url, busy_ms=WAIT_MS)
    try:
        if _revision(database) == NEWEST:
            return
        from stores.migrations.runner import run_migrations

        with database.write() as connection:
            if not database.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
            run_migrations(connection)
    finally:
        database.close()


def _revision(database: Database) -> str | None:
    """The revision a database is at; none when it is new."""
    with database.read() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.scalar(text("SELECT version_num FROM alembic_version"))
