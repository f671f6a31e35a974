"""FastAPI dependencies of routes: services, authenticated caller with a scope, page, ids of the path."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import anyio.to_thread
from fastapi import Depends, Path, Query, Request
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BeforeValidator
from starlette.requests import HTTPConnection
from uuid_utils import uuid7

from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind
from contracts.platform.identity import Principal, Scope
from domain.learning.session.deployment import refuse_missing_part
from stores.platform.database import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageRequest

# What does not block is `async`: the framework would send it through a thread of its pool otherwise.

BEARER = HTTPBearer(
    scheme_name="bearer",
    bearerFormat="apr_…",
    description="An access token; `apprentice tokens create` or `POST /api/tokens` makes one.",
    auto_error=False,
)


async def services_of(request: Request) -> Services:
    """The services of this application."""
    services: Services = request.app.state.services
    return services


def correlation_id_of(connection: HTTPConnection) -> str:
    """The id of this request."""
    known: str | None = getattr(connection.state, "correlation_id", None)
    return known or str(uuid7())


ServicesDep = Annotated[Services, Depends(services_of)]


async def authenticated(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
) -> Principal:
    """The caller, whom ``AccessMiddleware`` has authenticated by its bearer token."""
    del credentials  # It is there for the OpenAPI document.
    principal: Principal = request.state.principal
    return principal


_SCOPES: dict[Callable[..., Any], Scope] = {}
"""The scope that each dependency made by ``require`` asks for."""


def require(scope: Scope) -> Callable[..., Awaitable[Principal]]:
    """A dependency that lets through callers with ``scope``; ``admin`` has every right.

    Raises:
        Refusal: ``FORBIDDEN``.
    """

    async def caller(principal: Annotated[Principal, Depends(authenticated)]) -> Principal:
        principal.require(scope)
        return principal

    _SCOPES[caller] = scope
    return caller


def scopes_needed(route: APIRoute) -> frozenset[Scope] | None:
    """What a caller of the route needs beside a valid token; None where it needs no token."""
    calls: list[Callable[..., Any]] = []
    left = [route.dependant]
    while left:
        dependant = left.pop()
        left.extend(dependant.dependencies)
        if dependant.call is not None:
            calls.append(dependant.call)
    if authenticated not in calls:
        return None
    return frozenset(_SCOPES[call] for call in calls if call in _SCOPES)


async def admit(connection: HTTPConnection, needed: frozenset[Scope]) -> None:
    """Authenticates the caller by its bearer token, and refuses it where it lacks a scope.

    Raises:
        Refusal: ``UNAUTHENTICATED``, ``FORBIDDEN``.
    """
    services: Services = connection.app.state.services
    scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
    principal = None
    if scheme.lower() == "bearer":
        principal = await anyio.to_thread.run_sync(services.tokens.authenticate, secret.strip())
    if principal is None:
        raise Refusal(
            ErrorCode.UNAUTHENTICATED,
            "Send a valid access token: Authorization: Bearer apr_…. The admin's is in the file admin_token of the "
            "data directory; where it holds no longer, starting `apprentice up` anew puts another there. "
            "`apprentice tokens create` makes more.",
        )
    for scope in sorted(needed, key=list(Scope).index):
        principal.require(scope)
    connection.state.principal = principal


async def whole_part(caller: Annotated[Principal, Depends(authenticated)], request: Request) -> None:
    """A route's dependency: refuses the operation where its part is not all deployed.

    Raises:
        Refusal: ``PARTIAL_DEPLOYMENT``.
    """
    del caller  # Only authenticated callers learn what is deployed.
    refuse_missing_part(request.scope["route"].operation_id, request.app.state.operations)


Reader = Annotated[Principal, Depends(require(Scope.READ))]
Learner = Annotated[Principal, Depends(require(Scope.LEARN))]
Observer = Annotated[Principal, Depends(require(Scope.OBSERVE))]
Installer = Annotated[Principal, Depends(require(Scope.INSTALL))]
ToolUser = Annotated[Principal, Depends(require(Scope.CALL))]
Admin = Annotated[Principal, Depends(require(Scope.ADMIN))]


async def page_request(
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE)] = DEFAULT_PAGE_SIZE,
) -> PageRequest:
    """The wanted page of a list."""
    return PageRequest(page=page, page_size=page_size)


PageDep = Annotated[PageRequest, Depends(page_request)]


def _true_or_false(given: object) -> object:
    if isinstance(given, str) and given not in {"true", "false"}:
        raise ValueError("say true or false")
    return given


TrueOrFalse = Annotated[bool, BeforeValidator(_true_or_false)]
"""A switch in a query, which is ``true`` or ``false`` and not ``1`` or ``yes``."""

SearchQuery = Annotated[
    str | None,
    Query(
        alias="q",
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        description="Words that must all be in what a list is searched by.",
    ),
]


T = TypeVar("T")
AnyOf = Annotated[
    list[T] | None, Query(max_length=40, description="One of these; named several times, any of them.")
]
"""A filter that may be named several times: ``?state=armed&state=paused``."""


def parse_uuid(value: str, code: ErrorCode, what: str, listed: str = "") -> str:
    """``value`` as a canonical UUID; anything else is refused with ``code`` as something that is not there.

    ``listed`` is the route that lists what there is.
    """
    try:
        return str(UUID(value))
    except ValueError:
        hint = f"; list them: {listed}" if listed else ""
        raise Refusal(code, f"There is no {what} with that id{hint}.") from None


def _session_id(session_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(session_id, ErrorCode.LEARN_SESSION_NOT_FOUND, "session")


def _proposal_id(proposal_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(proposal_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")


def _saga_id(saga_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(saga_id, ErrorCode.SAGA_NOT_FOUND, "install saga")


def _event_id(event_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(event_id, ErrorCode.OBSERVATION_NOT_FOUND, "observation")


def _state_id(state_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(state_id, ErrorCode.NOT_FOUND, "starting state")


def _ability_id(ability_id: Annotated[str, Path(max_length=160)]) -> str:
    if not ability_id.isprintable():
        raise Refusal(ErrorCode.ABILITY_NOT_FOUND, "There is no ability with that id.")
    return ability_id


def _trial_id(trial_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(trial_id, ErrorCode.NOT_FOUND, "trial")


def _category_id(category_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(category_id, ErrorCode.NOT_FOUND, "category", "GET /api/categories")


def _adapter_kind(adapter_kind: Annotated[str, Path(max_length=80)]) -> ObservationAdapterKind:
    try:
        return ObservationAdapterKind(adapter_kind)
    except ValueError:
        raise Refusal(
            ErrorCode.NOT_FOUND, "There is no such kind of adapter; GET /api/learn/adapters lists them."
        ) from None


def _dispatch_id(dispatch_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(dispatch_id, ErrorCode.NOT_FOUND, "dispatch")


def _mcp_dispatch_id(mcp_dispatch_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(mcp_dispatch_id, ErrorCode.MCP_DISPATCH_NOT_FOUND, "tool call")


def _grant_id(grant_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(grant_id, ErrorCode.MCP_GRANT_NOT_FOUND, "standing approval")


def _server_id(server_id: Annotated[str, Path(max_length=120)]) -> str:
    if not server_id.isprintable():
        raise Refusal(ErrorCode.MCP_SERVER_NOT_FOUND, "There is no tool server with that id.")
    return server_id


def _auth_profile_id(auth_profile_id: Annotated[str, Path(max_length=120)]) -> str:
    if not auth_profile_id.isprintable():
        raise Refusal(ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND, "There is no sign-in with that id.")
    return auth_profile_id


def _tool_name(tool_name: Annotated[str, Path(max_length=120)]) -> str:
    if not tool_name.isprintable():
        raise Refusal(ErrorCode.MCP_TOOL_NOT_FOUND, "The server has no tool of that name.")
    return tool_name


def parse_digest(digest: str, what: str) -> str:
    """A digest as it stands in a path; raises ``NOT_FOUND`` for what cannot be one."""
    if len(digest) != 64 or not digest.isalnum():
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no {what} with that digest.")
    return digest


def _output_digest(digest: Annotated[str, Path(max_length=200)]) -> str:
    return parse_digest(digest, "output")


SessionId = Annotated[str, Depends(_session_id)]
ProposalId = Annotated[str, Depends(_proposal_id)]
SagaId = Annotated[str, Depends(_saga_id)]
EventId = Annotated[str, Depends(_event_id)]
StateId = Annotated[str, Depends(_state_id)]
AbilityId = Annotated[str, Depends(_ability_id)]
TrialId = Annotated[str, Depends(_trial_id)]
CategoryId = Annotated[str, Depends(_category_id)]
AdapterKind = Annotated[ObservationAdapterKind, Depends(_adapter_kind)]
DispatchId = Annotated[str, Depends(_dispatch_id)]
McpDispatchId = Annotated[str, Depends(_mcp_dispatch_id)]
GrantId = Annotated[str, Depends(_grant_id)]
ServerId = Annotated[str, Depends(_server_id)]
AuthProfileId = Annotated[str, Depends(_auth_profile_id)]
ToolName = Annotated[str, Depends(_tool_name)]
OutputDigest = Annotated[str, Depends(_output_digest)]
