"""No body larger than this service can use ever reaches a route."""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import error_response
from contracts.errors import ErrorCode

MAX_BODY_BYTES = 4 * 1024 * 1024
"""A full batch of 500 events, each at the limit of its fields, fits."""


class BodyLimitMiddleware:
    """Answers 413 to a body that is, or turns out to be, too large."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts what really arrives; the announced length is only a first hint."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        announced = request.headers.get("content-length", "0")
        if not announced.isdigit() or int(announced) > self._limit:
            await self._refuse(request, receive, send)
            return
        counted = _Counted(receive, self._limit)
        try:
            await self._app(scope, counted, send)
        except _TooLarge:
            await self._refuse(request, receive, send)

    async def _refuse(self, request: Request, receive: Receive, send: Send) -> None:
        response = error_response(
            request,
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The body may have at most {self._limit} bytes; send smaller batches.",
        )
        await response(request.scope, receive, send)


class _TooLarge(Exception):
    pass


class _Counted:
    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise _TooLarge
        return message
