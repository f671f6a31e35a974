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
        unsure: bool = False,
        never_left: bool = False,
    ) -> None:
        """``unsure`` says that it may have been done all the same, ``never_left`` that it surely was not (X-14)."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.details = details or {}
        self.unsure = unsure
        self.never_left = never_left


def denied(message: str) -> BrokerRefused:
    """What is answered to a call without permission."""
    return BrokerRefused(PERMISSION_DENIED, message)
