"""Runs and drafts migrations with Alembic, from code alone: there is no ini file to find."""

from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from alembic.config import Config
from alembic.script import Script
from sqlalchemy import Connection

from stores.platform.database import Database

MIGRATIONS = Path(__file__).parent


def run_migrations(connection: Connection) -> None:
    """Applies every migration that is missing, in the caller's transaction."""
    command.upgrade(_configured(connection), "head")


def draft_revision(message: str) -> Path:
    """Writes a new migration: what ``stores.platform.tables`` has and the newest migration has not. Read it over.

    For developers: ``python -c "from stores.migrations.runner import draft_revision; draft_revision('add …')"``,
    then name it in ``stores.platform.migrate.NEWEST``.
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
