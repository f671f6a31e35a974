"""Broker: decides for each call of a handler whether its manifest permits it, and has it done (AM-17, X-7).

The handler's side of the channel is untrusted: whatever it asks is judged here, by the manifest as it was approved.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from contracts.skills.manifest import BrokerService, SkillManifest

Service = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Does a method with its arguments; the answer is JSON. Raises ``BrokerRefused``."""

CALL_LOG, GATEWAY, EXEC, HTTP = "call_log", "gateway", "exec", "http"
"""Services beside those of ``BrokerService``."""

PERMISSION_DENIED = "PERMISSION_DENIED"
_SERVICES = frozenset(service.value for service in BrokerService)


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


@dataclass
class Broker:
    """The calls of one run.

    ``reads`` are the calls, as ``service.method``, that change nothing. ``acted`` says that another one was begun.
    """

    manifest: SkillManifest
    services: Mapping[str, Service]
    entry: Literal["handle", "check"] = "handle"
    reads: frozenset[str] = frozenset()
    acted: bool = False
    _log_failed: BrokerRefused | None = field(default=None, init=False)

    async def call(self, service: str, method: str, arguments: dict[str, Any]) -> Any:
        """Does one call.

        Raises:
            BrokerRefused: it is not permitted, or failed.
        """
        self._permit(service, method, arguments)
        done = self.services.get(service)
        if done is None:
            raise BrokerRefused("UNAVAILABLE", f"{service} is not configured here", retryable=False)
        if service == CALL_LOG:
            return await self._write(done, arguments)
        if self._log_failed is not None and not self._only_reads(service, method):
            # What is not on record first is not done (AM-43), whether or not the handler looked at the answer.
            raise self._log_failed
        self.acted = self.acted or not self._only_reads(service, method)
        return await done(method, arguments)

    async def _write(self, log: Service, arguments: dict[str, Any]) -> Any:
        try:
            return await log("write", arguments)
        except BrokerRefused as error:
            self._log_failed = error
            raise

    def _only_reads(self, service: str, method: str) -> bool:
        if f"{service}.{method}" in self.reads:
            return True
        return not self.manifest.acts and service not in (GATEWAY, HTTP)

    def _permit(self, service: str, method: str, arguments: dict[str, Any]) -> None:
        permissions = self.manifest.permissions
        if service in _SERVICES:
            permitted = any(one.value == service for one in permissions.services)
        else:
            permitted = {
                f"{CALL_LOG}.write": True,
                f"{EXEC}.run": bool(permissions.local_binaries),
                f"{HTTP}.request": permissions.network,
                f"{GATEWAY}.post": permissions.openclaw_action,
                f"{GATEWAY}.send_message": permissions.telegram,
            }.get(f"{service}.{method}", False)
        if not permitted:
            raise denied(f"the manifest of {self.manifest.name} does not permit {service}.{method}")
        if self.entry == "check" and f"{service}.{method}" not in self.reads:
            raise denied(f"a check may only read; {service}.{method} does more")
        if f"{service}.{method}" == f"{GATEWAY}.send_message" and set(arguments) != {"message"}:
            raise denied("gateway.send_message takes a message alone: its recipient is configured")
