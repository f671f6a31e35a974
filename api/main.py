"""Runs the API as a process of its own."""

import uvicorn

from api.app import create_app
from config.logging import configure_logging
from config.settings import Settings, prepare_data_dir
from stores.admin_token import ensure_admin_token
from stores.database import Database
from stores.migrate import upgrade

DRAIN_SECONDS = 10


def serve(settings: Settings) -> None:
    """Serves until SIGINT or SIGTERM, then lets running requests finish for at most ten seconds."""
    configure_logging(settings, "api")
    prepare_data_dir(settings)
    upgrade(settings.database_url)
    database = Database(settings.database_url)
    try:
        token = ensure_admin_token(database, settings.data_dir)
    finally:
        database.close()
    if token.created:
        # Shown once, on the terminal and never in a log; the 0600 file keeps it.
        print(f"Admin token (also in {settings.data_dir / 'admin_token'}): {token.secret}", flush=True)  # noqa: T201
    uvicorn.run(
        create_app(settings),
        host=settings.api_host,
        port=settings.api_port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
