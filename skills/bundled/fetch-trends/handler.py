"""fetch_trends: one question to the feeds of a platform."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    found = await context.feeds.trends(
        platform=params["platform"],
        limit=params["limit"],
        window=params["timeWindow"],
        min_engagement=params["minEngagement"],
        exclude=params.get("excludeTopics", []),
    )
    trends = found["trends"]
    result = {
        "trends": trends,
        "fetched_at": found["fetched_at"],
        "platform": params["platform"],
        "count": len(trends),
        "truncated": found["truncated"],
    }
    answer = {
        "success": True,
        "result": result,
        "message": f"{len(trends)} trends of {params['platform']}.",
        "warnings": found["warnings"],
    }
    # An answer of which a part is missing is not kept for the next who asks.
    return {**answer, "status": "partial"} if found["malformed"] else answer
