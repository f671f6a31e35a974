"""Middleware that each request passes through: correlation id, access, body limits, metrics, unexpected errors.

A correlation id per request, from the client or generated, is in logs, receipts and responses. Bodies are checked
before a route runs: size, valid text, no duplicate keys in JSON objects, where parsers keep the last.
"""

import json
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
from fastapi.routing import APIRoute
from prometheus_client import Counter, Histogram
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

from api.platform.dependencies import admit, scopes_needed
from api.platform.errors import error_response, unexpected
from contracts.documents.acrobat import MAX_SOURCE_BYTES
from contracts.errors import ErrorCode, Refusal
from contracts.learning.starting_state import ARCHIVE_TYPE
from contracts.learning.trials import MAX_ARCHIVE_BYTES
from contracts.platform.identity import Scope as Right

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


class AccessMiddleware:
    """Authenticates, then looks for the scope, before anything else of a request but its route is looked at.

    Who has no token learns nothing of what a body or a path is checked for, and has nothing read.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        """``routes`` are those of the application, in the order in which they are matched."""
        self._app = app
        self._needed = [(one, scopes_needed(one)) for one in routes if isinstance(one, APIRoute)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what needs no token, and what no route takes."""
        if scope["type"] == "http":
            needed = self._needed_by(scope)
            if needed is not None:
                request = Request(scope)
                try:
                    await admit(request, needed)
                except Refusal as refusal:
                    refused = error_response(request, refusal.code, refusal.message, **refusal.extra)
                    await refused(scope, receive, send)
                    return
        await self._app(scope, receive, send)

    def _needed_by(self, scope: Scope) -> frozenset[Right] | None:
        for route, needed in self._needed:
            match, found = route.matches(scope)
            if match is Match.FULL:
                # Counted under its route also where it is refused here.
                scope["route"] = found["route"]
                return needed
        return None


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")


class _Twice(Exception):
    def __init__(self, name: str) -> None:
        self.name = name


def repeated_name(body: bytes) -> str | None:
    """What is wrong where one object of ``body`` has a name twice; None where none has, or it is no JSON.

    A key is quoted only if it looks like a field name: anything else may be a misplaced secret.
    """
    try:
        json.loads(body, object_pairs_hook=_checked)
    except _Twice as found:
        named = f" ({found.name})" if _PLAIN.fullmatch(found.name) else ""
        return f"holds an object with the same name twice{named}; which one is meant cannot be told"
    except (ValueError, RecursionError):
        # Invalid JSON is reported by the route.
        return None
    return None


def _checked(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Twice(name)
            seen.add(name)


MAX_BODY_BYTES = 4 * 1024 * 1024
"""A full batch of 500 events, each at the limit of its fields, fits."""

DOCUMENT_LIMITS = {
    ("/api/adapters/acrobat/sources", "application/pdf"): MAX_SOURCE_BYTES,
    ("/api/abilities/trials/folders", ARCHIVE_TYPE): MAX_ARCHIVE_BYTES,
}
"""Where a body is a document, with its media type, and how large it may be."""

_STREAMED = re.compile(r"/api/learn/sessions/[^/]+/starting-states/[^/]+")
"""Routes that read an archive (``PUT``, ``application/gzip``) as it comes, and count its bytes themselves."""

_FORM_ROUTE = "/api/skills/import/uploads"
"""The route that reads a multipart form (``POST``) as it comes, and counts its bytes itself."""

_ROUTES = "/api/"
"""Prefix of the routes with JSON bodies; the MCP endpoint validates its own."""

_LENGTH = re.compile(r"[0-9]{1,18}")
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HINTS = (b"\\u0000", b"\\ud", b"\\uD")


class BodyLimitMiddleware:
    """Answers 413 to a body that is too large and 422 to one that is not text of Unicode without NUL.

    The database can keep neither NUL nor half a surrogate pair, so no field can take them. For the API's own
    routes a body in which an object has the same name twice is refused too. A body is read whole here: nothing
    of one that is refused has reached a route.
    """

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts what really arrives; the announced length is only a first hint."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if _is_streamed(request):
            await self._app(scope, receive, send)
            return
        announced = request.headers.get("content-length", "0")
        document_limit = _document_limit(request)
        limit = document_limit or self._limit
        refused: JSONResponse | None = None
        body = b""
        if not _LENGTH.fullmatch(announced) or int(announced) > limit:
            refused = _too_large(request, limit)
        else:
            try:
                body = await _whole_body(receive, limit)
            except ClientDisconnect:
                return
            except _TooLarge:
                refused = _too_large(request, limit)
            else:
                refused = None if document_limit else _unkeepable(request, body)
        if refused is not None:
            await refused(scope, receive, send)
            return
        await self._app(scope, Replayed(body, receive), send)


def _too_large(request: Request, limit: int) -> JSONResponse:
    return error_response(
        request,
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"The body may have at most {limit} bytes; send less at once.",
    )


def _document_limit(request: Request) -> int | None:
    """How large the document may be that the body is; None where the body is text as everywhere."""
    return DOCUMENT_LIMITS.get((request.url.path, _media_type(request)))


def _is_streamed(request: Request) -> bool:
    if request.url.path == _FORM_ROUTE and _media_type(request) == "multipart/form-data":
        return True
    if request.method != "PUT" or _media_type(request) != ARCHIVE_TYPE:
        return False
    return _STREAMED.fullmatch(request.url.path) is not None


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


class _TooLarge(Exception):
    pass


async def _whole_body(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _TooLarge
        chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks)


class Replayed:
    """Replays the body that was already read, then receives from the connection."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _unkeepable(request: Request, body: bytes) -> JSONResponse | None:
    problem = _text_problem(body)
    if problem is None and b"{" in body and request.url.path.startswith(_ROUTES):
        problem = repeated_name(body)
    if problem is None:
        return None
    fields = [{"path": "body", "problem": problem}]
    return error_response(request, ErrorCode.VALIDATION_FAILED, f"body: {problem}", fields=fields)


def _text_problem(body: bytes) -> str | None:
    """Why no field could take this JSON text; whether it is JSON at all is not asked here."""
    if b"\x00" in body:
        return "is not JSON in UTF-8"
    try:
        body.decode()
    except UnicodeDecodeError:
        return "is not text in UTF-8"
    if not any(hint in body for hint in _HINTS):
        return None
    return _escape_problem(body)


def _escape_problem(body: bytes) -> str | None:
    high_ends = -1
    for escape in _ESCAPE.finditer(body):
        code = int(escape[1] or b"20", 16)
        after_high = high_ends == escape.start()
        if (high_ends >= 0 and not after_high) or after_high != (0xDC00 <= code <= 0xDFFF):
            return "holds half of a surrogate pair"
        if code == 0:
            return "holds the NUL character"
        high_ends = escape.end() if 0xD800 <= code <= 0xDBFF else -1
    return "holds half of a surrogate pair" if high_ends >= 0 else None


REQUESTS = Counter("apprentice_http_requests_total", "Requests answered.", ["method", "route", "status"])
DURATION = Histogram("apprentice_http_request_seconds", "Time to the answer's start.", ["method", "route"])


class MetricsMiddleware:
    """Measures until the answer starts, so that an event stream counts as answered at once."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts HTTP requests; everything else passes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "unmatched")
                REQUESTS.labels(scope["method"], route, message["status"]).inc()
                DURATION.labels(scope["method"], route).observe(time.perf_counter() - begun)
            await send(message)

        await self._app(scope, receive, send_counted)


class UnexpectedErrorMiddleware:
    """Answers what no handler knows, inside the request's logging context and metrics.

    The framework's own place for this is outside of both, and it raises the error once more.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Once an answer has begun it can only be broken off."""
        begun = False

        async def send_noting(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, send_noting)
        except Exception as error:
            if scope["type"] != "http" or begun:
                raise
            response = await unexpected(Request(scope), error)
            await response(scope, receive, send)
