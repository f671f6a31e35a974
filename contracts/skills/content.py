"""What content skills take and give: trends, personas, content packages (O-1). Of received ones little is required."""

from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import Field, StringConstraints, model_validator

from contracts.base import Contract, Text80, Text120, Text200, Text500, Text1000, UtcTime, Uuid

PLATFORMS = ("twitter", "tiktok", "instagram", "youtube")
"""Where content is published (002 L239)."""

CONTENT_TYPES = ("video_script", "carousel", "single_post", "thread")

Text10000 = Annotated[str, StringConstraints(max_length=10_000)]
Text2200 = Annotated[str, StringConstraints(max_length=2_200)]
Url = Annotated[str, StringConstraints(max_length=2_000)]


class Trend(Contract):
    """A trend as a skill receives it; sources differ, so what else one says of it is passed over."""

    topic: Text200
    engagement_score: int = Field(ge=0)
    trend_id: Text120 | None = None
    summary: Text1000 | None = None
    hashtags: tuple[Text120, ...] = Field(default=(), max_length=30)
    url: Url | None = None

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        fields = cast("Mapping[str, Any]", given)
        return {name: value for name, value in fields.items() if name in cls.model_fields}


class Persona(Contract):
    """Who speaks."""

    name: Text120
    voice: Text500
    persona_id: Text120 | None = None
    tone: Text120 | None = None
    language: Text80 = "en"
    audience: Text200 | None = None
    topics: tuple[Text120, ...] = Field(default=(), max_length=50)
    banned_words: tuple[Text120, ...] = Field(default=(), max_length=200)


class ContentPackage(Contract):
    """A piece of content."""

    content_id: Uuid
    script: Text10000
    platform: Text80 | None = None
    content_type: Text80 | None = None
    captions: tuple[Text2200, ...] = Field(default=(), max_length=20)
    hashtags: tuple[Text120, ...] = Field(default=(), max_length=30)
    media_urls: tuple[Url, ...] = Field(default=(), max_length=10)
    persona_id: Text120 | None = None
    trend_id: Text120 | None = None
    confidence_score: float | None = Field(default=None, ge=0, le=1)
    created_at: UtcTime | None = None


class WrittenContent(Contract):
    """The text of a piece of content, as somebody or a model wrote it."""

    script: Text10000 = Field(min_length=1)
    captions: tuple[Text2200, ...] = Field(default=(), max_length=20)
    hashtags: tuple[Text120, ...] = Field(default=(), max_length=30)


class ContentIssue(Contract):
    """One thing that a check of content found."""

    rule: Text80
    severity: Annotated[str, StringConstraints(pattern="^(error|warning|info)$")]
    message: Text500
