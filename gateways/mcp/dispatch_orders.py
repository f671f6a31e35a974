"""Builds the order of a tool call from its request: id, digest and argument names, never an argument's value."""

from datetime import UTC, datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from uuid_utils import uuid7

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import DispatchRequest
from contracts.mcp.dispatch_work import MAX_ARGUMENTS_BYTES, DispatchOrder
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal
from domain.mcp.policy_facts import calling_as
from gateways.platform.updates import id_of_key
from stores.mcp.dispatch.argument_rows import content_kept
from stores.platform.canonical import canonical_json, digest_of

_CALLS = UUID("7f1f4c5e-0f0e-4b8e-8a39-0c7a53f0d2b6")
"""The UUID namespace of calls that were requested with an idempotency key."""


def order_of(
    request: DispatchRequest, caller: Principal, key: CommitKey, correlation_id: str, arguments: bytes
) -> tuple[DispatchOrder, bytes]:
    """The order of the requested call, and what to keep of its arguments.

    The same key of the same owner names the same call.
    """
    keyed_id = dispatch_id_of(key)
    dispatch_id = keyed_id or str(uuid7())
    kept = content_kept(dispatch_id, arguments)
    names = argument_names(request.arguments)
    with_names = f" with {', '.join(names)}" if names else ""
    order = DispatchOrder(
        dispatch_id=dispatch_id,
        correlation_id=_as_uuid(correlation_id),
        caller=calling_as(caller, request.runtime, request.turn_ref, request.session_ref),
        server_id=request.server_id,
        tool_name=request.tool_name,
        arguments_digest=digest_of(arguments),
        arguments_kept=None if kept is arguments else digest_of(kept),
        argument_names=names,
        request_summary=clipped(f"{request.tool_name} at {request.server_id}{with_names}", 500),
        request_digest=None if keyed_id is None else key.request_digest,
        project_id=request.project_id,
        data_class=request.data_class,
        learn_session_id=request.learn_session_id,
        ability_id=request.ability_id,
        timeout_ms=request.timeout_ms,
        created_at=datetime.now(UTC),
    )
    return order, kept


def dispatch_id_of(key: CommitKey) -> str | None:
    """The id of the call that a client's key names; ``None`` for a server-generated key: each request is a call."""
    return id_of_key(_CALLS, key, between=" ")


def arguments_bytes(given: dict[str, object]) -> bytes:
    """Arguments as canonical JSON, the form that is stored and digested.

    Raises:
        Refusal: ``VALIDATION_FAILED`` where they are not JSON, ``PAYLOAD_TOO_LARGE`` beyond 256 KiB.
    """
    try:
        content = canonical_json(given).encode()
    except ValueError:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "Arguments have to be plain JSON: numbers that are numbers, text that is text.",
            fields=["arguments"],
        ) from None
    if len(content) > MAX_ARGUMENTS_BYTES:
        raise Refusal(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The arguments may have at most {MAX_ARGUMENTS_BYTES} bytes as JSON; these have {len(content)}.",
        )
    return content


def argument_names(arguments: dict[str, object]) -> tuple[str, ...]:
    """The names of the arguments, which may be shown where values may not."""
    return tuple(clipped(name, 80) for name in sorted(arguments)[:50])


def _as_uuid(correlation_id: str) -> str:
    try:
        return str(UUID(correlation_id))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, correlation_id))
