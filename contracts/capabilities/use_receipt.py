"""What was used on whose behalf, and how it went (DOC3 §0.8 L4934, §1.1U L6125, §0.2H L3138)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text80, Text120, Text160, Text200, Text240, UtcTime, Uuid, VersionedContract
from contracts.capabilities.control_surface import ControlSurface


class UseResult(StrEnum):
    """How a use ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    DENIED = "denied"
    CANCELLED = "cancelled"


class ApprovalMode(StrEnum):
    """By whose leave it was used."""

    AUTONOMOUS = "autonomous"
    STANDING_ORDER = "standing_order"
    ASK_FIRST = "ask_first"
    MANUAL_CLICK = "manual_click"


class ApprovalState(StrEnum):
    """Whether somebody was asked, and what was said."""

    NOT_NEEDED = "not_needed"
    PROMPTED = "prompted"
    GRANTED = "granted"
    DENIED = "denied"


class ActionClass(StrEnum):
    """What kind of action it was."""

    SEARCH = "search"
    FETCH = "fetch"
    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    SEND = "send"
    SCHEDULE = "schedule"
    OTHER = "other"


class IdentityKind(StrEnum):
    """Whose permission was used."""

    LOCAL_USER = "local_user"
    OAUTH_USER = "oauth_user"
    SERVICE_PRINCIPAL = "service_principal"
    UNKNOWN = "unknown"


class CapabilityUseReceipt(VersionedContract):
    """One use of a capability, as ``capabilities/use_receipts.jsonl`` keeps it: names, and no values."""

    receipt_id: Uuid
    capability_id: Text160
    route_surface: ControlSurface
    runtime: Text80 = Field(default="other", description="The agent runtime that asked for it.")
    provider: Text80 | None = None
    connector_server_id: Text120 | None = None
    tool_name: Text120 | None = None
    dispatch_id: Text200 | None = None
    operation_id: Text200 | None = None
    project_id: Text160 | None = None
    action_class: ActionClass = ActionClass.OTHER
    data_class: Text80 | None = None
    approval_mode: ApprovalMode = ApprovalMode.AUTONOMOUS
    approval_state: ApprovalState = ApprovalState.NOT_NEEDED
    result: UseResult
    auth_profile_id: Text120 | None = None
    identity_asserted_kind: IdentityKind = IdentityKind.UNKNOWN
    identity_asserted_ref: Text240 | None = None
    started_at: UtcTime
    completed_at: UtcTime | None = None
    correlation_id: Uuid | None = None
    created_at: UtcTime
