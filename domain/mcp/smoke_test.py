"""What a smoke test says of a look at a server, and of the one tool it may have called (DOC3 §0.2D, §0.2H)."""

from dataclasses import dataclass

from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus, DispatchView
from contracts.mcp.health import MCPHealthStatus, MCPSmokeTestStatus
from contracts.mcp.probe import ProbeFindings
from contracts.mcp.provider import NEEDS_SIGN_IN
from contracts.mcp.tool_call import ToolFailureKind

CODES: dict[ToolFailureKind, ErrorCode] = {
    ToolFailureKind.NOT_SENT: ErrorCode.MCP_SERVER_UNREACHABLE,
    ToolFailureKind.CONNECTION_LOST: ErrorCode.MCP_SERVER_UNREACHABLE,
    ToolFailureKind.TIMED_OUT: ErrorCode.MCP_CALL_TIMED_OUT,
    ToolFailureKind.AUTH_REQUIRED: ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
    ToolFailureKind.SCOPE_MISSING: ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
    ToolFailureKind.THROTTLED: ErrorCode.MCP_RATE_LIMITED,
    ToolFailureKind.ADDRESS_REFUSED: ErrorCode.MCP_ADDRESS_REFUSED,
}
"""The code of a failure; of every other one ``MCP_SMOKE_TEST_FAILED``."""

_SIGN_IN = frozenset({ToolFailureKind.AUTH_REQUIRED, ToolFailureKind.SCOPE_MISSING})
_NO_TRANSPORT = frozenset(
    {
        ToolFailureKind.NOT_SENT,
        ToolFailureKind.CONNECTION_LOST,
        ToolFailureKind.TIMED_OUT,
        ToolFailureKind.ADDRESS_REFUSED,
    }
)
_NOT_CALLED = frozenset({DispatchStatus.BLOCKED, DispatchStatus.PENDING_APPROVAL, DispatchStatus.CANCELLED})


@dataclass(frozen=True)
class SmokeVerdict:
    """How a smoke test ended."""

    status: MCPSmokeTestStatus
    code: ErrorCode | None
    summary: str


def verdict(found: ProbeFindings) -> SmokeVerdict:
    """What a look says. A broken sign-in leaves a server degraded, a pause leaves it blocked."""
    action = f" {found.health.next_action}" if found.health.next_action else ""
    if found.not_tried is not None:
        off = found.health.health_status is MCPHealthStatus.DISABLED
        code = ErrorCode.MCP_SERVER_DISABLED if off else ErrorCode.MCP_RATE_LIMITED
        return SmokeVerdict(MCPSmokeTestStatus.BLOCKED, code, clipped(found.not_tried + action, 500))
    failure = found.failure
    if failure is None:
        sign_in = "signed in" if found.sign_in_used else "no sign-in needed"
        said = f"transport ok, auth ok ({sign_in}), discovery ok ({found.tools} tools)."
        if found.health.auth_state in NEEDS_SIGN_IN:
            said = f"transport ok, auth {found.health.auth_state.value}, discovery ok ({found.tools} tools).{action}"
            return SmokeVerdict(
                MCPSmokeTestStatus.DEGRADED, ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED, clipped(said, 500)
            )
        return SmokeVerdict(MCPSmokeTestStatus.PASSED, None, said)
    transport = "failed" if failure.kind in _NO_TRANSPORT else "ok"
    auth = "failed" if failure.kind in _SIGN_IN else "not known"
    said = f"transport {transport}, auth {auth}, discovery failed: {failure.message}{action}"
    return SmokeVerdict(
        _status(failure.kind),
        CODES.get(failure.kind, ErrorCode.MCP_SMOKE_TEST_FAILED),
        clipped(said, 500),
    )


def not_called(found: SmokeVerdict, tool_name: str, code: ErrorCode, why: str) -> SmokeVerdict:
    """The same, and why the one call was not made."""
    said = clipped(f"{found.summary} {tool_name} was not called: {why}", 500)
    return SmokeVerdict(MCPSmokeTestStatus.BLOCKED, code, said)


def with_call(found: SmokeVerdict, tool_name: str, call: DispatchView) -> SmokeVerdict:
    """The same, and how the one call went."""
    code = ErrorCode(call.error_code) if call.error_code in ErrorCode.__members__ else None
    if call.status in _NOT_CALLED:
        why = call.error_message or "policy has it ask first."
        return not_called(found, tool_name, code or ErrorCode.MCP_ASK_FIRST_REQUIRED, why)
    if call.status is DispatchStatus.COMPLETED and not call.is_error:
        return SmokeVerdict(found.status, found.code, clipped(f"{found.summary} {tool_name} answered.", 500))
    reason = call.error_message or ("the tool reported an error" if call.is_error else call.status.value)
    return SmokeVerdict(
        MCPSmokeTestStatus.FAILED,
        code or ErrorCode.MCP_SMOKE_TEST_FAILED,
        clipped(f"{found.summary} {tool_name} failed: {reason}", 500),
    )


def _status(kind: ToolFailureKind) -> MCPSmokeTestStatus:
    if kind in _SIGN_IN:
        return MCPSmokeTestStatus.DEGRADED
    return MCPSmokeTestStatus.BLOCKED if kind is ToolFailureKind.THROTTLED else MCPSmokeTestStatus.FAILED
