"""The store of an installation on this machine, for commands that work on it without the service."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import make_url

from cli.output import ExitCode, fail
from config.origins import SettingsError
from config.settings import Settings, load_settings
from stores.database import Database

DataDir = Annotated[Path | None, typer.Option(help="The data directory of the installation.")]


@contextmanager
def opened(data_dir: Path | None) -> Generator[tuple[Settings, Database]]:
    """The settings of the installation, and its database, closed in the end.

    Raises:
        typer.Exit: the settings are refused, or there is no database yet.
    """
    try:
        settings = load_settings(data_dir=data_dir)
    except SettingsError as error:
        fail(str(error), ExitCode.USAGE)
    _require_database(settings)
    database = Database(settings.database_url)
    try:
        yield settings, database
    finally:
        database.close()


def _require_database(settings: Settings) -> None:
    url = make_url(settings.database_url)
    # Opening a SQLite file that is not there would make an empty one.
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        fail(f"there is no database at {url.database}; run `apprentice up` first", ExitCode.NOT_READY)
