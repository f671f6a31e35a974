"""Entry point of the API process: settings, database migration, admin token, garbage collector, uvicorn."""

import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn

from api.app import create_app
from api.platform.temporal_ui import serving_temporal_ui
from api.services import Services
from config.logging import configure_logging
from config.memory import collect_seldom
from config.settings import Settings, prepare_data_dir
from contracts.platform.identity import Principal
from stores.platform.database import Database
from stores.platform.migrate import upgrade
from stores.platform.tokens import ensure_admin_token

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
    if token.created and sys.stdout.isatty():
        # Shown once, to a person and never to a log; the 0600 file keeps it.
        print(f"Admin token (also in {settings.data_dir / 'admin_token'}): {token.secret}", flush=True)  # noqa: T201
    app = create_app(settings)
    collect_seldom()
    config = uvicorn.Config(
        app,
        host=settings.api_host,
        port=settings.api_port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    _Server(config, settings, lambda: getattr(app.state, "services", None)).run()


class _Server(uvicorn.Server):
    """Closes event streams when shutdown begins; open streams would block the drain. Serves the Temporal UI too."""

    def __init__(
        self, config: uvicorn.Config, settings: Settings, services: Callable[[], Services | None]
    ) -> None:
        super().__init__(config)
        self._settings = settings
        self._services = services

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serves API and Temporal UI until the first signal."""
        async with serving_temporal_ui(self._settings, self._authenticate):
            await super().serve(sockets)

    def _authenticate(self, secret: str) -> Principal | None:
        services = self._services()
        return services.tokens.authenticate(secret) if services is not None else None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends the streams and begins the drain."""
        services = self._services()
        if self.started and services is not None:
            services.tail.close()
        super().handle_exit(sig, frame)
