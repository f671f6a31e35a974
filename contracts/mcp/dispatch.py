"""Tool call (dispatch): request, view, approval and its answers, standing approvals (grants).

DOC3 §0.2D, L2443-2466.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self

from pydantic import Field, model_validator

from contracts.abilities.capability_health import ActionClass, IdentityKind
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
    clipped,
    rfc3339,
)
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.m365 import M365OperationResponse
from contracts.mcp.m365_operations import M365OperationRequest
from contracts.mcp.policy import MCPPolicyTarget, MCPPolicyVerdict
from contracts.mcp.provider import MCPProvider
from contracts.mcp.tools import ToolArguments
from contracts.platform.lists import ListCounts


class DispatchStatus(StrEnum):
    """How a call stands. ``running`` and ``pending_approval`` go on by themselves; the rest is the end."""

    RUNNING = "running"
    PENDING_APPROVAL = "pending_approval"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    AUTH_REQUIRED = "auth_required"
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"


OPEN_DISPATCH_STATUSES = frozenset({DispatchStatus.RUNNING, DispatchStatus.PENDING_APPROVAL})


class DispatchCaller(Contract):
    """Who asked for a call: the user, the token, and the agent runtime where it is one."""

    user_id: Text120
    token_id: Uuid
    runtime: Text80 | None = Field(default=None, description="Such as openclaw, claude, openai or codex.")
    turn_ref: Text160 | None = Field(default=None, description="The agent's turn; approvals may last for it.")
    session_ref: Text160 | None = Field(default=None, description="The agent's session, likewise.")


class DispatchAsker(Contract):
    """Who asked for a call, in words that a person knows them by."""

    token_id: Uuid
    token_name: Text80 | None = None
    token_revoked: bool = Field(default=False, description="The token was taken back since.")
    runtime: Text80 | None = None
    session_ref: Text160 | None = None
    turn_ref: Text160 | None = None
    ability_id: Text160 | None = Field(
        default=None, description="The ability on whose behalf, as the caller says."
    )

    @property
    def words(self) -> str:
        """``token laptop, runtime codex, session s1``."""
        token = f"token {self.token_name or self.token_id}"
        parts = [f"{token} (revoked since)" if self.token_revoked else token]
        named = (
            ("runtime", self.runtime),
            ("session", self.session_ref),
            ("turn", self.turn_ref),
            ("ability", self.ability_id),
        )
        return ", ".join([*parts, *(f"{what} {name}" for what, name in named if name is not None)])


class DispatchRequest(VersionedContract):
    """Asks for one call of one tool."""

    server_id: Text120
    tool_name: Text120 = Field(
        default="", description="Left out where ``m365_operation`` says what is asked."
    )
    arguments: ToolArguments = Field(
        default_factory=dict, description="At most 256 KiB as JSON, and 64 levels deep."
    )
    m365_operation: M365OperationRequest | None = Field(
        default=None, description="A typed operation in the place of tool_name and arguments."
    )
    runtime: Text80 | None = None
    turn_ref: Text160 | None = None
    session_ref: Text160 | None = None
    project_id: Text160 | None = None
    data_class: Text80 | None = None
    learn_session_id: Uuid | None = Field(default=None, description="A session that watches this call.")
    ability_id: Text160 | None = Field(default=None, description="The ability on whose behalf it is made.")
    timeout_ms: int = Field(default=30_000, ge=1_000, le=120_000)
    wait_ms: int = Field(
        default=10_000, ge=0, le=60_000, description="How long the answer may wait for the call's end."
    )
    client_request_id: Text120 | None = None

    @model_validator(mode="after")
    def _asks_for_one_thing(self) -> Self:
        operation = self.m365_operation
        if (operation is None) is (not self.tool_name):
            raise ValueError("say tool_name, or m365_operation in its place")
        if operation is not None and self.arguments:
            raise ValueError("arguments go with tool_name; m365_operation has its own")
        if operation is not None and operation.server_id != self.server_id:
            raise ValueError("m365_operation is for another server_id")
        return self


class AskFirstStatus(StrEnum):
    """How an approval stands (DOC3 L2137)."""

    PENDING = "pending"
    APPROVED_ONCE = "approved_once"
    APPROVED_UNTIL_END_OF_TURN = "approved_until_end_of_turn"
    APPROVED_FOR_SESSION = "approved_for_session"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    RESUMED = "resumed"


class MCPAskFirstDispatchRecord(VersionedContract):
    """A call that waits for a person, or waited."""

    dispatch_id: Uuid
    correlation_id: Uuid
    server_id: Text120
    tool_name: Text120
    request_summary: Text500
    request_payload_ref: Text240 | None = None
    status: AskFirstStatus
    paused_dispatch_ref: Text240
    effective_policy_target: MCPPolicyTarget
    expires_at: UtcTime
    decision_reason: Text500 | None = None
    approved_by: Text160 | None = None
    decided_at: UtcTime | None = None
    created_at: UtcTime
    updated_at: UtcTime
    arguments_digest: Sha256
    edited_from_digest: Sha256 | None = Field(
        default=None, description="What was asked before it was edited."
    )
    tool_definition_hash: Sha256 | None = None
    policy_version: int = Field(default=0, ge=0)
    asked_by: DispatchAsker | None = Field(default=None, description="Where it is listed.")


class AskFirstDecision(StrEnum):
    """What a person says, and for how long."""

    APPROVE_ONCE = "approve_once"
    APPROVE_UNTIL_END_OF_TURN = "approve_until_end_of_turn"
    APPROVE_FOR_SESSION = "approve_for_session"
    DENY = "deny"


class MCPAskFirstDecisionRequest(VersionedContract):
    """Decides about a paused call; ``arguments`` replaces what was asked (edit, then approve)."""

    decision: AskFirstDecision
    reason: Text500 | None = None
    arguments: ToolArguments | None = None
    arguments_digest: Sha256 | None = Field(
        default=None, description="Of the arguments that were looked at; with others the answer is refused."
    )
    tool_definition_hash: Sha256 | None = Field(
        default=None,
        description="Of the tool that was looked at, likewise. Where the call is approved, it is pinned as reviewed. A "
        "call whose tool has changed since is approved only with the hash of what it is now.",
    )
    client_request_id: Text120 | None = None


class MCPAskFirstDecisionResponse(VersionedContract):
    """The approval after a decision; who comes second learns who came first."""

    dispatch: MCPAskFirstDispatchRecord
    resumed: bool
    receipt_id: Uuid | None = None


class MCPAskFirstPendingListResponse(ListCounts):
    """Calls that wait, and those that expired of late, newest first."""

    dispatches: tuple[MCPAskFirstDispatchRecord, ...] = ()


class DispatchCancelRequest(VersionedContract):
    """Gives a call up; one that is already sent may have had its effect."""

    reason: Text500 | None = None
    client_request_id: Text120 | None = None


class DispatchView(VersionedContract):
    """A call as it stands: what was asked, what policy said, who approved, what came of it."""

    dispatch_id: Uuid
    correlation_id: Uuid
    status: DispatchStatus
    server_id: Text120
    tool_name: Text120
    caller: DispatchCaller
    asked_by: DispatchAsker | None = None
    request_summary: Text500
    arguments_digest: Sha256
    arguments: dict[str, Any] | None = Field(
        default=None,
        description="What is sent; only where one call is asked for, for whoever decides about it.",
    )
    project_id: Text160 | None = None
    data_class: Text80 | None = None
    provider: MCPProvider | None = Field(default=None, description="Who stands behind the server.")
    action_class: ActionClass | None = Field(default=None, description="Of the tool, as it was judged.")
    learn_session_id: Uuid | None = None
    ability_id: Text160 | None = None
    verdict: MCPPolicyVerdict | None = None
    ask_first: MCPAskFirstDispatchRecord | None = None
    answers: tuple[AskFirstDecision, ...] = Field(
        default=(), description="What a person may answer now; empty where nobody is asked."
    )
    attempts: int = Field(default=0, ge=0)
    is_error: bool | None = Field(default=None, description="The tool itself reported an error.")
    result: dict[str, Any] | None = Field(default=None, description="What the tool answered, once it has.")
    m365: M365OperationResponse | None = Field(
        default=None, description="Of a typed operation that has ended: its typed answer."
    )
    result_digest: Sha256 | None = None
    error_code: Text80 | None = None
    error_message: Text1000 | None = None
    next_action: Text240 | None = None
    waits_until: UtcTime | None = Field(
        default=None, description="When it is tried again, by itself; error_message says what it waits for."
    )
    identity_asserted_kind: IdentityKind | None = Field(
        default=None, description="Whose permission it was made with, once it was sent."
    )
    identity_asserted_ref: Text240 | None = Field(
        default=None, description="The sign-in, or the user where there is none."
    )
    receipt_id: Uuid | None = Field(default=None, description="The receipt of how it ended.")
    temporal_url: Text1000 | None = None
    created_at: UtcTime
    updated_at: UtcTime
    completed_at: UtcTime | None = None


class DispatchListResponse(VersionedContract):
    """Calls, newest first."""

    dispatches: tuple[DispatchView, ...] = ()
    total: int = Field(ge=0)
    page: int = Field(ge=1)
    page_size: int = Field(ge=1, le=100)


class GrantScope(StrEnum):
    """How far a standing approval reaches."""

    END_OF_TURN = "end_of_turn"
    SESSION = "session"


class MCPGrant(VersionedContract):
    """A standing approval: the same tool, with the definition that was seen, for one turn or session."""

    grant_id: Uuid
    owner_user_id: Text120
    dispatch_id: Uuid
    server_id: Text120
    tool_name: Text120
    tool_definition_hash: Sha256 | None = None
    scope: GrantScope
    scope_ref: Text160
    token_id: Uuid | None = Field(
        default=None, description="Whose calls it covers: those made with this token."
    )
    runtime: Text80 | None = Field(default=None, description="And by this runtime; a session is no secret.")
    granted_by: Text160
    created_at: UtcTime
    expires_at: UtcTime
    revoked_at: UtcTime | None = None
    revoked_by: Text160 | None = None
    used: int = Field(default=0, ge=0)


class MCPGrantListResponse(ListCounts):
    """Standing approvals, newest first."""

    grants: tuple[MCPGrant, ...] = ()


STATUS_AFTER: Mapping[AskFirstDecision, AskFirstStatus] = MappingProxyType(
    {
        AskFirstDecision.APPROVE_ONCE: AskFirstStatus.APPROVED_ONCE,
        AskFirstDecision.APPROVE_UNTIL_END_OF_TURN: AskFirstStatus.APPROVED_UNTIL_END_OF_TURN,
        AskFirstDecision.APPROVE_FOR_SESSION: AskFirstStatus.APPROVED_FOR_SESSION,
        AskFirstDecision.DENY: AskFirstStatus.DENIED,
    }
)

_SAID: Mapping[AskFirstStatus, str] = MappingProxyType(
    {
        AskFirstStatus.APPROVED_ONCE: "approved once",
        AskFirstStatus.APPROVED_UNTIL_END_OF_TURN: "approved until the end of the turn",
        AskFirstStatus.APPROVED_FOR_SESSION: "approved for the session",
        AskFirstStatus.DENIED: "denied",
        AskFirstStatus.CANCELLED: "cancelled",
        AskFirstStatus.RESUMED: "let pass",
    }
)


def decided_by(who: str | None, at: datetime, status: AskFirstStatus) -> Refusal:
    """The refusal of a second answer: who answered first, when, and how."""
    said = _SAID.get(status, status.value)
    by = f" by {who or 'policy'}"
    if who is None and status is AskFirstStatus.CANCELLED:
        # Who gave it up has answered nothing; it may be the one who is told this.
        by = ""
    return Refusal(
        ErrorCode.MCP_ASK_FIRST_DECIDED,
        clipped(f"The call was {said}{by} before you answered.", 240),
        decided_by=who or "system",
        decided_at=rfc3339(at),
        decision=status.value,
    )


def expired(at: datetime | None) -> Refusal:
    """The refusal of an answer after the deadline."""
    return Refusal(
        ErrorCode.MCP_ASK_FIRST_EXPIRED,
        "Nobody answered in time; nothing was sent. Make the call again to be asked again.",
        **({"expired_at": rfc3339(at)} if at is not None else {}),
    )
