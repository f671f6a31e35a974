"""The application factory."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from api.agent_server.endpoint import AgentEndpoint
from api.correlation import CorrelationMiddleware
from api.documentation import add_documentation
from api.errors import UnexpectedErrorMiddleware, install_error_handlers
from api.limits import BodyLimitMiddleware
from api.metrics import MetricsMiddleware
from api.openapi import document_of
from api.routes import (
    abilities,
    ability_commands,
    account,
    acrobat,
    adapters,
    capabilities,
    categories,
    checkpoints,
    configuration,
    deprecated,
    events,
    identity,
    learn_records,
    maintenance,
    mcp_ask_first,
    mcp_auth,
    mcp_auth_profiles,
    mcp_dispatches,
    mcp_grants,
    mcp_health,
    mcp_policy,
    mcp_receipts,
    mcp_routing,
    mcp_servers,
    mcp_tools,
    mining,
    observations,
    practice,
    proposals,
    recent_runs,
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

    agents = AgentEndpoint(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        services = await opened(settings)
        app.state.services = services
        try:
            async with agents.running():
                yield
        finally:
            services.close()

    app = FastAPI(
        title=TITLE,
        description=DESCRIPTION,
        version="0.1.0",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    for module in (
        sessions,
        session_commands,
        observations,
        practice,
        adapters,
        events,
        proposals,
        recent_runs,
        abilities,
        ability_commands,
        categories,
        configuration,
        checkpoints,
        capabilities,
        learn_records,
        account,
        maintenance,
        acrobat,
        mcp_servers,
        mcp_auth,
        mcp_auth_profiles,
        mcp_tools,
        mcp_policy,
        mcp_grants,
        mcp_dispatches,
        mcp_ask_first,
        mcp_health,
        mcp_receipts,
        mcp_routing,
        mining,
        identity,
        system,
        deprecated,
    ):
        # The routes are complete as they are; including their routers would have each analysed anew.
        app.router.routes.extend(module.router.routes)
    app.state.operations = frozenset(filter(None, map(_operation_id, iter_route_contexts(app.routes))))
    app.include_router(console_pages)
    agents.mount(app)
    app.openapi = document_of(app)
    add_documentation(app)
    install_error_handlers(app)
    app.add_middleware(UnexpectedErrorMiddleware)
    app.add_middleware(MetricsMiddleware)
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(CorrelationMiddleware)
    return app


def _operation_id(route: object) -> str | None:
    return getattr(route, "operation_id", None)
