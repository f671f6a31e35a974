"""Path parameters, parsed or refused as not found, and masking of secrets in submitted text.

Text is masked before it reaches workflow history, store or files.
"""

from collections.abc import Mapping
from typing import Annotated, Any, overload
from uuid import UUID

from fastapi import Depends, Path

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind
from domain.learning.redaction.redaction import redact


def parse_uuid(value: str, code: ErrorCode, what: str) -> str:
    """``value`` as a canonical UUID; anything else is refused with ``code`` as something that is not there."""
    try:
        return str(UUID(value))
    except ValueError:
        raise Refusal(code, f"There is no {what} with that id.") from None


def _session_id(session_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(session_id, ErrorCode.LEARN_SESSION_NOT_FOUND, "session")


def _proposal_id(proposal_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(proposal_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")


def _saga_id(saga_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(saga_id, ErrorCode.SAGA_NOT_FOUND, "install saga")


def _event_id(event_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(event_id, ErrorCode.OBSERVATION_NOT_FOUND, "observation")


def _ability_id(ability_id: Annotated[str, Path(max_length=160)]) -> str:
    if not ability_id.isprintable():
        raise Refusal(ErrorCode.ABILITY_NOT_FOUND, "There is no ability with that id.")
    return ability_id


def _category_id(category_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(category_id, ErrorCode.NOT_FOUND, "category")


def _adapter_kind(adapter_kind: Annotated[str, Path(max_length=80)]) -> ObservationAdapterKind:
    try:
        return ObservationAdapterKind(adapter_kind)
    except ValueError:
        raise Refusal(
            ErrorCode.NOT_FOUND, "There is no such kind of adapter; GET /api/learn/adapters lists them."
        ) from None


def _dispatch_id(dispatch_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(dispatch_id, ErrorCode.NOT_FOUND, "dispatch")


def _mcp_dispatch_id(mcp_dispatch_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(mcp_dispatch_id, ErrorCode.MCP_DISPATCH_NOT_FOUND, "tool call")


def _grant_id(grant_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(grant_id, ErrorCode.MCP_GRANT_NOT_FOUND, "standing approval")


def _server_id(server_id: Annotated[str, Path(max_length=120)]) -> str:
    if not server_id.isprintable():
        raise Refusal(ErrorCode.MCP_SERVER_NOT_FOUND, "There is no tool server with that id.")
    return server_id


def _auth_profile_id(auth_profile_id: Annotated[str, Path(max_length=120)]) -> str:
    if not auth_profile_id.isprintable():
        raise Refusal(ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND, "There is no sign-in with that id.")
    return auth_profile_id


def _tool_name(tool_name: Annotated[str, Path(max_length=120)]) -> str:
    if not tool_name.isprintable():
        raise Refusal(ErrorCode.MCP_TOOL_NOT_FOUND, "The server has no tool of that name.")
    return tool_name


def _output_digest(digest: Annotated[str, Path(max_length=200)]) -> str:
    if len(digest) != 64 or not digest.isalnum():
        raise Refusal(ErrorCode.NOT_FOUND, "There is no output with that digest.")
    return digest


SessionId = Annotated[str, Depends(_session_id)]
ProposalId = Annotated[str, Depends(_proposal_id)]
SagaId = Annotated[str, Depends(_saga_id)]
EventId = Annotated[str, Depends(_event_id)]
AbilityId = Annotated[str, Depends(_ability_id)]
CategoryId = Annotated[str, Depends(_category_id)]
AdapterKind = Annotated[ObservationAdapterKind, Depends(_adapter_kind)]
DispatchId = Annotated[str, Depends(_dispatch_id)]
McpDispatchId = Annotated[str, Depends(_mcp_dispatch_id)]
GrantId = Annotated[str, Depends(_grant_id)]
ServerId = Annotated[str, Depends(_server_id)]
AuthProfileId = Annotated[str, Depends(_auth_profile_id)]
ToolName = Annotated[str, Depends(_tool_name)]
OutputDigest = Annotated[str, Depends(_output_digest)]


@overload
def masked(text: str) -> str: ...
@overload
def masked(text: None) -> None: ...
def masked(text: str | None) -> str | None:
    """``text`` without its secrets. The mask never makes it longer than its field allows."""
    if text is None:
        return None
    return redact(text).text[: max(len(text), 1)]


def masked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` with every text in them masked, however deep."""
    return {name: _masked_value(value) for name, value in fields.items()}


def _masked_value(value: Any) -> Any:
    match value:
        case str():
            return masked(value)
        case list() | tuple():
            return [_masked_value(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return masked_fields(value)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return value
