"""Settings of the skills that find, write, judge and publish content: feeds, models, publisher."""

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from config.safety import checked_key_reference, checked_model_address

MEDIA_KINDS = frozenset({"image", "video"})


class ContentSettings(BaseSettings):
    """What ``Settings`` has for the content skills."""

    trend_sources: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Platform → addresses of its feeds, asked in this order until one answers. The resource of a tool "
        "server (MCP) is `mcp+https://host/mcp#URI`.",
    )
    trend_requests_per_hour: int = Field(
        default=100, ge=1, le=100_000, description="How often one feed may be asked within an hour."
    )

    skill_models: dict[str, str] = Field(
        default_factory=dict,
        description="Model → its OpenAI-compatible API, such as https://host/v1; without one, rules and templates.",
    )
    skill_model_key_refs: dict[str, str] = Field(
        default_factory=dict, description="Model → where its key is: env:NAME, or file:PATH (mode 0600)."
    )

    media_servers: dict[str, str] = Field(
        default_factory=dict,
        description="Tool servers (MCP) that make media: image → one with ideogram, video → one with runwayml.",
    )

    @field_validator("media_servers")
    @classmethod
    def _media(cls, value: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(value.keys() - MEDIA_KINDS):
            raise ValueError(f"there is no medium {unknown[0]}: write image or video")
        return {kind: checked_model_address(address) or address for kind, address in value.items()}

    publisher_url: str | None = Field(
        default=None, description="Where approved content is published; without it, it is kept in the outbox."
    )
    publisher_key_ref: str | None = Field(
        default=None, description="Where the publisher's key is: env:NAME, or file:PATH (mode 0600)."
    )

    register_agents_on_start: bool = Field(
        default=False, description="Register every agent at the OpenClaw directory when a worker starts."
    )

    @field_validator("publisher_url")
    @classmethod
    def _publisher(cls, value: str | None) -> str | None:
        return checked_model_address(value)

    @field_validator("publisher_key_ref")
    @classmethod
    def _publisher_key(cls, value: str | None) -> str | None:
        return checked_key_reference(value)

    @field_validator("skill_models")
    @classmethod
    def _models(cls, value: dict[str, str]) -> dict[str, str]:
        return {name: checked_model_address(address) or address for name, address in value.items()}

    @field_validator("skill_model_key_refs")
    @classmethod
    def _keys(cls, value: dict[str, str]) -> dict[str, str]:
        for reference in value.values():
            checked_key_reference(reference)
        return value

    @field_validator("trend_sources")
    @classmethod
    def _feeds(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for address in (one for addresses in value.values() for one in addresses):
            if address.startswith(("mcp+http://", "mcp+https://")):
                if not address.partition("#")[2]:
                    raise ValueError("write the resource of a tool server as mcp+https://host/mcp#URI")
            elif not address.startswith(("http://", "https://")):
                raise ValueError("write addresses of feeds that begin with http:// or https://")
        return value
