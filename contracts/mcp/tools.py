"""The tools of a server: what it says of them, what was pinned, what changed since."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.base import Contract, Sha256, Text120, Text160, Text2000, UtcTime, VersionedContract
from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.policy import MCPEffectivePolicy


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


class MCPToolListResponse(VersionedContract):
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
