"""Broker: decides for each call of a handler whether its manifest permits it, and has it done (AM-17, X-7).

The handler's side of the channel is untrusted: whatever it asks is judged here, by the manifest as it was approved.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from contracts.skills.manifest import BrokerService, SkillBackend, SkillManifest, ToolRecord
from skills.runtime.local_programs import checked_arguments, permitted_program
from skills.runtime.refusals import PERMISSION_DENIED, BrokerRefused, denied

__all__ = [
    "CALL_LOG",
    "EXEC",
    "GATEWAY",
    "HTTP",
    "PERMISSION_DENIED",
    "Broker",
    "BrokerRefused",
    "Service",
    "denied",
]

Service = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Does a method with its arguments; the answer is JSON. Raises ``BrokerRefused``."""

CALL_LOG, GATEWAY, EXEC, HTTP = "call_log", "gateway", "exec", "http"
"""Services beside those of ``BrokerService``.

``http`` has one method, ``request``, with ``method``, ``url``, ``headers`` and ``body`` (JSON), and answers
``{"status", "body"}``; ``auth_profile`` is added for a tool that has one, and is never taken from a handler.
"""

_REQUEST_FIELDS = frozenset({"method", "url", "headers", "body"})
_READING_METHODS = frozenset({"GET", "HEAD"})
_SERVICES = frozenset(service.value for service in BrokerService)


@dataclass
class Broker:
    """The calls of one run.

    ``reads`` are the calls, as ``service.method``, that change nothing. ``unsure`` says that a call may have had its
    effect although it was answered with a refusal, ``due_at`` for which time a service has the invocation wait.
    """

    manifest: SkillManifest
    tool: ToolRecord
    services: Mapping[str, Service]
    entry: Literal["handle", "check"] = "handle"
    reads: frozenset[str] = frozenset()
    unsure: bool = False
    due_at: datetime | None = None
    _effects: int = field(default=0, init=False)
    _log_failed: BrokerRefused | None = field(default=None, init=False)

    @property
    def acted(self) -> bool:
        """Whether a call was begun that may have had an effect; one that surely sent nothing does not count."""
        return self._effects > 0

    def begin_effect(self) -> None:
        """Notes that what is not a call of the broker, and may have an effect, begins."""
        self._effects += 1

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
        if not self._only_reads(service, method, arguments):
            if self._log_failed is not None:
                # What is not on record first is not done (AM-43), whether or not the handler looked at the answer.
                raise self._log_failed
            return await self._act(done, service, method, arguments)
        return await self._done(done, service, method, arguments)

    async def _act(self, done: Service, service: str, method: str, arguments: dict[str, Any]) -> Any:
        self._effects += 1
        try:
            return await self._done(done, service, method, arguments)
        except BrokerRefused as error:
            self._effects -= error.never_left
            self.unsure = self.unsure or error.unsure
            self.due_at = error.due_at
            raise

    async def _done(self, done: Service, service: str, method: str, arguments: dict[str, Any]) -> Any:
        if service == HTTP and self.tool.auth_profile is not None:
            arguments = {**arguments, "auth_profile": self.tool.auth_profile}
        return await done(method, arguments)

    async def _write(self, log: Service, arguments: dict[str, Any]) -> Any:
        try:
            return await log("write", arguments)
        except BrokerRefused as error:
            self._log_failed = error
            raise

    def _only_reads(self, service: str, method: str, arguments: dict[str, Any]) -> bool:
        if f"{service}.{method}" in self.reads:
            return True
        if service == HTTP:
            return arguments.get("method", "GET") in _READING_METHODS
        return not self.manifest.acts and service != GATEWAY

    def _permit(self, service: str, method: str, arguments: dict[str, Any]) -> None:
        permissions = self.manifest.permissions
        if service in _SERVICES:
            permitted = any(one.value == service for one in permissions.services)
        else:
            permitted = {
                f"{CALL_LOG}.write": True,
                f"{EXEC}.run": bool(permissions.local_binaries),
                f"{HTTP}.request": permissions.network or self.tool.backend is SkillBackend.HTTP,
                f"{GATEWAY}.post": permissions.openclaw_action,
                f"{GATEWAY}.send_message": permissions.telegram,
            }.get(f"{service}.{method}", False)
        if not permitted:
            raise denied(f"the manifest of {self.manifest.name} does not permit {service}.{method}")
        if self.entry == "check" and f"{service}.{method}" not in self.reads:
            raise denied(f"a check may only read; {service}.{method} does more")
        if f"{service}.{method}" == f"{GATEWAY}.send_message" and set(arguments) != {"message"}:
            raise denied("gateway.send_message takes a message alone: its recipient is configured")
        if service == HTTP:
            self._permit_request(arguments)
        if service == EXEC:
            permitted_program(self.manifest, checked_arguments(arguments.get("argv"))[0])

    def _permit_request(self, arguments: dict[str, Any]) -> None:
        if unknown := sorted(set(arguments) - _REQUEST_FIELDS):
            raise denied(f"http.request does not take {unknown[0][:80]}")
        try:
            address = urlsplit(str(arguments.get("url", "")))
            host = address.hostname
        except ValueError:
            address, host = urlsplit(""), None
        if address.scheme not in ("http", "https") or host is None or address.username is not None:
            raise denied("http.request takes an http or https address without a user's name")
        if host not in {name.lower() for name in self.manifest.permissions.hosts}:
            raise denied(f"the manifest of {self.manifest.name} does not permit the host {host[:200]}")
