"""Tool definitions of a server (listed, pinned, changed), and the call between the activity and the MCP client."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text500,
    Text1000,
    Text2000,
    UtcTime,
    VersionedContract,
)
from contracts.learning.observation import ToolEffect
from contracts.mcp.auth import Scopes
from contracts.mcp.policy import MCPEffectivePolicy
from contracts.platform.lists import ListCounts


class MCPToolState(StrEnum):
    """How a tool's definition stands to the one that a person has seen."""

    PINNED = "pinned"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class MCPToolDefinition(Contract):
    """A tool as its server describes it; the server's words are data, never instructions."""

    tool_name: Text120
    title: Text160 | None = None
    description: str = Field(default="", max_length=20_000)
    input_schema: dict[str, Any] = Field(default_factory=dict)
    output_schema: dict[str, Any] | None = None
    read_only: bool | None = Field(default=None, description="As the server hints; a hint allows nothing.")
    destructive: bool | None = None
    idempotent: bool | None = None


class MCPTool(Contract):
    """A discovered tool and how it stands."""

    server_id: Text120
    definition: MCPToolDefinition
    definition_hash: Sha256
    pinned_hash: Sha256 | None = None
    state: MCPToolState
    effect: ToolEffect = Field(description="What kind of call it is, by its name and annotations.")
    declared_idempotent: bool = Field(
        default=False, description="A person said that it may be repeated when its outcome is unknown."
    )
    effective_policy: MCPEffectivePolicy | None = None
    diff: str | None = Field(
        default=None, max_length=40_000, description="From what was pinned to what is now."
    )
    first_seen_at: UtcTime
    updated_at: UtcTime


class MCPToolListResponse(ListCounts):
    """The tools of a server by name."""

    server_id: Text120
    tools: tuple[MCPTool, ...] = ()
    discovered_at: UtcTime | None = None
    next_action: Text2000 | None = None


class MCPToolReviewRequest(VersionedContract):
    """Pins a tool's definition as a person has seen it."""

    definition_hash: Sha256 = Field(description="Of the definition that was looked at.")
    declared_idempotent: bool | None = None
    client_request_id: Text120 | None = None


MAX_OUTPUT_BYTES = 1_048_576
"""The most that is taken from a tool: 1 MiB as JSON."""


class ToolCall(Contract):
    """One call, ready to be sent."""

    tool_name: Text120
    arguments: dict[str, Any] = Field(default_factory=dict)
    definition_hash: Sha256 | None = Field(
        default=None,
        description="Of the tool that the call was let pass for: with another one it is not sent. Without it the "
        "server is not asked.",
    )
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
    TOOL_CHANGED = "tool_changed"
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


MOST_LEVELS = 64
"""How deep arguments may be nested; JSON writers on the way, ours and others', stop not far beyond 200."""


LARGEST_INTEGER = 2**53 - 1
"""The largest number of each sign that every reader of JSON has exactly (RFC 7493, section 2.2)."""


def _refuse_unreadable(given: dict[str, Any]) -> dict[str, Any]:
    level: list[object] = [given]
    for _ in range(MOST_LEVELS):
        within = [inner for value in level for inner in _inner(value)]
        if any(isinstance(inner, int) and abs(inner) > LARGEST_INTEGER for inner in within):
            raise PydanticCustomError(
                "integer_size",
                "holds an integer beyond {largest}, which some readers round: give it as text",
                {"largest": LARGEST_INTEGER},
            )
        level = [inner for inner in within if isinstance(inner, dict | list)]
        if not level:
            return given
    raise PydanticCustomError("nesting", "is nested deeper than {levels} levels", {"levels": MOST_LEVELS})


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value)


ToolArguments = Annotated[dict[str, Any], AfterValidator(_refuse_unreadable)]
"""A tool's arguments by name, at most ``MOST_LEVELS`` levels deep, its integers within ``LARGEST_INTEGER``."""
