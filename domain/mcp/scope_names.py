"""Names of scopes as servers say them: as many, and as long ones, as are kept."""

from collections.abc import Iterable

from contracts.mcp.auth_profile import MAX_SCOPE_CHARS, MOST_SCOPES


def kept_scopes(named: Iterable[str]) -> tuple[str, ...]:
    """The first hundred of these names that are not too long to be kept."""
    return tuple(name for name in named if len(name) <= MAX_SCOPE_CHARS)[:MOST_SCOPES]
