"""Refusals of the broker and of the services behind it."""

from typing import Any

PERMISSION_DENIED = "PERMISSION_DENIED"


class BrokerRefused(Exception):
    """A call that is not done: not permitted, or refused by the service, with a code of the skill's error table."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after_ms: int | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.details = details or {}


def denied(message: str) -> BrokerRefused:
    """What is answered to a call without permission."""
    return BrokerRefused(PERMISSION_DENIED, message)
