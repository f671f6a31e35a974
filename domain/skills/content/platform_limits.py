"""What platforms take: lengths and numbers, as they stood when this was written; data, to be kept up to date (O-20)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlatformLimits:
    """The most of each that a post may have."""

    caption_chars: int
    hashtags: int
    media: int
    script_chars: int = 10_000


LIMITS: dict[str, PlatformLimits] = {
    "twitter": PlatformLimits(caption_chars=280, hashtags=10, media=4),
    "tiktok": PlatformLimits(caption_chars=2_200, hashtags=30, media=10),
    "instagram": PlatformLimits(caption_chars=2_200, hashtags=30, media=10),
    "youtube": PlatformLimits(caption_chars=2_200, hashtags=15, media=1),
}
