"""Ways to reach the operator: the OpenClaw gateway, mail, a webhook (AM-21, AM-45). The recipient is configured.

Each delivers one text, once. What fails says whether it may have arrived all the same (X-14).
"""

import asyncio
import json
import smtplib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any, Literal, Protocol

from clients.platform.json_post import RequestFailed, request_once
from clients.platform.key_reference import KeyUnavailable
from clients.platform.webhook import Webhook, WebhookFailed

GATEWAY_WITHIN_SECONDS = 4.0
"""Shorter than the 5 s of send-message, so that a slow gateway is told apart from a slow handler."""

_MAYBE_TAKEN = frozenset({408, 504})
"""Statuses of a far side, or of one before it, that gave up waiting: what was sent may have been taken."""


class NotDelivered(Exception):
    """The message was not delivered; the text holds nothing of it. ``may_have_arrived`` leaves it open."""

    def __init__(self, text: str, *, may_have_arrived: bool = False) -> None:
        super().__init__(text)
        self.may_have_arrived = may_have_arrived


class OperatorChannel(Protocol):
    """One way to the operator."""

    @property
    def name(self) -> str:
        """As the call log names it."""
        ...

    async def deliver(self, message_id: str, text: str) -> None:
        """Delivers a text; ``message_id`` stays the same when it is tried again.

        Raises:
            NotDelivered: with whether it may have arrived.
        """
        ...


class OpenClawGateway:
    """The OpenClaw gateway's OpenAI-compatible route; neither address nor token is ever seen by a handler (AM-20)."""

    name = "openclaw_gateway"

    def __init__(self, url: str, token: Callable[[], str | None], telegram_id: str | None = None) -> None:
        """``token`` is read at each use."""
        self._url = url.rstrip("/") + "/v1/chat/completions"
        self._token = token
        self._telegram_id = telegram_id

    async def deliver(self, message_id: str, text: str) -> None:
        """Has the gateway pass a text on to the operator."""
        recipient: dict[str, Any] = {"user": self._telegram_id} if self._telegram_id else {}
        payload = {
            "model": "openclaw",
            "messages": [
                {"role": "system", "content": "Pass the user's message on to the operator, word for word."},
                {"role": "user", "content": text},
            ],
            **recipient,
        }
        await self.post(payload, message_id)

    async def post(self, payload: dict[str, Any], key: str) -> Any:
        """Posts a payload under a key; the gateway's answer as JSON, or as text where it is none.

        Raises:
            NotDelivered: with whether it may have arrived.
        """
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            token = self._token()
        except KeyUnavailable as error:
            raise NotDelivered(f"the gateway's token: {error}") from None
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            answer = await request_once(
                "POST",
                self._url,
                body=json.dumps(payload).encode(),
                headers=headers,
                within_seconds=GATEWAY_WITHIN_SECONDS,
            )
        except RequestFailed as error:
            raise NotDelivered(f"the gateway: {error}", may_have_arrived=error.may_have_arrived) from None
        if not answer.accepted:
            maybe = answer.status in _MAYBE_TAKEN
            raise NotDelivered(f"the gateway answered {answer.status}", may_have_arrived=maybe)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            return answer.body.decode(errors="replace")


class WebhookChannel:
    """Signed notices to one address."""

    name = "webhook"

    def __init__(self, webhook: Webhook) -> None:
        self._webhook = webhook

    async def deliver(self, message_id: str, text: str) -> None:
        """Posts ``{"type": "operator.message", "message_id", "text"}``."""
        try:
            notice = {"type": "operator.message", "message_id": message_id, "text": text}
            await self._webhook.post(notice, delivery_id=message_id)
        except WebhookFailed as error:
            raise NotDelivered(str(error), may_have_arrived=error.may_have_arrived) from None
        except KeyUnavailable as error:
            raise NotDelivered(f"the webhook's key: {error}") from None


@dataclass(frozen=True)
class MailSettings:
    """A mail server, and the two addresses of every message."""

    host: str
    port: int
    security: Literal["starttls", "tls", "none"]
    sender: str
    recipient: str
    user: str | None = None
    password: Callable[[], str] | None = None
    within_seconds: float = 4.0


class MailChannel:
    """Mail by SMTP. Nothing of the text reaches a header."""

    name = "smtp"

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings

    async def deliver(self, message_id: str, text: str) -> None:
        """Sends one mail; its Message-ID is made of ``message_id``."""
        await asyncio.to_thread(self._send, message_id, text)

    def _send(self, message_id: str, text: str) -> None:
        try:
            server = self._signed_in()
        except KeyUnavailable as error:
            raise NotDelivered(f"the mail server's password: {error}") from None
        except (OSError, smtplib.SMTPException) as error:
            raise NotDelivered(f"the mail server: {type(error).__name__}") from None
        try:
            server.send_message(self._mail(message_id, text))
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            raise NotDelivered(f"the mail server refused it ({type(error).__name__})") from None
        except (OSError, smtplib.SMTPException) as error:
            text = f"the connection to the mail server broke ({type(error).__name__})"
            raise NotDelivered(text, may_have_arrived=True) from None
        finally:
            server.close()

    def _signed_in(self) -> smtplib.SMTP:
        asked = self._settings
        kind = smtplib.SMTP_SSL if asked.security == "tls" else smtplib.SMTP
        server = kind(asked.host, asked.port, timeout=asked.within_seconds)
        try:
            if asked.security == "starttls":
                server.starttls()
            if asked.user is not None and asked.password is not None:
                server.login(asked.user, asked.password())
        except BaseException:
            server.close()
            raise
        return server

    def _mail(self, message_id: str, text: str) -> EmailMessage:
        mail = EmailMessage()
        mail["From"] = self._settings.sender
        mail["To"] = self._settings.recipient
        mail["Subject"] = "A message from a call"
        mail["Date"] = format_datetime(datetime.now(UTC))
        mail["Message-ID"] = f"<{message_id}@apprentice.invalid>"
        mail.set_content(text)
        return mail
