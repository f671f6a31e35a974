"""Request counts and durations by route, never by id."""

import time

from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
