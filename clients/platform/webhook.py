"""Webhook client: posts signed JSON notices to one configured address."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping

import httpx

from clients.platform.json_post import RequestFailed, request_once
from clients.platform.key_reference import read_api_key

WITHIN_SECONDS = 10.0

SIGNATURE = "X-Apprentice-Signature"
"""``t=<unix seconds>,v1=<HMAC-SHA256 of "<t>.<body>" in hex>``."""

DELIVERY = "X-Apprentice-Delivery"
"""Id of the notice; a repeated delivery carries the same one."""


class WebhookFailed(Exception):
    """The notice was not accepted; the text holds nothing from the response.

    ``may_have_arrived`` says that there was no answer although it may have been taken.
    """

    def __init__(self, text: str, *, may_have_arrived: bool = False) -> None:
        super().__init__(text)
        self.may_have_arrived = may_have_arrived


class Webhook:
    """One address and the reference of the key that signs notices to it."""

    def __init__(
        self,
        url: str,
        secret_ref: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``secret_ref`` is ``env:NAME`` or ``file:PATH``; it is read at each notice."""
        self._url = url
        self._secret_ref = secret_ref
        self._transport = transport
        self._clock = clock

    async def post(self, notice: Mapping[str, object], *, delivery_id: str) -> None:
        """Posts one notice; redirects are not followed.

        Raises:
            WebhookFailed: no answer, or a status other than 2xx.
            KeyUnavailable: there is no key where the reference points.
        """
        body = json.dumps(notice, sort_keys=True, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json", DELIVERY: delivery_id}
        if self._secret_ref is not None:
            headers[SIGNATURE] = signature(read_api_key(self._secret_ref), int(self._clock()), body)
        try:
            answer = await request_once(
                "POST",
                self._url,
                body=body,
                headers=headers,
                within_seconds=WITHIN_SECONDS,
                transport=self._transport,
            )
        except RequestFailed as error:
            raise WebhookFailed(f"the webhook: {error}", may_have_arrived=error.may_have_arrived) from None
        if not answer.accepted:
            raise WebhookFailed(f"the webhook answered {answer.status}")


def signature(key: str, at: int, body: bytes) -> str:
    """Value of the signature header for a body sent ``at`` (unix seconds)."""
    digest = hmac.new(key.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"
