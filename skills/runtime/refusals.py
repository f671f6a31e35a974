"""Refusals of the broker and of the services behind it, on both sides of a handler's channel.

Imports the standard library alone: the handler's side is the confined process.
"""

from datetime import datetime
from typing import Any

PERMISSION_DENIED = "PERMISSION_DENIED"


class BrokerRefused(Exception):
    """A call that is not done: not permitted, or refused by the service, with a code of the skill's error table.

    Uncaught in a handler, the run ends with its code. ``unsure`` is a service's word that it may have been done all the
    same, ``never_left`` that it surely was not, so that the run may be repeated although the call would have had an
    effect (X-14). ``due_at`` has the invocation wait for that time, with the code ``AWAITING_TIME``. A handler's own
    word for any of these does not count.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after_ms: int | None = None,
        details: dict[str, Any] | None = None,
        unsure: bool = False,
        never_left: bool = False,
        due_at: datetime | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.details = details or {}
        self.unsure = unsure
        self.never_left = never_left
        self.due_at = due_at

    def told(self) -> dict[str, Any]:
        """The refusal as it is told over the channel."""
        return {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "retry_after_ms": self.retry_after_ms,
            "details": self.details,
        }


def denied(message: str) -> BrokerRefused:
    """What is answered to a call without permission."""
    return BrokerRefused(PERMISSION_DENIED, message)
