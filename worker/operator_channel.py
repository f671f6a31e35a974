"""How messages of skills reach the operator, by the settings alone (AM-21)."""

import os
from functools import partial
from pathlib import Path

from clients.platform.key_reference import KeyUnavailable, read_api_key
from clients.platform.webhook import Webhook
from clients.skills.operator_channels import (
    MailChannel,
    MailSettings,
    OpenClawGateway,
    OperatorChannel,
    WebhookChannel,
)
from config.outside_settings import GATEWAY_TOKEN_VARIABLE
from config.settings import Settings


def openclaw_gateway(settings: Settings) -> OpenClawGateway | None:
    """The OpenClaw gateway, if one is configured; its token is read at each use."""
    if settings.openclaw_gateway_url is None:
        return None
    token = partial(gateway_token, settings)
    return OpenClawGateway(settings.openclaw_gateway_url, token, settings.operator_telegram_id)


def gateway_token(settings: Settings) -> str | None:
    """The gateway's token, if there is one: from the configured file, else from OpenClaw's own variable.

    Raises:
        KeyUnavailable: the file cannot be read, or the variable holds no key.
    """
    if settings.openclaw_gateway_token_file is not None:
        return _in_file(settings.openclaw_gateway_token_file)
    given = os.environ.get(GATEWAY_TOKEN_VARIABLE)
    return read_api_key(f"env:{GATEWAY_TOKEN_VARIABLE}") if given else None


def _in_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyUnavailable(f"the file {path} cannot be read ({type(error).__name__})") from None


def operator_channel(settings: Settings, gateway: OpenClawGateway | None) -> OperatorChannel | None:
    """The configured way to the operator: the one that is named, else the first that there is."""
    ways: dict[str, OperatorChannel | None] = {
        "gateway": gateway,
        "smtp": _mail(settings),
        "webhook": _webhook(settings),
    }
    if settings.message_channel is not None:
        return ways[settings.message_channel]
    return next((way for way in ways.values() if way is not None), None)


def _mail(settings: Settings) -> MailChannel | None:
    if settings.smtp_host is None or settings.smtp_recipient is None:
        return None
    reference = settings.smtp_password_ref
    return MailChannel(
        MailSettings(
            host=settings.smtp_host,
            port=settings.smtp_port,
            security=settings.smtp_security,
            sender=settings.smtp_sender or settings.smtp_recipient,
            recipient=settings.smtp_recipient,
            user=settings.smtp_user,
            password=partial(read_api_key, reference) if reference is not None else None,
        )
    )


def _webhook(settings: Settings) -> WebhookChannel | None:
    if settings.message_webhook_url is None:
        return None
    return WebhookChannel(Webhook(settings.message_webhook_url, settings.message_webhook_secret_ref))
