"""Receipts of actions on tool servers (DOC3 §0.2D; ``ask_first`` and ``dispatch`` added, §3 item 8)."""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.capability_health import IdentityKind
from contracts.base import Text120, Text240, Text500, UtcTime, Uuid, VersionedContract


class MCPReceiptKind(StrEnum):
    """What a receipt is about."""

    AUTH_START = "auth_start"
    AUTH_CALLBACK = "auth_callback"
    AUTH_REFRESH = "auth_refresh"
    AUTH_REVOKE = "auth_revoke"
    SMOKE_TEST = "smoke_test"
    POLICY_UPDATE = "policy_update"
    ASK_FIRST = "ask_first"
    ASK_FIRST_DECISION = "ask_first_decision"
    ASK_FIRST_LATE = "ask_first_late"
    MIGRATION_BACKFILL = "migration_backfill"
    SERVER_CREATE = "server_create"
    SERVER_PATCH = "server_patch"
    SERVER_DELETE = "server_delete"
    AUTH_PROFILE_CREATE = "auth_profile_create"
    AUTH_PROFILE_PATCH = "auth_profile_patch"
    AUTH_PROFILE_DELETE = "auth_profile_delete"
    TOOL_REVIEW = "tool_review"
    TOOLS_CHANGED = "tools_changed"
    GRANT_REVOKE = "grant_revoke"
    HEALTH_CHANGE = "health_change"
    DISPATCH = "dispatch"


class MCPReceiptStatus(StrEnum):
    """How it went."""

    OK = "ok"
    DEGRADED = "degraded"
    BLOCKED = "blocked"
    FAILED = "failed"


class MCPReceiptSummary(VersionedContract):
    """One receipt. It names what was done and by whom, never a value of an argument, an answer or a secret."""

    receipt_id: Uuid
    server_id: Text120 | None = None
    receipt_kind: MCPReceiptKind
    status: MCPReceiptStatus
    created_at: UtcTime
    summary: Text500
    correlation_id: Uuid | None = None
    dispatch_id: Uuid | None = None
    auth_profile_id: Text120 | None = None
    actor: Text120 | None = None
    identity_asserted_kind: IdentityKind | None = Field(
        default=None, description="Of a call: whose permission it was made with."
    )
    identity_asserted_ref: Text240 | None = Field(
        default=None, description="The sign-in, or the user where there is none."
    )


class MCPReceiptListResponse(VersionedContract):
    """Receipts, newest first."""

    receipts: tuple[MCPReceiptSummary, ...] = ()
    next_cursor: Text240 | None = None
