"""What authorization servers get wrong, as application errors: told apart by whether trying again may help."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.exceptions import ApplicationError

from activities.refusals import as_application_errors
from clients.mcp.oauth_errors import (
    AddressNotAllowed,
    DiscoveryFailed,
    IssuerMismatch,
    OAuthTrouble,
    ServerUnreachable,
    TokenRefused,
)
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal

_CODES: dict[type[OAuthTrouble], ErrorCode] = {
    DiscoveryFailed: ErrorCode.MCP_OAUTH_DISCOVERY_FAILED,
    AddressNotAllowed: ErrorCode.MCP_ADDRESS_REFUSED,
    TokenRefused: ErrorCode.MCP_OAUTH_TOKEN_EXCHANGE_FAILED,
    IssuerMismatch: ErrorCode.MCP_OAUTH_STATE_INVALID,
}


@asynccontextmanager
async def telling_apart() -> AsyncGenerator[None]:
    """Only a server that cannot be reached is tried again, when it said to or by the activity's preset."""
    with as_application_errors():
        try:
            yield
        except ServerUnreachable as error:
            after = error.retry_after_seconds
            raise ApplicationError(
                clipped(f"{error.message}; the sign-in is kept.", 240),
                type=ErrorCode.MCP_SERVER_UNREACHABLE.value,
                next_retry_delay=timedelta(seconds=after) if after is not None else None,
            ) from None
        except OAuthTrouble as error:
            raise Refusal(
                _CODES[type(error)], clipped(error.message, 240), auth_error_code=error.code
            ) from None
