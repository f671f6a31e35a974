"""Map typed Microsoft 365 operations to tool calls, and tool answers back to results (DOC3 §0.2E)."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES, DispatchStatus
from contracts.mcp.dispatch_work import DispatchRecord
from contracts.mcp.health import MCPConnectionHealth
from contracts.mcp.m365 import (
    M365Asked,
    M365ErrorStatus,
    M365IdentityKind,
    M365OperationErrorResponse,
    M365OperationResponse,
    M365OperationSuccessResponse,
    M365SuccessStatus,
)
from contracts.mcp.m365_operations import M365OperationFamily, M365OperationRequest, M365OperationResult
from contracts.mcp.provider import MCPAuthMode, MCPInteractionMode, MCPProvider
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.workflow_ids import mcp_dispatch_id
from domain.mcp.m365_registration import DELEGATED_ONLY, scopes_for
from domain.mcp.use_receipts import identity_kind

_CONTEXT = frozenset(
    {
        "schema_version",
        "server_id",
        "operation_family",
        "interaction_mode",
        "auth_profile_id",
        "dispatch_id",
        "room_id",
        "timeout_ms",
    }
)
"""What an operation carries for us; its tool gets the rest."""

_RESULT: TypeAdapter[M365OperationResult] = TypeAdapter(M365OperationResult)
_CONTENT = ("content", "text", "content_base64")


def tool_of_family(family: M365OperationFamily, server: MCPServerRegistryEntry) -> str:
    """The name of the server's tool for a family."""
    named = server.m365.tool_names if server.m365 is not None else {}
    return named.get(family, family.value)


def arguments_of(request: M365OperationRequest) -> dict[str, Any]:
    """What the tool is called with."""
    left_out = set(_CONTEXT)
    if request.operation_family is not M365OperationFamily.PROJECT_GET_LATEST_DOCUMENT:
        left_out.add("project_id")
    return request.model_dump(mode="json", exclude=left_out, exclude_none=True)


def refusal_of(
    request: M365OperationRequest,
    server: MCPServerRegistryEntry,
    profile: MCPAuthProfile | None,
    granted: tuple[str, ...],
) -> Refusal | None:
    """Why an operation cannot be made here, if it cannot; ``granted`` are the scopes of the sign-in's token.

    Without a token nothing is said of scopes: the call itself says that somebody has to sign in.
    """
    options, family = server.m365, request.operation_family
    if server.provider is not MCPProvider.M365 or options is None or family not in options.operation_families:
        return Refusal(
            ErrorCode.VALIDATION_FAILED,
            f"The server does not offer {family.value}; its registration names m365.operation_families.",
            fields=["m365_operation.operation_family"],
        )
    if request.auth_profile_id not in (None, server.auth_profile_id):
        return Refusal(
            ErrorCode.VALIDATION_FAILED,
            "The server signs in with another profile than the operation names.",
            fields=["m365_operation.auth_profile_id"],
        )
    background = MCPInteractionMode.BACKGROUND_SERVICE
    if family in DELEGATED_ONLY and background in (server.interaction_mode, request.interaction_mode):
        return Refusal(
            ErrorCode.M365_DELEGATED_ONLY_OPERATION,
            f"{family.value} needs a person who is signed in; a background service cannot do it.",
        )
    if server.interaction_mode is background and request.interaction_mode is not background:
        return Refusal(
            ErrorCode.M365_BACKGROUND_ONLY_OPERATION,
            "This connector works in the background alone; say interaction_mode background_service.",
        )
    if request.interaction_mode is background and server.interaction_mode is not background:
        return Refusal(
            ErrorCode.M365_FORBIDDEN_AUTH_MODE,
            "This connector signs in as a person; work in the background needs a background_service one.",
        )
    missing = missing_scopes(scopes_for(request), profile, granted)
    if missing:
        return Refusal(
            ErrorCode.M365_SCOPE_MISSING,
            clipped(f"The sign-in lacks {', '.join(missing)}; sign in again and grant it.", 240),
            missing_scopes=list(missing),
        )
    return None


def missing_scopes(
    needed: tuple[str, ...], profile: MCPAuthProfile | None, granted: tuple[str, ...]
) -> tuple[str, ...]:
    """What a token lacks. A service has an application's rights, which are not delegated scopes."""
    if profile is None or profile.token_ref is None:
        return ()
    if profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS:
        return ()
    held = {*(granted or profile.scopes)}
    return tuple(dict.fromkeys(scope for scope in needed if scope not in held))


def result_of(
    asked: M365Asked, dispatch_id: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> M365OperationResult | None:
    """The typed result in a tool's answer; ``None`` where it has none that fits.

    What a server says beyond the result's fields is left out, what it does not repeat of the question is filled
    in, and content itself stays where the answer is kept and is referred to.
    """
    said = _structured(answer)
    if said is None:
        return None
    if any(name in said for name in _CONTENT) and "content_ref" not in said:
        said = {**said, "content_ref": mcp_dispatch_id(dispatch_id)}
    whole = {**arguments, **said, "operation_family": asked.operation_family.value}
    try:
        return _RESULT.validate_json(json.dumps(whole), extra="ignore")
    except ValidationError:
        return None


def response_of(
    record: DispatchRecord,
    arguments: Mapping[str, Any] | None,
    answer: Mapping[str, Any] | None,
    profile: MCPAuthProfile | None,
    granted: tuple[str, ...],
    health: MCPConnectionHealth | None,
    *,
    lacking: tuple[str, ...] = (),
) -> M365OperationResponse | None:
    """What an operation has come to; ``None`` while its call goes on, or for a call that is none.

    ``lacking`` are the scopes that servers have asked the sign-in for: one that was refused may be for their want.
    """
    asked = record.order.m365
    if asked is None or record.status in OPEN_DISPATCH_STATUSES:
        return None
    needed = asked.needed_scopes
    if record.status is DispatchStatus.AUTH_REQUIRED:
        needed = (*needed, *lacking)
    common: dict[str, Any] = {
        "operation_id": record.dispatch_id,
        "server_id": record.order.server_id,
        "operation_family": asked.operation_family,
        "auth_profile_id": record.auth_profile_id,
        "granted_scopes": granted,
        "missing_scopes": missing_scopes(needed, profile, granted),
        "receipt_id": record.receipt_id,
        "identity_asserted_kind": _identity(profile),
        "identity_asserted_ref": record.owner,
    }
    if health is not None:
        common["throttle_state"] = health.throttle_state
    result = None
    if record.status is DispatchStatus.COMPLETED and not record.is_error and answer is not None:
        result = result_of(asked, record.dispatch_id, arguments or {}, answer)
    if result is not None:
        return M365OperationSuccessResponse(**common, status=M365SuccessStatus.OK, result=result)
    status, code, message = _error(record, common["missing_scopes"])
    return M365OperationErrorResponse(
        **common, status=status, error_code=code.value, error_message=clipped(message, 500)
    )


def _error(record: DispatchRecord, missing: tuple[str, ...]) -> tuple[M365ErrorStatus, ErrorCode, str]:
    message = record.error_message or ""
    match record.status:
        case DispatchStatus.AUTH_REQUIRED:
            code = ErrorCode.M365_SCOPE_MISSING if missing else ErrorCode.M365_AUTH_EXPIRED
            return M365ErrorStatus.BLOCKED, code, message or "Somebody has to sign in."
        case DispatchStatus.COMPLETED if record.is_error:
            return M365ErrorStatus.FAILED, ErrorCode.MCP_TOOL_REFUSED, "The tool reported an error."
        case DispatchStatus.COMPLETED:
            said = "The tool has run, and its answer is not one of this operation."
            return M365ErrorStatus.FAILED, ErrorCode.MCP_OUTPUT_INVALID, said
        case DispatchStatus.FAILED | DispatchStatus.OUTCOME_UNKNOWN:
            return M365ErrorStatus.FAILED, _code(record), message or record.status.value
        case _:
            return M365ErrorStatus.BLOCKED, _code(record), message or record.status.value


def _code(record: DispatchRecord) -> ErrorCode:
    if record.error_code in ErrorCode.__members__:
        return ErrorCode(record.error_code)
    if record.status is DispatchStatus.EXPIRED:
        return ErrorCode.MCP_ASK_FIRST_EXPIRED
    return ErrorCode.MCP_POLICY_BLOCKED


def _identity(profile: MCPAuthProfile | None) -> M365IdentityKind:
    if profile is None:
        return M365IdentityKind.UNKNOWN
    return M365IdentityKind(identity_kind(profile).value)


def _structured(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    said: Any = answer.get("structured_content")
    if said is None:
        texts = [one.get("text") for one in answer.get("content", ()) if one.get("type") == "text"]
        try:
            said = json.loads(texts[0]) if texts else None
        except (TypeError, ValueError):
            return None
    return said if isinstance(said, dict) else None  # pyright: ignore[reportUnknownVariableType]
