"""The voice app's REST interface: places a call with one request, and says how it stands (001 L19-21, O-18)."""

import json
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

from clients.platform.json_post import Answered, RequestFailed, request_once

WITHIN_SECONDS = 10.0
"""How long a call may take to be accepted (001 L156)."""


class VoiceFailed(Exception):
    """No call is known to be placed; ``code`` tells the failures apart, and the text names no number."""

    def __init__(
        self, code: str, text: str, *, may_have_rung: bool = False, never_left: bool = False
    ) -> None:
        super().__init__(text)
        self.code = code
        self.may_have_rung = may_have_rung
        self.never_left = never_left


@dataclass(frozen=True)
class VoiceApp:
    """The voice app at an address."""

    url: str

    async def place(self, fields: dict[str, str], key: str) -> dict[str, Any]:
        """Places a call: ``callId`` and ``status`` as the voice app answers them. It asks once.

        Raises:
            VoiceFailed: VOICE_UNREACHABLE, VOICE_TIMEOUT, VOICE_REFUSED, VOICE_BAD_ANSWER.
        """
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        answer = await self._ask("POST", "", json.dumps(fields).encode(), headers)
        if not answer.accepted:
            raise VoiceFailed("VOICE_REFUSED", f"the voice app answered {answer.status}")
        told = _object_of(answer)
        if not isinstance(told.get("callId"), str | int) or isinstance(told.get("callId"), bool):
            raise VoiceFailed(
                "VOICE_BAD_ANSWER", "the voice app's answer names no callId", may_have_rung=True
            )
        return {name: told[name] for name in ("callId", "status") if name in told}

    async def status(self, call_id: str) -> str | None:
        """How a call stands; None where the voice app does not tell.

        Raises:
            VoiceFailed
        """
        answer = await self._ask("GET", f"/{quote(call_id, safe='')}", None, {})
        if answer.status in (404, 405):
            return None
        if not answer.accepted:
            raise VoiceFailed("VOICE_REFUSED", f"the voice app answered {answer.status}")
        status = _object_of(answer).get("status")
        return status if isinstance(status, str) else None

    async def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answered:
        address = f"{self.url.rstrip('/')}/api/outbound-call{path}"
        try:
            return await request_once(
                method, address, body=body, headers=headers, within_seconds=WITHIN_SECONDS
            )
        except RequestFailed as error:
            if not error.may_have_arrived:
                raise VoiceFailed("VOICE_UNREACHABLE", f"the voice app: {error}", never_left=True) from None
            code = "VOICE_TIMEOUT" if error.late else "VOICE_BAD_ANSWER"
            raise VoiceFailed(code, f"the voice app: {error}", may_have_rung=True) from None


def _object_of(answer: Answered) -> dict[str, Any]:
    try:
        told = json.loads(answer.body)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise VoiceFailed("VOICE_BAD_ANSWER", "the voice app's answer is no JSON object", may_have_rung=True)
    return cast("dict[str, Any]", told)
