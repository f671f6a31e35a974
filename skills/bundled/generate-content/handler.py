"""generate_content: text, then media; what of the media is missing is said, and the text is given all the same."""

import time
import uuid
from datetime import UTC, datetime
from typing import Any

SPACE = uuid.UUID("6d1f6f0a-6a1c-5b0e-9f6e-3f1b2c7d8e90")
WITHOUT_MEDIA = 0.1


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    began = time.monotonic()
    trend, persona = params["trend"], params["persona"]
    written = await context.model.write(
        trend=_without_none(trend),
        persona=_without_none(persona),
        platform=params["platform"],
        content_type=params["content_type"],
    )
    warnings, confidence = list(written["warnings"]), written["confidence_score"]
    partial = written["late"]
    content: dict[str, Any] = {
        "content_id": str(uuid.uuid5(SPACE, context.invocation_id)),
        "platform": params["platform"],
        "content_type": params["content_type"],
        "script": written["script"],
        "captions": written["captions"],
        "hashtags": written["hashtags"],
        "media_urls": [],
        "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
    }
    for name, source in (("persona_id", persona), ("trend_id", trend)):
        if source.get(name):
            content[name] = source[name]
    message = f"Wrote a {params['content_type'].replace('_', ' ')} for {params['platform']}."
    if params["media_generation"]:
        kind = "video" if params["content_type"] == "video_script" else "image"
        try:
            made = await context.media.make(
                kind=kind, title=trend["topic"], words=written["captions"][:4], platform=params["platform"]
            )
            content["media_urls"] = made["media_urls"]
            if made["made_by"] == "card":
                message += " Its picture is a card of its words, as no tool for pictures is connected."
        except context.CallRefused as refused:
            if refused.code != "MEDIA_GENERATION_FAILED":
                raise
            partial, confidence = True, max(confidence - WITHOUT_MEDIA, 0)
            warnings.append(f"{refused.code}: {refused.message}"[:240])
    content["confidence_score"] = round(confidence, 2)
    return {
        "success": True,
        "status": "partial" if partial else "success",
        "result": {
            "content": content,
            "generation_time_ms": round((time.monotonic() - began) * 1000),
            "model_used": written["model_used"],
            "confidence_score": content["confidence_score"],
        },
        "message": message,
        "warnings": [one[:240] for one in warnings],
    }


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if one is not None}
