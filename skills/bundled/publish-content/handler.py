"""publish_content: one publication of an approved content."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    done = await context.publisher.publish(**params)
    platform, warnings = done["platform"], done["warnings"]
    if done["published"]:
        if done["duplicate"]:
            warnings.append(
                f"DUPLICATE_CONTENT: it was published before, as {done['post']['post_id']}."[:240]
            )
        result = {"success": True, "platform": platform, **done["post"]}
        words = (
            f"It was published on {platform} before." if done["duplicate"] else f"Published on {platform}."
        )
        return {"success": True, "result": result, "message": words, "warnings": warnings}
    return {
        "success": True,
        "status": "partial",
        "result": {"success": False, "platform": platform, "path": done["path"]},
        "message": "It is kept in the outbox, and not published: no publisher is configured.",
        "warnings": [*warnings, f"NOT_PUBLISHED: it is kept in {done['path']}"[:240]],
    }
