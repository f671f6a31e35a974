"""What goes to a tool and what comes back, between the activity that calls and the client that speaks."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.base import Contract, Text80, Text120, Text500, Text1000
from contracts.mcp.auth_profile import Scopes

MAX_OUTPUT_BYTES = 1_048_576
"""The most that is taken from a tool: 1 MiB as JSON."""


class ToolCall(Contract):
    """One call, ready to be sent."""

    tool_name: Text120
    arguments: dict[str, Any] = Field(default_factory=dict)
    output_schema: dict[str, Any] | None = Field(
        default=None, description="Structured content must fit it; that of the pinned definition."
    )
    timeout_ms: int = Field(default=30_000, ge=1_000, le=120_000)
    max_output_bytes: int = Field(default=MAX_OUTPUT_BYTES, ge=1_024)
    idempotency_key: Text120 | None = Field(
        default=None, description="Sent along as the request's meta data; the same for every attempt."
    )
    party: Text500 | None = Field(
        default=None,
        description="Calls of one party to a server that remembers may be made in one conversation.",
    )


class ToolAnswer(Contract):
    """What a tool answered."""

    is_error: bool = False
    content: tuple[dict[str, Any], ...] = Field(default=(), description="Content blocks, as on the wire.")
    structured_content: dict[str, Any] | None = None
    output_bytes: int = Field(default=0, ge=0)
    server_name: Text120 | None = None
    protocol_revision: Text80 | None = None


class ToolFailureKind(StrEnum):
    """Why a call gave no answer, and with that what may be done next."""

    NOT_SENT = "not_sent"
    AUTH_REQUIRED = "auth_required"
    SCOPE_MISSING = "scope_missing"
    THROTTLED = "throttled"
    SERVER_ERROR = "server_error"
    TIMED_OUT = "timed_out"
    CONNECTION_LOST = "connection_lost"
    OUTPUT_TOO_LARGE = "output_too_large"
    OUTPUT_INVALID = "output_invalid"
    TOOL_UNKNOWN = "tool_unknown"
    REFUSED_BY_SERVER = "refused_by_server"
    ADDRESS_REFUSED = "address_refused"


UNKNOWN_OUTCOMES = frozenset(
    {
        ToolFailureKind.SERVER_ERROR,
        ToolFailureKind.TIMED_OUT,
        ToolFailureKind.CONNECTION_LOST,
    }
)
"""The tool may have done its work: such a call is never repeated blindly. One whose answer was too large or
did not fit its schema has done it."""


class ToolFailure(Contract):
    """A call that gave no answer. The message holds no argument, no answer and no secret."""

    kind: ToolFailureKind
    message: Text500
    http_status: int | None = Field(default=None, ge=100, le=599)
    retry_after_ms: int | None = Field(default=None, ge=0)
    www_authenticate: Text1000 | None = None
    scopes_needed: Scopes = Field(
        default=(), description="What the server says the sign-in lacks (RFC 6750)."
    )
