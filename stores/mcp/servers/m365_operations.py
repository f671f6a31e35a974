"""Microsoft 365 operations on their way in and out: checked against registry and sign-in, and typed again."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from contracts.errors import Refusal
from contracts.mcp.dispatch import DispatchRequest
from contracts.mcp.dispatch_work import DispatchRecord
from contracts.mcp.m365 import M365Asked, M365OperationResponse
from contracts.mcp.m365_operations import M365OperationRequest, M365ProjectLatestDocumentRequest
from contracts.mcp.servers import MCPServerRegistryEntry
from domain.mcp.m365_operations import arguments_of, refusal_of, response_of, tool_of_family
from domain.mcp.m365_registration import scopes_for
from stores.mcp.auth.profiles import StoredProfile, find_profile
from stores.mcp.servers.health import health_of
from stores.mcp.servers.server_rows import server_of
from stores.platform.database import Database
from stores.projects.bindings import bindings_of, project_of_room


def as_tool_call(
    database: Database, request: DispatchRequest, owner: str
) -> tuple[DispatchRequest, M365Asked | None]:
    """The call of a tool that a request stands for, and which typed operation it is, if it is one.

    Raises:
        Refusal: ``M365_DELEGATED_ONLY_OPERATION``, ``M365_BACKGROUND_ONLY_OPERATION``,
            ``M365_FORBIDDEN_AUTH_MODE``, ``M365_SCOPE_MISSING``, ``VALIDATION_FAILED`` where the server does not
            offer the operation, ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
    """
    operation = request.m365_operation
    if operation is None:
        return request, None
    with database.read() as connection:
        server = server_of(connection, request.server_id, owner)
        stored = _sign_in(connection, server, owner)
        operation = _in_context(connection, operation, owner)
    profile, granted = (
        (stored.profile, stored.connection.scopes_granted) if stored is not None else (None, ())
    )
    refusal = refusal_of(operation, server, profile, granted)
    if refusal is not None:
        raise refusal
    call = request.changed(
        m365_operation=None,
        tool_name=tool_of_family(operation.operation_family, server),
        arguments=arguments_of(operation),
        timeout_ms=operation.timeout_ms,
        project_id=operation.project_id or request.project_id,
    )
    asked = M365Asked(operation_family=operation.operation_family, needed_scopes=tuple(scopes_for(operation)))
    return call, asked


def _in_context(connection: Connection, operation: M365OperationRequest, owner: str) -> M365OperationRequest:
    """The operation with what its room and its project's binding say where it says nothing itself.

    A room stands for the project that was worked on in it; the first of a project's preferred kinds of document
    is the role of the document that is asked for.
    """
    if operation.project_id is None and operation.room_id is not None:
        operation = operation.changed(project_id=project_of_room(connection, owner, operation.room_id))
    if not isinstance(operation, M365ProjectLatestDocumentRequest) or operation.document_role is not None:
        return operation
    bindings = bindings_of(connection, owner)
    preferred = next((b.preferred_doc_types for b in bindings if b.project_id == operation.project_id), ())
    return operation.changed(document_role=preferred[0]) if preferred else operation


def typed_answer(
    connection: Connection,
    record: DispatchRecord,
    arguments: Mapping[str, Any] | None,
    answer: Mapping[str, Any] | None,
) -> M365OperationResponse | None:
    """What a typed operation has come to; ``None`` for another call, and while it goes on."""
    if record.order.m365 is None:
        return None
    try:
        server = server_of(connection, record.order.server_id, record.owner)
    except Refusal:
        return response_of(record, arguments, answer, None, (), None)
    stored = _sign_in(connection, server, record.owner)
    health = health_of(connection, server.server_id)
    if stored is None:
        return response_of(record, arguments, answer, None, (), health)
    known = stored.connection
    return response_of(
        record,
        arguments,
        answer,
        stored.profile,
        known.scopes_granted,
        health,
        lacking=known.scopes_needed,
    )


def _sign_in(connection: Connection, server: MCPServerRegistryEntry, owner: str) -> StoredProfile | None:
    if server.auth_profile_id is None:
        return None
    return find_profile(connection, server.auth_profile_id, owner)
