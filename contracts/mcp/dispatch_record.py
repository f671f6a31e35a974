"""A call as the store keeps it: what was asked, how it stands, what it may be repeated from."""

from pydantic import Field

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text240,
    Text500,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.capabilities.use_receipt import IdentityKind
from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.dispatch import DispatchCaller, DispatchStatus, MCPAskFirstDispatchRecord
from contracts.mcp.m365 import M365Asked
from contracts.mcp.policy import MCPPolicyVerdict
from contracts.mcp.provider import MCPProvider

MAX_ARGUMENTS_BYTES = 262_144
"""The most that a call's arguments may take as JSON: 256 KiB."""


class DispatchOrder(Contract):
    """One call as it was asked for. Its arguments are kept apart, under their digest."""

    dispatch_id: Uuid
    correlation_id: Uuid
    caller: DispatchCaller
    server_id: Text120
    tool_name: Text120
    arguments_digest: Sha256
    argument_names: tuple[Text80, ...] = Field(default=(), max_length=50)
    request_summary: Text500 = Field(description="Names what is asked, and no value.")
    request_digest: Sha256 | None = Field(default=None, description="Of the request, where it had a key.")
    project_id: Text160 | None = None
    data_class: Text80 | None = None
    learn_session_id: Uuid | None = None
    ability_id: Text160 | None = None
    m365: M365Asked | None = Field(default=None, description="Of a typed operation: which one it is.")
    timeout_ms: int = Field(ge=1_000, le=120_000)
    created_at: UtcTime


class DispatchRecord(VersionedContract):
    """A call and all that was decided about it."""

    order: DispatchOrder
    status: DispatchStatus
    arguments_digest: Sha256 = Field(description="Of what is sent; another than asked when it was edited.")
    provider: MCPProvider | None = None
    auth_profile_id: Text120 | None = None
    effect: ToolEffect | None = None
    definition_hash: Sha256 | None = Field(default=None, description="Of the tool when it was judged.")
    verdict: MCPPolicyVerdict | None = None
    ask_first: MCPAskFirstDispatchRecord | None = None
    attempts: int = Field(default=0, ge=0)
    is_error: bool | None = None
    result_digest: Sha256 | None = None
    error_code: Text80 | None = None
    error_message: Text1000 | None = None
    next_action: Text240 | None = None
    held_since: UtcTime | None = Field(
        default=None, description="Since when its server's pause keeps it from being sent."
    )
    waits_until: UtcTime | None = Field(default=None, description="When it is tried again, by itself.")
    started_at: UtcTime | None = Field(default=None, description="When it was first sent.")
    updated_at: UtcTime
    completed_at: UtcTime | None = None
    identity_asserted_kind: IdentityKind | None = Field(
        default=None, description="Whose permission it was made with, once it was sent."
    )
    identity_asserted_ref: Text240 | None = Field(
        default=None, description="The sign-in, or the user where there is none."
    )
    receipt_id: Uuid | None = Field(default=None, description="The receipt of how it ended.")

    @property
    def dispatch_id(self) -> str:
        """Its id."""
        return self.order.dispatch_id

    @property
    def owner(self) -> str:
        """The user it belongs to."""
        return self.order.caller.user_id
