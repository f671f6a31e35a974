"""The application factory."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api.correlation import CorrelationMiddleware
from api.errors import UnexpectedErrorMiddleware, install_error_handlers
from api.limits import BodyLimitMiddleware
from api.metrics import MetricsMiddleware
from api.openapi import document_of
from api.routes import (
    abilities,
    events,
    identity,
    learn_records,
    maintenance,
    observations,
    proposals,
    session_commands,
    sessions,
    system,
)
from api.services import Services, open_services
from config.settings import Settings
from console.routes import router as console_pages

TITLE = "Apprentice"
DESCRIPTION = (
    "Teach an agent an ability by showing it, see what it understood, have it proven, install it, "
    "and take it back."
)


def create_app(
    settings: Settings, opened: Callable[[Settings], Awaitable[Services]] = open_services
) -> FastAPI:
    """An application over the services that ``opened`` puts together when it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        services = await opened(settings)
        app.state.services = services
        try:
            yield
        finally:
            services.close()

    app = FastAPI(title=TITLE, description=DESCRIPTION, version="0.1.0", lifespan=lifespan)
    for module in (
        sessions,
        session_commands,
        observations,
        events,
        proposals,
        abilities,
        learn_records,
        maintenance,
        identity,
        system,
    ):
        app.include_router(module.router)
    app.include_router(console_pages)
    app.openapi = document_of(app)
    install_error_handlers(app)
    app.add_middleware(UnexpectedErrorMiddleware)
    app.add_middleware(MetricsMiddleware)
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(CorrelationMiddleware)
    return app
