"""Routes of the web console: one page, its static modules, and the vocabulary that they need before sign-in.

Needs no token and holds no data: the page fetches everything else from the API with the access token that the person
pastes (DOC3 §0B.2-§0B.9).
"""

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

from contracts.errors import ErrorCode, Refusal
from contracts.learning.install import SagaStepName
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST
from contracts.learning.validation import OFFERED_CHECKS
from domain.learning.session.account import pending_ui_state

PAGE = "console.html"

SECURITY_HEADERS = {
    # Trusted types: a module that tried to build the page out of text would fail, not run it.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""On everything the console serves: only its own files run, and only this service is talked to."""

_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """A file as it is served; ``etag`` changes with its content."""

    content: bytes
    media_type: str
    etag: str


def vocabulary(agent_display_name: str | None) -> dict[str, object]:
    """Rules and labels that the page shares with the service; without a name its labels are generic (DOC3 §0B.4)."""
    return {
        "agent_display_name": agent_display_name,
        "at_rest": sorted(state.value for state in AT_REST),
        "pending": {
            state.value: shown.value
            for state in LearnSessionState
            if (shown := pending_ui_state(state, None)) is not None
        },
        "checks": [check.value for check in OFFERED_CHECKS],
        "saga_steps": [step.value for step in SagaStepName],
    }


def _asset(content: bytes, media_type: str) -> Asset:
    return Asset(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _collect(folder: Traversable, prefix: str = "") -> dict[str, Asset]:
    found: dict[str, Asset] = {}
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found |= _collect(entry, f"{name}/")
        elif media_type := _MEDIA_TYPES.get(f".{entry.name.rpartition('.')[2]}"):
            found[name] = _asset(entry.read_bytes(), media_type)
    return found


ASSETS = _collect(files("console") / "static")
"""Every file that is served, by its path: a request can name nothing else on this machine."""


def console_pages(agent_display_name: str | None) -> APIRouter:
    """The console's routes, with its labels branded by ``agent_display_name``.

    A file that the console does not have is refused with ``NOT_FOUND``.
    """
    router = APIRouter(prefix="/console", include_in_schema=False)
    words = _asset(json.dumps(vocabulary(agent_display_name)).encode(), "application/json")

    def page(request: Request) -> Response:
        return _served(request, ASSETS[PAGE])

    def rules(request: Request) -> Response:
        return _served(request, words)

    def asset(path: str, request: Request) -> Response:
        found = ASSETS.get(path)
        if found is None:
            raise Refusal(ErrorCode.NOT_FOUND, "The console has no such file; open /console.")
        return _served(request, found)

    router.add_api_route("", page)
    router.add_api_route("/vocabulary.json", rules)
    router.add_api_route("/static/{path:path}", asset)
    return router


def _served(request: Request, found: Asset) -> Response:
    # Asked about every time, sent only when changed: an upgraded service never meets an older page.
    headers = {**SECURITY_HEADERS, "Cache-Control": "no-cache", "ETag": found.etag}
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)
