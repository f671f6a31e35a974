"""Writes content from a trend and a persona by templates: the same input gives the same text (CH-25, O-17).

It invents nothing: what stands in a post is in the trend or the persona. Its sentences are English, whatever language
the persona has; who wants more configures a model.
"""

import re

from contracts.base import clipped
from contracts.skills.content import Persona, Trend, WrittenContent
from domain.skills.content.platform_limits import LIMITS

LOCAL_MODEL = "local-template"
"""What ``model_used`` says of content that was written here."""

MOST_HASHTAGS = 5

_WORD = re.compile(r"[^\W_]+")


def write_content(
    trend: Trend, persona: Persona, platform: str, content_type: str, *, safely: bool
) -> WrittenContent:
    """The text of a piece of content; ``safely`` leaves the trend's summary and the persona's voice out."""
    summary = "" if safely else (trend.summary or "").strip()
    about = f" for {persona.audience}" if persona.audience and not safely else ""
    voice = "" if safely else clipped(persona.voice, 120)
    opening = f"{trend.topic}: what is it about{about}?"
    fact = summary or f"People talk about {trend.topic} now."
    source = f"Source: {trend.url}" if trend.url else ""
    closing = f"I am {persona.name}. What do you think?"
    tags = _hashtags(trend, persona, platform)
    limit = LIMITS[platform].caption_chars
    parts = [part for part in (opening, fact, source, closing) if part]
    match content_type:
        case "video_script":
            spoken = f"(spoken {persona.tone or 'plainly'}{f'; {voice}' if voice else ''})"
            script = "\n".join([f"HOOK: {opening}", spoken, f"POINT: {fact}", *([source] if source else []),
                                f"CLOSE: {closing}"])  # fmt: skip
            captions = (_fit(opening, tags, limit),)
        case "carousel":
            slides = [opening, fact, *([source] if source else []), f"Seen by {trend.engagement_score} people or more.",
                      closing]  # fmt: skip
            script = "\n".join(f"SLIDE {number}: {text}" for number, text in enumerate(slides, start=1))
            captions = tuple(clipped(text, limit) for text in slides)
        case "thread":
            script = "\n".join(f"{number}/{len(parts)} {text}" for number, text in enumerate(parts, start=1))
            captions = tuple(
                clipped(f"{number}/{len(parts)} {text}", limit) for number, text in enumerate(parts, start=1)
            )
        case _:
            script = " ".join(parts)
            captions = (_fit(" ".join(parts), tags, limit),)
    return WrittenContent(script=clipped(script, 10_000), captions=captions, hashtags=tags)


def _fit(text: str, tags: tuple[str, ...], limit: int) -> str:
    """The text and as many of the hashtags as there is room for."""
    short = clipped(text, limit)
    for tag in tags:
        longer = f"{short} #{tag}"
        if len(longer) > limit:
            break
        short = longer
    return short


def _hashtags(trend: Trend, persona: Persona, platform: str) -> tuple[str, ...]:
    words = ["".join(part.title() for part in _WORD.findall(one)) for one in (trend.topic, *persona.topics)]
    given = ["".join(_WORD.findall(one)) for one in trend.hashtags]
    tags = [tag[:60] for tag in (*given, *words) if tag]
    return tuple(dict.fromkeys(tags))[: min(MOST_HASHTAGS, LIMITS[platform].hashtags)]
