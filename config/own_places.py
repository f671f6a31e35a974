"""Files and folders of an installation that no local tool server may reach."""

import os
from pathlib import Path

from sqlalchemy import make_url

from config.origins import find_config_file
from config.settings import Settings

TOOL_SERVERS = "tool-servers"
"""The folder in the data directory that holds a folder for each local tool server: its home, files and caches."""


def own_places(settings: Settings) -> tuple[Path, ...]:
    """The data directory first, then what of the installation is kept elsewhere and holds secrets."""
    url = make_url(settings.database_url)
    database = Path(url.database) if url.drivername.startswith("sqlite") and url.database else None
    named = (
        settings.data_dir,
        database,
        settings.database_password_file,
        find_config_file({}, os.environ),
    )
    return tuple(dict.fromkeys(place.absolute() for place in named if place is not None))
