"""Brings a database to the newest schema, from code alone: there is no ini file to find.

Migrations only go forward; the way back is the backup from before.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from alembic.config import Config
from alembic.script import Script
from sqlalchemy import Connection, text

from stores.database import Database

MIGRATIONS = Path(__file__).with_name("migrations")

LOCK_KEY = 0x41505052_4D494752
"""The advisory lock on PostgreSQL that lets one process at a time migrate."""


def upgrade(database_url: str) -> None:
    """Applies every migration that is missing, all of them or none; nothing happens when none is.

    Processes that start at once wait for each other.

    Raises:
        SQLAlchemyError: the database cannot be reached, or refuses a change; it is as it was before.
    """
    database = Database(database_url)
    try:
        with database.write() as connection:
            if not database.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
            command.upgrade(_configured(connection), "head")
    finally:
        database.close()


def draft_revision(message: str) -> Path:
    """Writes a new migration: what ``stores.tables`` has and the newest migration has not. Read it over.

    For developers: ``python -c "from stores.migrate import draft_revision; draft_revision('add …')"``.
    """
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/draft.db")
        try:
            with database.write() as connection:
                config = _configured(connection)
                command.upgrade(config, "head")
                script = command.revision(config, message, autogenerate=True)
        finally:
            database.close()
    if not isinstance(script, Script):
        raise RuntimeError("exactly one migration was to be drafted")
    return Path(script.path)


def _configured(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
