"""How pictures that hold what others wrote are served: as SVG in which nothing runs or is loaded."""

from typing import Any

from fastapi import Response

SVG = "image/svg+xml"

SVG_RESPONSES: dict[int | str, dict[str, Any]] = {200: {"content": {SVG: {"schema": {"type": "string"}}}}}
"""What a route that answers ``svg_response`` says of it."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
}


def svg_response(picture: str | bytes) -> Response:
    """The answer that is a picture."""
    return Response(picture, media_type=SVG, headers=_HEADERS)
