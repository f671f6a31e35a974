"""Messages that skills send to the operator: what is kept of each, and how it stands (AM-43…AM-47)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text80, Text120, Text240, UtcTime, Uuid, VersionedContract

MAX_MESSAGE_CHARS = 8_000
"""The longest text that a skill may send to the operator, its heading included."""


class MessageState(StrEnum):
    """How a message stands. ``unknown`` may have arrived: only a person has it sent again (X-14)."""

    PENDING = "pending"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"
    UNKNOWN = "unknown"


UNDELIVERED = frozenset(MessageState) - {MessageState.DELIVERED}


class OperatorMessage(VersionedContract):
    """One message to the operator. ``key`` is the invocation's, with the message's number in it: written once."""

    message_id: Uuid
    owner_user_id: Text120
    invocation_id: Uuid
    key: Text120
    text: str = Field(max_length=MAX_MESSAGE_CHARS)
    state: MessageState
    channel: Text80
    attempts: int = Field(default=0, ge=0)
    error: Text240 | None = None
    created_at: UtcTime
    updated_at: UtcTime
    delivered_at: UtcTime | None = None
