"""Correlation ids: one per request, taken from the client or made here, in logs, receipts and answers."""

import re
from collections.abc import Awaitable, Callable

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

HEADER = "x-correlation-id"
_ACCEPTED = re.compile(r"^[A-Za-z0-9._:#/-]{1,200}$")


class CorrelationMiddleware:
    """Binds the request's correlation id to its logs and names it in the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything on; only HTTP is touched."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = HTTPConnection(scope).headers.get(HEADER, "")
        correlation_id = given if _ACCEPTED.match(given) else str(uuid7())
        scope.setdefault("state", {})["correlation_id"] = correlation_id
        with structlog.contextvars.bound_contextvars(correlation_id=correlation_id):
            await self._app(scope, receive, _naming(send, correlation_id))


def _naming(send: Send, correlation_id: str) -> Callable[[Message], Awaitable[None]]:
    async def send_named(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)[HEADER] = correlation_id
        await send(message)

    return send_named


def correlation_id_of(connection: HTTPConnection) -> str:
    """The id of this request."""
    known: str | None = getattr(connection.state, "correlation_id", None)
    return known or str(uuid7())
