"""Settings of the skills that find, write, judge and publish content: feeds, models, publisher."""

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings


class ContentSettings(BaseSettings):
    """What ``Settings`` has for the content skills."""

    trend_sources: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Platform → addresses of its feeds, asked in this order until one answers.",
    )
    trend_requests_per_hour: int = Field(
        default=100, ge=1, le=100_000, description="How often one feed may be asked within an hour."
    )

    @field_validator("trend_sources")
    @classmethod
    def _feeds(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for address in (one for addresses in value.values() for one in addresses):
            if not address.startswith(("http://", "https://")):
                raise ValueError("write addresses of feeds that begin with http:// or https://")
        return value
