"""Settings of what skills reach outside: the operator, calendars, the phone, the file of identities."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from config.safety import checked_key_reference, checked_origin

OPEN_VARIABLES = {"OPENCLAW_GATEWAY_URL": "openclaw_gateway_url", "OPERATOR_NAME": "operator_name"}
"""Environment variables of OpenClaw that count where ours are not set (000 L218-222)."""

GATEWAY_TOKEN_VARIABLE = "OPENCLAW_GATEWAY_TOKEN"  # noqa: S105 - its name
"""Where the gateway's token is, if no file is named."""


class OutsideSettings(BaseSettings):
    """What ``Settings`` has for the outside services of skills."""

    operator_name: str = Field(
        default="the operator", max_length=120, description="What skills call whoever runs this installation."
    )
    operator_telegram_id: str | None = Field(
        default=None, max_length=120, description="Where the gateway reaches the operator."
    )
    openclaw_gateway_url: str | None = Field(
        default=None, description="The OpenClaw gateway; /v1/chat/completions is appended."
    )
    openclaw_gateway_token_file: Path | None = Field(
        default=None, description="A file whose content is the gateway's token."
    )
    message_channel: Literal["gateway", "smtp", "webhook"] | None = Field(
        default=None,
        description="How messages reach the operator; by default the first of these that is configured.",
    )
    message_webhook_url: str | None = Field(
        default=None, description="Where messages for the operator are posted, if by webhook."
    )
    message_webhook_secret_ref: str | None = Field(
        default=None, description="Where the key is that signs them: env:NAME or file:PATH."
    )
    smtp_host: str | None = Field(default=None, description="The mail server, if messages go by mail.")
    smtp_port: int = Field(default=587, ge=1, le=65_535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="How the connection to it is kept private."
    )
    smtp_user: str | None = Field(default=None, max_length=320, description="Who signs in there.")
    smtp_password_ref: str | None = Field(
        default=None, description="Where the password is: env:NAME or file:PATH."
    )
    smtp_sender: str | None = Field(
        default=None, max_length=320, description="The address messages come from."
    )
    smtp_recipient: str | None = Field(
        default=None, max_length=320, description="The operator's address; nothing a caller says changes it."
    )

    calendar_file: Path | None = Field(
        default=None,
        description="The operator's primary calendar (iCalendar); every other .ics beside it is one by its name. "
        "By default calendars/primary.ics in the data directory.",
    )
    calendar_url: str | None = Field(
        default=None, description="The CalDAV collection of the primary calendar, instead of a file."
    )
    calendar_user: str | None = Field(default=None, max_length=320, description="Who signs in there.")
    calendar_password_ref: str | None = Field(
        default=None, description="Where the password is: env:NAME or file:PATH."
    )
    voice_app_url: str | None = Field(
        default=None, description="The voice app that places calls; /api/outbound-call is appended."
    )
    openclaw_config: Path | None = Field(
        default=None,
        description="The openclaw.json whose session.identityLinks is kept; by default the one in the data directory.",
    )

    @field_validator("openclaw_gateway_url", "message_webhook_url", "calendar_url", "voice_app_url")
    @classmethod
    def _outside_address(cls, value: str | None) -> str | None:
        return checked_origin(value)

    @field_validator("message_webhook_secret_ref", "smtp_password_ref", "calendar_password_ref")
    @classmethod
    def _outside_key(cls, value: str | None) -> str | None:
        return checked_key_reference(value)

    @field_validator("smtp_sender", "smtp_recipient")
    @classmethod
    def _mail_address(cls, value: str | None) -> str | None:
        if value is not None and ("@" not in value or any(c.isspace() or c in ",;<>" for c in value)):
            raise ValueError("write one mail address such as olga@example.org")
        return value


def open_variables() -> dict[str, str]:
    """The settings that OpenClaw's own environment variables give."""
    return {field: value for name, field in OPEN_VARIABLES.items() if (value := os.environ.get(name))}
