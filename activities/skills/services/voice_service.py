"""The service ``voice``: places calls through the configured voice app, and says how they stand (OC-02…OC-10, O-18).

Numbers are logged at DEBUG alone. A call is asked for once; what nobody heard of is never asked for again (X-14).
"""

from collections.abc import Mapping
from typing import Any, Protocol

import structlog

from activities.skills.services.offered import Asker, Method
from clients.skills.voice_app import VoiceFailed
from contracts.base import Contract
from contracts.skills.voice import CallStatusRequest, PlaceCallRequest
from skills.runtime.broker import BrokerRefused

log = structlog.get_logger(__name__)


class VoiceProvider(Protocol):
    """Whoever places calls."""

    async def place(self, fields: dict[str, str], key: str) -> dict[str, Any]:
        """Places a call, and answers ``callId`` and ``status``."""
        ...

    async def status(self, call_id: str) -> str | None:
        """How a call stands, if that is told."""
        ...


class ReadyRequest(Contract):
    """Asks whether calls can be placed at all."""


class VoiceService:
    """Calls through a provider; without one, none is placed."""

    def __init__(self, provider: VoiceProvider | None) -> None:
        self._provider = provider
        self.methods: Mapping[str, Method] = {
            "ready": Method(ReadyRequest, self._ready, reads=True),
            "place_call": Method(PlaceCallRequest, self._place),
            "status": Method(CallStatusRequest, self._status, reads=True),
        }

    async def _ready(self, asker: Asker, asked: ReadyRequest) -> dict[str, Any]:
        self._configured()
        return {}

    async def _place(self, asker: Asker, asked: PlaceCallRequest) -> dict[str, Any]:
        log.info("[sip-voice] place_call", device=asked.device, invocation_id=asker.key)
        log.debug("[sip-voice] place_call to", to=asked.to, invocation_id=asker.key)
        fields = {
            "to": asked.to.removeprefix("+"),
            "message": asked.message,
            "mode": asked.mode,
            "device": asked.device,
        }
        try:
            told = await self._configured().place(fields, asker.key)
        except (VoiceFailed, BrokerRefused) as error:
            log.warning("[sip-voice] place_call failed", error=error.code, invocation_id=asker.key)
            if isinstance(error, BrokerRefused):
                raise
            raise BrokerRefused(
                error.code, str(error), unsure=error.may_have_rung, never_left=error.never_left
            ) from None
        log.info("[sip-voice] place_call succeeded", call_id=told["callId"], invocation_id=asker.key)
        return told

    async def _status(self, asker: Asker, asked: CallStatusRequest) -> dict[str, Any]:
        try:
            return {"status": await self._configured().status(asked.call_id)}
        except VoiceFailed as error:
            raise BrokerRefused(error.code, str(error)) from None

    def _configured(self) -> VoiceProvider:
        if self._provider is None:
            raise BrokerRefused(
                "VOICE_NOT_CONFIGURED", "the setting voice_app_url names no voice app", never_left=True
            )
        return self._provider
