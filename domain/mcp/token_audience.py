"""For which server a token is good: the one that its sign-in was for (RFC 8707; MCP authorization, token audience)."""

from urllib.parse import SplitResult, urlsplit

_PORTS = {"https": 443, "http": 80}


def is_meant_for(resource: str, endpoint: str, *, shared: bool = False) -> bool:
    """Whether a token for ``resource`` may be sent to the server at ``endpoint``.

    The server has to be at the resource or below it; with ``shared``, which a person says of the sign-in, at the
    same origin. A token never goes to another origin.
    """
    meant, asked = urlsplit(resource), urlsplit(endpoint)
    if _origin(meant) != _origin(asked):
        return False
    return shared or _parts(asked)[: len(_parts(meant))] == _parts(meant)


def origin_text(address: str) -> str:
    """Scheme, host and port, as they are shown."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme)


def _parts(parts: SplitResult) -> list[str]:
    return [part for part in parts.path.split("/") if part]
