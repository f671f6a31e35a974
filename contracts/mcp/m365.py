"""Microsoft 365 connectors: registration and the outcome of an operation (DOC3 §0.2E)."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AnyHttpUrl, Field

from contracts.base import Contract, Text120, Text160, Text240, Text500, Uuid, VersionedContract
from contracts.mcp.health import MCPThrottleState
from contracts.mcp.m365_operations import (
    M365OperationFamily,
    M365OperationResult,
    M365Scopes,
)
from contracts.mcp.provider import MCPInteractionMode

M365Families = Annotated[tuple[M365OperationFamily, ...], Field(min_length=1, max_length=14)]


class M365ConnectorOptions(Contract):
    """What a server of Microsoft 365 says of itself beside the registry's own fields.

    ``tool_names`` tells under which name the server has a family's tool; left out, it has the family's name.
    """

    operation_families: M365Families
    requested_scopes: M365Scopes = Field(min_length=1)
    redirect_uri: AnyHttpUrl | None = None
    incremental_consent_supported: bool = True
    verified_obo_chain: bool = False
    allow_background_service_ops: bool = False
    tool_names: dict[M365OperationFamily, Text120] = Field(
        default_factory=dict[M365OperationFamily, str], max_length=14
    )


class M365ConnectorRegistration(VersionedContract):
    """A connector as the rules of registration look at it."""

    server_id: Text120
    provider: Literal["m365"] = "m365"
    display_name: Text160
    operation_families: M365Families
    interaction_mode: MCPInteractionMode = MCPInteractionMode.INTERACTIVE_USER
    auth_profile_id: Text120
    requested_scopes: M365Scopes = Field(min_length=1)
    tenant_id: Text120 | None = None
    client_id: Text120
    redirect_uri: AnyHttpUrl | None = None
    incremental_consent_supported: bool = True
    verified_obo_chain: bool = False
    allow_background_service_ops: bool = False


class M365Asked(Contract):
    """Which operation a call is, and the scopes that it needs."""

    operation_family: M365OperationFamily
    needed_scopes: M365Scopes = ()


class M365IdentityKind(StrEnum):
    """As whom an operation was made."""

    LOCAL_USER = "local_user"
    OAUTH_USER = "oauth_user"
    SERVICE_PRINCIPAL = "service_principal"
    UNKNOWN = "unknown"


class _Answered(VersionedContract):
    operation_id: Uuid
    server_id: Text120
    operation_family: M365OperationFamily
    auth_profile_id: Text120 | None = None
    granted_scopes: M365Scopes = ()
    missing_scopes: M365Scopes = ()
    receipt_id: Uuid | None = None
    identity_asserted_kind: M365IdentityKind = M365IdentityKind.UNKNOWN
    identity_asserted_ref: Text240 | None = None
    throttle_state: MCPThrottleState = MCPThrottleState()


class M365SuccessStatus(StrEnum):
    """How well it went."""

    OK = "ok"
    DEGRADED = "degraded"


class M365OperationSuccessResponse(_Answered):
    """An operation that was made, and its result."""

    status: M365SuccessStatus = M365SuccessStatus.OK
    result: M365OperationResult


class M365ErrorStatus(StrEnum):
    """Whether it was kept from being made, or failed."""

    BLOCKED = "blocked"
    FAILED = "failed"


class M365OperationErrorResponse(_Answered):
    """An operation that was not made, or failed."""

    status: M365ErrorStatus
    error_code: Text120
    error_message: Text500 | None = None


M365OperationResponse = M365OperationSuccessResponse | M365OperationErrorResponse
"""What an operation came to."""
