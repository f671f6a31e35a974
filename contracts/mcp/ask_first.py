"""What an answer makes of an approval, and what who comes too late is told (DOC3 L2443-2466)."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import AskFirstDecision, AskFirstStatus

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
    """What somebody is told who comes second: who was first, when, and what was said."""
    said = _SAID.get(status, status.value)
    return Refusal(
        ErrorCode.MCP_ASK_FIRST_DECIDED,
        clipped(f"The call was {said} by {who or 'the gateway'} before you answered.", 240),
        decided_by=who or "system",
        decided_at=rfc3339(at),
        decision=status.value,
    )


def expired(at: datetime | None) -> Refusal:
    """What somebody is told who answers after the deadline."""
    return Refusal(
        ErrorCode.MCP_ASK_FIRST_EXPIRED,
        "Nobody answered in time; nothing was sent. Make the call again to be asked again.",
        **({"expired_at": rfc3339(at)} if at is not None else {}),
    )
