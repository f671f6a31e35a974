"""Reverse proxy of the Temporal UI: refuses foreign Host and Origin headers, and decrypts payloads for admins.

The development server's UI answers whatever name it is called by, so a page on the web could read and steer workflows
through a browser on this machine (DNS rebinding). The API process therefore serves the UI at ``temporal_ui_port`` and
fetches its pages from ``temporal_ui_upstream``, where a browser does not find them.

There is no sign-in for the pages: the server's own port beside them has none. Encrypted payloads are decoded
at ``/apprentice/codec/decode`` (the UI's codec endpoint) for an admin token: as a bearer token, or signed in at
``/apprentice/sign-in``. The pages and the codec have one origin, so no other is let in by CORS.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from hashlib import sha256
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
import httpx
import structlog
import uvicorn
from google.protobuf.json_format import MessageToDict, Parse, ParseError
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope
from temporalio.api.common.v1 import Payload, Payloads

from config.settings import Settings
from contracts.platform.identity import Principal, Scope
from gateways.platform.payload_signing import ENCRYPTED, clear, payload_keys

log = structlog.get_logger(__name__)

OURS = "/apprentice"
"""Prefix of what is answered here; the UI has no page under it."""

CODEC = f"{OURS}/codec"
"""The codec endpoint, as the UI and ``temporal --codec-endpoint`` are told of it; ``/decode`` is added by them."""

COOKIE = "apprentice_temporal_ui"
SIGNED_IN_SECONDS = 12 * 3600
MOST_SIGNED_IN = 100
"""Sign-ins at a time; one more ends the oldest."""

MAX_BODY_BYTES = 16 * 1024 * 1024

_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    }
)
_NOT_FORWARDED = _HOP_BY_HOP | {"host", "origin", "content-length", "authorization", "cookie"}

Authenticate = Callable[[str], Principal | None]
"""Whom a token belongs to; blocks."""


class OneOrigin:
    """Refuses requests to another host name or from a page of another origin; ``localhost`` is led to the address."""

    def __init__(self, app: ASGIApp, origin: str) -> None:
        """``origin`` is the address that people open."""
        address = urlsplit(origin)
        self._app = app
        self._origin = f"{address.scheme}://{address.netloc}"
        self._host = address.netloc

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Passes on what was meant for this address."""
        if scope["type"] == "http":
            refused = self._refusal(Request(scope))
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        host, origins = request.headers.get("host", ""), request.headers.getlist("origin")
        if any(one != self._origin for one in origins):
            return PlainTextResponse("Refused: this request comes from a page of another address.\n", 403)
        if host == self._host:
            return None
        address = urlsplit(self._origin)
        if (
            address.hostname == "127.0.0.1"
            and host == f"localhost:{address.port}"
            and request.method == "GET"
        ):
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{self._origin}{request.scope['path']}{query}", 307)
        return PlainTextResponse(f"Refused: the Temporal UI is at {self._origin}.\n", 421)


class SignIns:
    """Browsers that have shown an admin token; kept in memory, and only as long as the token is valid."""

    def __init__(self, authenticate: Authenticate) -> None:
        self._authenticate = authenticate
        self._tokens: dict[str, tuple[str, float]] = {}

    async def begin(self, token: str) -> str | None:
        """The value of a new cookie, or None where the token is none of an admin."""
        if not await self.is_admin(token):
            return None
        value = secrets.token_urlsafe(32)
        while len(self._tokens) >= MOST_SIGNED_IN:
            del self._tokens[next(iter(self._tokens))]
        self._tokens[_digest(value)] = token, time.monotonic() + SIGNED_IN_SECONDS
        return value

    async def may_read(self, request: Request) -> bool:
        """Whether a request bears an admin token, or the cookie of somebody who has shown one."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return await self.is_admin(token.strip())
        token, until = self._tokens.get(_digest(request.cookies.get(COOKIE, "")), ("", 0.0))
        return time.monotonic() < until and await self.is_admin(token)

    async def is_admin(self, token: str) -> bool:
        """Whether it is a valid token with the scope ``admin``."""
        principal = await anyio.to_thread.run_sync(self._authenticate, token)
        return principal is not None and Scope.ADMIN in principal.scopes


def _digest(value: str) -> str:
    return sha256(value.encode()).hexdigest()


class TemporalUi:
    """The routes: sign-in, codec, and everything else from the UI."""

    def __init__(
        self, upstream: httpx.AsyncClient, sign_ins: SignIns, find: Callable[[str], bytes | None]
    ) -> None:
        """``upstream`` has the address of the UI; ``find`` gives the key with an id."""
        self._upstream = upstream
        self._sign_ins = sign_ins
        self._find = find

    def routes(self) -> list[Route]:
        """In the order in which they are matched."""
        return [
            Route(f"{OURS}/sign-in", self.sign_in_page, methods=["GET"]),
            Route(f"{OURS}/sign-in", self.sign_in, methods=["POST"]),
            Route(f"{CODEC}/decode", self.decode, methods=["POST"]),
            Route(f"{OURS}/{{rest:path}}", _nothing_here),
            Route("/{path:path}", self.forward, methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
        ]

    async def sign_in_page(self, request: Request) -> Response:
        """A form that asks for the admin token."""
        del request
        return _page("Encrypted contents are shown to admins only.")

    async def sign_in(self, request: Request) -> Response:
        """Sets the cookie that the codec asks for."""
        body = await _body(request)
        fields = parse_qs(body.decode("utf-8", "replace")) if body is not None else {}
        value = await self._sign_ins.begin(fields.get("token", [""])[0].strip())
        if value is None:
            return _page("That is no valid token with the scope admin.", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            COOKIE,
            value,
            max_age=SIGNED_IN_SECONDS,
            path=OURS,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def decode(self, request: Request) -> Response:
        """Payloads in clear, in the form of Temporal's codec protocol; those that no key opens as they were.

        What is sent is not believed: the signature is looked at where payloads are acted upon.
        """
        body = await _body(request)
        if body is None:
            return JSONResponse({"message": f"At most {MAX_BODY_BYTES} bytes at once."}, 413)
        try:
            payloads = Parse(body, Payloads(), ignore_unknown_fields=True).payloads
        except (ParseError, UnicodeDecodeError):
            return JSONResponse({"message": 'Send {"payloads": […]} as JSON.'}, 400)
        hidden = any(one.metadata.get("encoding") == ENCRYPTED for one in payloads)
        if hidden and not await self._sign_ins.may_read(request):
            return JSONResponse({"message": f"Sign in at {OURS}/sign-in to read encrypted payloads."}, 401)
        shown = await anyio.to_thread.run_sync(self._in_clear, payloads)
        return JSONResponse(MessageToDict(Payloads(payloads=shown)))

    def _in_clear(self, payloads: Any) -> list[Payload]:
        return [clear(one, self._find) or one for one in payloads]

    async def forward(self, request: Request) -> Response:
        """The UI's answer, as it comes."""
        headers = [(name, value) for name, value in request.headers.items() if name not in _NOT_FORWARDED]
        cookies = {name: value for name, value in request.cookies.items() if name != COOKIE}
        if cookies:
            headers.append(("cookie", "; ".join(f"{name}={value}" for name, value in cookies.items())))
        body = await _body(request)
        if body is None:
            return PlainTextResponse(f"At most {MAX_BODY_BYTES} bytes.\n", 413)
        asked = self._upstream.build_request(
            request.method,
            httpx.URL(raw_path=_raw_path(request)),
            headers=headers,
            content=body or None,
        )
        try:
            answer = await self._upstream.send(asked, stream=True)
        except httpx.TransportError as error:
            log.warning("the temporal ui does not answer", error=type(error).__name__)
            return PlainTextResponse("The Temporal UI does not answer; try again shortly.\n", 502)
        response = StreamingResponse(
            answer.aiter_raw(), answer.status_code, background=BackgroundTask(answer.aclose)
        )
        response.raw_headers = [
            (name.lower(), value)
            for name, value in answer.headers.raw
            if name.lower().decode("latin-1") not in _HOP_BY_HOP
        ]
        return response


def _raw_path(request: Request) -> bytes:
    path: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    query: bytes = request.scope["query_string"]
    return path + b"?" + query if query else path


async def _body(request: Request) -> bytes | None:
    """The body; None where it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


async def _nothing_here(request: Request) -> Response:
    del request
    return PlainTextResponse("There is no such page.\n", 404)


def _page(message: str, status: int = 200) -> HTMLResponse:
    # Nothing of a request is repeated in it.
    return HTMLResponse(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Sign in</title>"
        f"<h1>Sign in</h1><p>{escape(message)}</p>"
        f"<form method=post action={OURS}/sign-in>"
        "<label>Access token <input name=token type=password autocomplete=off required></label> "
        "<button>Sign in</button></form>",
        status,
        {"content-security-policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'"},
    )


@asynccontextmanager
async def temporal_ui_app(
    settings: Settings, authenticate: Authenticate, origin: str, upstream: str
) -> AsyncGenerator[ASGIApp]:
    """The application that serves the UI of ``upstream`` at ``origin``."""
    async with httpx.AsyncClient(
        base_url=upstream, trust_env=False, timeout=60, follow_redirects=False
    ) as client:
        ui = TemporalUi(client, SignIns(authenticate), payload_keys(settings.data_dir).find)
        yield OneOrigin(Starlette(routes=ui.routes()), origin)


class _BesideServer(uvicorn.Server):
    """Leaves the signals to the server that it runs beside."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Captures none."""
        yield


@asynccontextmanager
async def serving_temporal_ui(settings: Settings, authenticate: Authenticate) -> AsyncGenerator[None]:
    """Serves the UI at ``temporal_ui_port``, where there is one to be served."""
    upstream = settings.temporal_ui_upstream
    if upstream is None:
        yield
        return
    origin = (settings.temporal_ui_url or f"http://127.0.0.1:{settings.temporal_ui_port}").rstrip("/")
    async with temporal_ui_app(settings, authenticate, origin, upstream) as app:
        config = uvicorn.Config(
            app,
            host=settings.api_host,
            port=settings.temporal_ui_port,
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        server = _BesideServer(config)
        running = asyncio.create_task(server.serve())
        try:
            while not (server.started or running.done()):
                await asyncio.sleep(0.01)
            yield
        finally:
            server.should_exit = True
            with suppress(asyncio.CancelledError):
                await running
