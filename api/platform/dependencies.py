"""FastAPI dependencies of routes: services, authenticated caller with a scope, page, command frame."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from uuid_utils import uuid7

from api.platform.errors import correlation_id_of
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from gateways.platform.updates import OWN_KEY_PREFIX
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageRequest

MAX_KEY_LENGTH = 120

# What does not block is `async`: the framework would send it through a thread of its pool otherwise.

KEY_PATTERN = r"^[ -~]+$"
"""What an ``Idempotency-Key`` is made of: printable ASCII."""

_CLIENT_KEY_PREFIX = "client-"
# So that no client can name the key of a deadline's decision, or of a request that brought none.

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


ServicesDep = Annotated[Services, Depends(services_of)]


def authenticated(
    services: ServicesDep, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
) -> Principal:
    """The caller, by its bearer token.

    Raises:
        Refusal: ``UNAUTHENTICATED``.
    """
    principal = services.tokens.authenticate(credentials.credentials.strip()) if credentials else None
    if principal is None:
        raise Refusal(
            ErrorCode.UNAUTHENTICATED,
            "Send a valid access token: Authorization: Bearer apr_…; `apprentice tokens create` makes one.",
        )
    return principal


def require(scope: Scope) -> Callable[..., Awaitable[Principal]]:
    """A dependency that lets through callers with ``scope``; ``admin`` has every right.

    Raises:
        Refusal: ``FORBIDDEN``.
    """

    async def caller(principal: Annotated[Principal, Depends(authenticated)]) -> Principal:
        if scope not in principal.scopes and Scope.ADMIN not in principal.scopes:
            raise Refusal(
                ErrorCode.FORBIDDEN,
                f"This needs the scope {scope.value}; ask for a token that has it.",
                required_scope=scope.value,
            )
        return principal

    return caller


Reader = Annotated[Principal, Depends(require(Scope.READ))]
Learner = Annotated[Principal, Depends(require(Scope.LEARN))]
Observer = Annotated[Principal, Depends(require(Scope.OBSERVE))]
Approver = Annotated[Principal, Depends(require(Scope.APPROVE))]
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

SearchQuery = Annotated[
    str | None,
    Query(
        alias="q",
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        description="Words that must all be in what a list is searched by.",
    ),
]


@dataclass(frozen=True)
class CommandFrame:
    """Route, idempotency key and correlation id of a command."""

    route: str
    header_key: str | None
    correlation_id: str

    def key_for(self, owner: str, body: BaseModel | None) -> CommitKey:
        """The client's idempotency key, else a generated one."""
        own = CommitKey(
            owner_user_id=owner,
            key=f"{OWN_KEY_PREFIX}{uuid7()}",
            request_digest=digest_of(canonical_json({"route": self.route})),
        )
        return self.client_key(owner, body) or own

    def client_key(self, owner: str, body: BaseModel | None) -> CommitKey | None:
        """The client's idempotency key, from the header or the body.

        The digest covers route and body, so that a key cannot stand for two different requests.
        """
        given = self.header_key or getattr(body, "client_request_id", None)
        if not given:
            return None
        payload = body.model_dump(mode="json", exclude={"client_request_id"}) if body is not None else {}
        return CommitKey(
            owner_user_id=owner,
            key=_CLIENT_KEY_PREFIX + given,
            request_digest=digest_of(canonical_json({"route": self.route, "body": payload})),
        )


async def command_frame(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=MAX_KEY_LENGTH,
            pattern=KEY_PATTERN,
            description="Makes a repeated request harmless: for 24 hours the same key and request get the "
            "first answer, the same key with another request `IDEMPOTENCY_KEY_REUSED`.",
        ),
    ] = None,
) -> CommandFrame:
    """The frame of this request."""
    return CommandFrame(
        route=f"{request.method} {request.url.path}",
        header_key=idempotency_key,
        correlation_id=correlation_id_of(request),
    )


FrameDep = Annotated[CommandFrame, Depends(command_frame)]
