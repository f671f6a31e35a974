"""What the gateway knows of one finished tool call, for a session that watches (DOC3 §0A.10 "mcp_receipt").

Names and outcome only: values of arguments and answers stay out, whatever they are.
"""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text80, Text120, Text160, Text240, UtcTime, Uuid, VersionedContract
from contracts.capabilities.control_surface import ControlSurface


class ToolOutcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    BLOCKED = "blocked"


class ToolEffect(StrEnum):
    """What kind of call it was."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    SEND = "send"


class ToolCallReceipt(VersionedContract):
    """One finished call of a tool."""

    receipt_id: Uuid = Field(description="The call's own id; observing it again changes nothing.")
    server_id: Text80
    tool_name: Text120
    tool_title: Text160 | None = Field(default=None, description="What the server calls it for people.")
    effect: ToolEffect
    outcome: ToolOutcome
    argument_names: tuple[Text80, ...] = Field(default=(), max_length=50)
    resource_ref: Text240 | None = Field(
        default=None, description="What it acted on, as the server names it."
    )
    control_surface: ControlSurface = ControlSurface.MCP_SERVER
    finished_at: UtcTime
