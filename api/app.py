"""Application factory of the API: routers, middleware, OpenAPI document, and documentation pages at ``/docs``."""

import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.routing import iter_route_contexts
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.staticfiles import StaticFiles

from api import configuration, inbox
from api.abilities import abilities, ability_commands, capabilities, categories, trials
from api.agent_server.endpoint import AgentEndpoint
from api.documents import acrobat
from api.imports import imports, packs, trigger_tests, uploads
from api.learning import (
    account,
    checkpoints,
    events,
    observations,
    proposals,
    records,
    session_commands,
    sessions,
    starting_states,
)
from api.maintenance import maintenance
from api.mcp import auth, auth_profiles, dispatches, health, policy, routing, servers
from api.mining import mining
from api.platform import deprecated, identity, system
from api.platform.errors import install_error_handlers
from api.platform.middleware import (
    AccessMiddleware,
    BodyLimitMiddleware,
    CorrelationMiddleware,
    MetricsMiddleware,
    UnexpectedErrorMiddleware,
)
from api.platform.openapi import document_of
from api.practice import practice
from api.services import Services, open_services
from api.skills import agents, answers, approvals, memory, wallets
from api.skills import catalog as skill_catalog
from api.skills import invocations as skill_invocations
from api.skills import policy as skill_policy
from config.settings import Settings
from console.routes import console_pages

# FastAPI hands the name of a body to pydantic, and filters the warning of it only while it declares a route: the schema
# of a contract is built at its first request.
warnings.filterwarnings("ignore", "The 'alias' attribute", UnsupportedFieldAttributeWarning)

ROUTERS = (
    sessions.router,
    session_commands.router,
    observations.router,
    starting_states.router,
    practice.router,
    observations.adapters,
    events.router,
    proposals.router,
    sessions.runs,
    abilities.router,
    ability_commands.router,
    trials.router,
    categories.router,
    configuration.router,
    checkpoints.router,
    capabilities.router,
    records.router,
    account.router,
    maintenance.router,
    acrobat.router,
    servers.router,
    auth.router,
    auth_profiles.router,
    servers.tools,
    policy.router,
    policy.grants,
    dispatches.router,
    dispatches.ask_first,
    health.router,
    routing.receipts,
    routing.router,
    mining.router,
    inbox.router,
    identity.router,
    system.router,
    deprecated.router,
    # Behind the former routes below /api/skills; imports before the routes of a skill's name.
    uploads.router,
    imports.router,
    trigger_tests.router,
    packs.router,
    skill_policy.router,
    approvals.router,
    skill_invocations.router,
    skill_catalog.router,
    wallets.router,
    agents.router,
    memory.router,
    answers.router,
)
"""Every router, in the order of the OpenAPI document; where two routes match, the first is taken."""

PAGE = "/docs"
_ASSETS = "/docs/assets"


def add_documentation(app: FastAPI) -> None:
    """Serves the pages and what they are made of."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=f"{app.title} API",
        swagger_js_url=f"{_ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{_ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{_ASSETS}/favicon-32x32.png",
        # A token typed in here is forgotten with the page.
        swagger_ui_parameters={"filter": True, "persistAuthorization": False},
    )

    async def documentation() -> HTMLResponse:
        return page

    app.add_api_route(PAGE, documentation, include_in_schema=False)
    app.mount(_ASSETS, StaticFiles(packages=[("fastapi_swagger", "resources")]), name="documentation")


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
    for router in ROUTERS:
        # The routes are complete as they are; including their routers would have each analysed anew.
        app.router.routes.extend(router.routes)
    app.state.operations = frozenset(filter(None, map(_operation_id, iter_route_contexts(app.routes))))
    app.include_router(console_pages(settings.agent_display_name))
    agents.mount(app)
    app.openapi = document_of(app)
    add_documentation(app)
    install_error_handlers(app)
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(AccessMiddleware, routes=app.router.routes)
    app.add_middleware(UnexpectedErrorMiddleware)
    app.add_middleware(MetricsMiddleware)
    app.add_middleware(CorrelationMiddleware)
    return app


def _operation_id(route: object) -> str | None:
    return getattr(route, "operation_id", None)
