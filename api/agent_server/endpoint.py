"""The ``/mcp`` endpoint: streamable HTTP behind access tokens, with a check of the Host header."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.agent_server.server import AgentServer
from api.platform.dependencies import admit
from api.platform.middleware import MAX_BODY_BYTES, Replayed
from config.settings import Settings
from contracts.errors import ErrorCode, Refusal

PATH = "/mcp"

_LOOPBACK_NAME = "localhost"


class AgentEndpoint:
    """The one address under which agents reach their tools.

    No session is kept: every request brings its token, so a token that is revoked ends at once, and any
    process of a cluster may answer.
    """

    def __init__(self, settings: Settings) -> None:
        self._names = _own_names(settings)
        self._manager: StreamableHTTPSessionManager | None = None

    def mount(self, app: Starlette) -> None:
        """Adds the route; it is in no OpenAPI document, the protocol describes itself."""
        self._route = Route(PATH, endpoint=self, include_in_schema=False)
        app.router.routes.append(self._route)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Answers inside; what is being answered at the end is broken off."""
        manager = StreamableHTTPSessionManager(
            AgentServer().protocol, stateless=True, max_request_body_size=MAX_BODY_BYTES
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request.

        Raises:
            Refusal: ``FORBIDDEN`` for another site's page or another name; ``UNAUTHENTICATED``.
        """
        request = Request(scope, receive)
        scope["route"] = self._route
        self._refuse_rebinding(request)
        await admit(request, frozenset())
        if self._manager is None:
            raise Refusal(ErrorCode.TOO_MANY_REQUESTS, "The service is shutting down; try again shortly.")
        body = await request.body()
        refused = _not_of_the_protocol(body) if request.method == "POST" else None
        if refused is not None:
            await refused(scope, receive, send)
            return
        await self._manager.handle_request(scope, Replayed(body, receive), send)

    def _refuse_rebinding(self, request: Request) -> None:
        """A page in a browser, or a name that was pointed at this machine, is not how agents come here."""
        host = _host_of(f"//{request.headers.get('host', '')}")
        if self._names is not None and host not in self._names and not _is_loopback(host):
            raise Refusal(
                ErrorCode.FORBIDDEN,
                "This name is not mine; use the address of the API, or set APPRENTICE_PUBLIC_URL to it.",
            )
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
            raise Refusal(
                ErrorCode.FORBIDDEN, "Pages of other sites may not call this; use a client of yours."
            )


def _not_of_the_protocol(body: bytes) -> JSONResponse | None:
    """The answer to what is no message; the library's own would quote its checks, and what was sent."""
    try:
        message = from_json(body)
    except ValueError:
        return _protocol_error(PARSE_ERROR, "The body cannot be read as JSON.")
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        return _protocol_error(
            INVALID_REQUEST,
            'The body is no message of JSON-RPC: send one object with "jsonrpc": "2.0", "method", "params", and an '
            '"id" where you want an answer.',
        )
    return None


def _protocol_error(code: int, message: str) -> JSONResponse:
    error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))
    return JSONResponse(error.model_dump(mode="json", by_alias=True, exclude_unset=True), status_code=400)


def _own_names(settings: Settings) -> frozenset[str] | None:
    """Accepted Host headers; ``None`` when the API listens on all addresses and no public URL is set."""
    everywhere = settings.api_host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    if everywhere and settings.public_url is None:
        return None
    return frozenset({_host_of(settings.api_url), settings.api_host.lower()})


def _host_of(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == _LOOPBACK_NAME
