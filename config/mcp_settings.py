"""The settings of the tool gateway."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from pydantic_settings import BaseSettings

from config.durations import Duration
from config.names import Names


class McpSettings(BaseSettings):
    """What ``Settings`` has for tool servers, approvals and secrets."""

    ask_first_expiry: Duration = Field(
        default=timedelta(minutes=30),
        ge=timedelta(seconds=10),
        le=timedelta(days=30),
        description="How long a tool call waits for an approval.",
    )
    oauth_state_lifetime: Duration = Field(
        default=timedelta(minutes=10),
        ge=timedelta(minutes=1),
        le=timedelta(hours=1),
        description="From the start of a sign-in to its callback.",
    )
    open_calls_per_user: int = Field(
        default=2_000, ge=1, le=100_000, description="Tool calls of one user that may wait or run at once."
    )
    mcp_probe_every: Duration = Field(
        default=timedelta(minutes=5),
        ge=timedelta(seconds=30),
        le=timedelta(days=1),
        description="Between probes of a tool server.",
    )
    mcp_conversation_idle: Duration = Field(
        default=timedelta(minutes=5),
        ge=timedelta(seconds=1),
        le=timedelta(hours=1),
        description="How long a local tool server, or a session with a tool server, is kept for the next call.",
    )
    mcp_allow_private_addresses: bool = Field(
        default=False,
        description="Let tool servers and their sign-in be on this machine or network, and without TLS.",
    )
    mcp_local_programs: Names = Field(
        default=(),
        description="Programs that may be registered as local tool servers, with commas between them. Who registers "
        "one chooses its arguments: name no interpreter, shell or package runner.",
    )
    mcp_local_environment: Names = Field(
        default=(),
        description="Variables of the worker that local tool servers may be given, with commas between them.",
    )
    ask_first_webhook_url: str | None = Field(
        default=None, description="Is told of every call that waits for an approval."
    )
    ask_first_webhook_secret_ref: str | None = Field(
        default=None,
        description="Where the key is that signs what the webhook is told: env:NAME or file:PATH.",
    )
    secret_key_source: Literal["auto", "keyring", "file"] = Field(
        default="auto", description="Where the key of the secret store is kept."
    )
    secret_key_service: Annotated[str, StringConstraints(min_length=1, max_length=120)] = Field(
        default="apprentice", description="The name of the key's entry in the system's keyring."
    )
