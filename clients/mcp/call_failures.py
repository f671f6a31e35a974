"""Classifies failures of a tool call: surely not sent, surely refused, or possibly done."""

import re
from typing import cast

import httpx2
from mcp import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
)
from pydantic import ValidationError

from clients.mcp.listing import Discovery
from clients.mcp.local_program import ProgramNotStarted
from clients.mcp.wire_record import HttpRefusal, WireRecord
from contracts.base import clipped
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from contracts.plain_problems import field_problems
from domain.mcp.auth_status import kept_scopes
from domain.platform.visible_text import visible

_BEFORE_THE_TOOL = frozenset(
    {
        HEADER_MISMATCH,
        INVALID_PARAMS,
        INVALID_REQUEST,
        METHOD_NOT_FOUND,
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        PARSE_ERROR,
        UNSUPPORTED_PROTOCOL_VERSION,
        URL_ELICITATION_REQUIRED,
    }
)
"""Error codes a server answers with before the tool is run."""


class ToolCallFailed(Exception):
    """A call, or a discovery, that gave no answer."""

    def __init__(self, failure: ToolFailure) -> None:
        super().__init__(f"{failure.kind}: {failure.message}")
        self.failure = failure


class ToolChanged(ToolCallFailed):
    """A call that was not sent: the tool is not as it was when the call was let pass, or is gone."""

    def __init__(self, failure: ToolFailure, found: Discovery) -> None:
        """``found`` is what the server lists now."""
        super().__init__(failure)
        self.found = found


def failed(kind: ToolFailureKind, message: str) -> ToolCallFailed:
    """A failure that no HTTP status says more about."""
    return ToolCallFailed(ToolFailure(kind=kind, message=message))


def failure_of(record: WireRecord, error: BaseException | None, within_ms: int) -> ToolFailure:
    """What became of a conversation that ended with ``error``, or with its time being up where there is none."""
    known = _known_from_the_wire(record)
    if known is not None:
        return known
    cause = _leaf(error)
    if not record.sent:
        return ToolFailure(kind=ToolFailureKind.NOT_SENT, message=_before_the_call(record, cause, within_ms))
    if cause is None:
        return ToolFailure(
            kind=ToolFailureKind.TIMED_OUT, message=f"the tool gave no answer within {within_ms} ms"
        )
    return _after_the_call(record, cause)


def _known_from_the_wire(record: WireRecord) -> ToolFailure | None:
    if record.address_refused is not None:
        return ToolFailure(
            kind=ToolFailureKind.ADDRESS_REFUSED, message=f"not connected: {record.address_refused}"[:500]
        )
    if record.refusal is not None and (refused := _refused(record.refusal, record.sent)) is not None:
        return refused
    if record.sent and record.too_large:
        return ToolFailure(
            kind=ToolFailureKind.OUTPUT_TOO_LARGE,
            message=f"the answer is larger than {record.body_limit} bytes",
        )
    if record.sent and record.compressed:
        return ToolFailure(
            kind=ToolFailureKind.OUTPUT_INVALID, message="the answer is compressed, which was not asked for"
        )
    return None


def _refused(refusal: HttpRefusal, sent: bool) -> ToolFailure | None:
    """What an HTTP status says by itself; none where the protocol's own error, if any, says more."""
    kind = _kind_of(refusal, sent)
    if kind is None:
        return None
    meanings = {
        ToolFailureKind.AUTH_REQUIRED: "the server asks to sign in",
        ToolFailureKind.SCOPE_MISSING: "the sign-in lacks a scope that the tool needs",
        ToolFailureKind.THROTTLED: "the server asks to come back later",
        ToolFailureKind.SERVER_ERROR: "the server failed; the tool may have done its work",
        ToolFailureKind.REFUSED_BY_SERVER: "the server does not allow it",
    }
    needed = _scopes_needed(refusal) if kind is ToolFailureKind.SCOPE_MISSING else ()
    named = f": {' '.join(needed)}" if needed else ""
    return ToolFailure(
        kind=kind,
        message=f"HTTP {refusal.status}: {meanings[kind]}{named}"[:500],
        http_status=refusal.status,
        retry_after_ms=refusal.retry_after_ms,
        www_authenticate=refusal.www_authenticate,
        scopes_needed=needed,
    )


_LETTER = r"\x21\x23-\x2b\x2d-\x5b\x5d-\x5f\x61-\x7e"
# Of a scope's name, without the comma and the backquote, which would end it where it is shown.
_SCOPES = re.compile(rf'(?:^|[\s,])scope=(?:"([{_LETTER} ]{{1,1000}})"|([{_LETTER}]{{1,160}}))')
"""Where a challenge names the scopes that are needed (RFC 6750 §3)."""


def _scopes_needed(refusal: HttpRefusal) -> tuple[str, ...]:
    found = _SCOPES.search(refusal.www_authenticate or "")
    named = (found[1] or found[2]).split() if found is not None else []
    return kept_scopes(dict.fromkeys(named))


def _kind_of(refusal: HttpRefusal, sent: bool) -> ToolFailureKind | None:
    match refusal.status:
        case 401:
            return ToolFailureKind.AUTH_REQUIRED
        case 403 if "insufficient_scope" in (refusal.www_authenticate or ""):
            return ToolFailureKind.SCOPE_MISSING
        case 403:
            return ToolFailureKind.REFUSED_BY_SERVER
        case 429:
            return ToolFailureKind.THROTTLED
        case status if sent and status >= 500:
            return ToolFailureKind.SERVER_ERROR
        case _:
            return None


def _before_the_call(record: WireRecord, cause: BaseException | None, within_ms: int) -> str:
    if isinstance(cause, ProgramNotStarted):
        return f"the program was not started: {cause}"[:500]
    if record.refusal is not None and record.refusal.status >= 500:
        return f"HTTP {record.refusal.status}: the server failed before it was asked to do anything"
    if record.too_large:
        return f"the server sent more than {record.body_limit} bytes before it was asked to do anything"
    if cause is None:
        return f"no conversation came about within {within_ms} ms"
    if isinstance(cause, ValidationError | RuntimeError):
        return clipped(f"what the server said is not of the protocol: {_said(cause)}", 500)
    # A program is ended with its conversation, whatever that failed of: its end is the cause of a lost one alone.
    is_lost = not isinstance(cause, MCPError) or cause.code == CONNECTION_CLOSED
    if record.exit_status is not None and is_lost:
        return (
            f"the program ended with status {record.exit_status} before it was asked to do anything; "
            "run its command in a terminal to see why"
        )
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "the server cannot be reached"
    if isinstance(cause, MCPError):
        return f"the server did not begin a conversation (error {cause.code})"
    return f"the connection failed before the call was sent ({type(cause).__name__})"


def _said(cause: ValidationError | RuntimeError) -> str:
    """What is wrong and where; of what the server sent no more than its names and its revision."""
    if isinstance(cause, RuntimeError):
        return visible(str(cause))
    wrong = field_problems(cause, whole="it")[:3]
    return visible("; ".join(f"{one.path} {one.problem}" for one in wrong))


def _after_the_call(record: WireRecord, cause: BaseException) -> ToolFailure:
    status = record.refusal.status if record.refusal else None
    if isinstance(cause, ValidationError | RuntimeError):
        return ToolFailure(
            kind=ToolFailureKind.OUTPUT_INVALID,
            message="the answer is not one of the protocol",
            http_status=status,
        )
    if not isinstance(cause, MCPError):
        return ToolFailure(
            kind=ToolFailureKind.CONNECTION_LOST,
            message=f"the connection broke after the call was sent ({type(cause).__name__})",
        )
    if cause.code == CONNECTION_CLOSED:
        return ToolFailure(
            kind=ToolFailureKind.CONNECTION_LOST, message="the connection ended after the call was sent"
        )
    if cause.code in _MADE_UP_BY_THE_CLIENT and (made_up := _unreadable(record, cause)) is not None:
        return made_up
    if cause.code == REQUEST_TIMEOUT:
        return ToolFailure(kind=ToolFailureKind.TIMED_OUT, message="the server gave the call up as too slow")
    if cause.code == INTERNAL_ERROR and status is None:
        return ToolFailure(
            kind=ToolFailureKind.SERVER_ERROR, message="the server failed; the tool may have done its work"
        )
    why = "before it ran the tool" if cause.code in _BEFORE_THE_TOOL else "with an error of its own"
    return ToolFailure(
        kind=ToolFailureKind.REFUSED_BY_SERVER,
        message=f"the server refused the call {why} (error {cause.code})",
        http_status=status,
    )


_MADE_UP_BY_THE_CLIENT = frozenset({INVALID_REQUEST, PARSE_ERROR})
"""Codes that the SDK also gives to what is no answer of the protocol at all."""


def _unreadable(record: WireRecord, cause: MCPError) -> ToolFailure | None:
    """What an HTTP answer to the call means that the protocol does not describe; none where it does."""
    head = record.call_answer
    if head is None:
        return None
    if not head.may_hold_an_answer:
        return ToolFailure(
            kind=ToolFailureKind.CONNECTION_LOST,
            message="the server took the call, and gave no answer that says what became of it",
            http_status=head.status,
        )
    if cause.code == PARSE_ERROR and head.is_good:
        return ToolFailure(
            kind=ToolFailureKind.OUTPUT_INVALID,
            message="the answer cannot be read",
            http_status=head.status,
        )
    return None


def _leaf(error: BaseException | None) -> BaseException | None:
    """The first failure that stands behind a group of them; what was only cancelled says nothing."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = next((inner for inner in group.exceptions if _says_something(inner)), None)
    return error if isinstance(error, Exception) else None


def _says_something(error: BaseException) -> bool:
    return isinstance(error, Exception | BaseExceptionGroup)
