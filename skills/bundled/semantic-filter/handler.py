"""semantic_filter: scores in batches, four at once; what is whole in time is given."""

import asyncio
from datetime import UTC, datetime
from typing import Any

BATCH, AT_ONCE, WITHIN_SECONDS = 100, 4, 8.5


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    trends, goals, model = params["trends"], params["campaign_goals"], params["model"]
    batches = [trends[at : at + BATCH] for at in range(0, len(trends), BATCH)]
    places = asyncio.Semaphore(AT_ONCE)

    async def scored(batch: list[dict[str, Any]]) -> dict[str, Any]:
        async with places:
            known = [_known(one) for one in batch]
            return await context.model.score(trends=known, goals=goals, model=model)

    tasks = [asyncio.ensure_future(scored(batch)) for batch in batches]
    await asyncio.wait(tasks, timeout=WITHIN_SECONDS)
    done: list[dict[str, Any]] = []
    warnings: list[str] = []
    late = False
    for task in tasks:
        # Up to the last whole batch: what comes after a batch that is missing is not given.
        if not task.done():
            late = True
            break
        try:
            done.append(task.result())
        except context.CallRefused as refused:
            if refused.code != "FILTER_TIMEOUT":
                raise
            late = True
            break
    for task in tasks:
        task.cancel()
    if late and not done:
        raise context.error("FILTER_TIMEOUT", "No batch was scored in time; ask with fewer trends.")
    scores = [one for batch in done for one in batch["scores"]]
    for batch in done:
        warnings += [one for one in batch["warnings"] if one not in warnings]
    filtered = [
        {"trend": trend, **score}
        for trend, score in zip(trends, scores, strict=False)
        if score["relevance_score"] >= params["relevance_threshold"]
    ]
    if late:
        warnings.append(f"FILTER_TIMEOUT: {len(scores)} of {len(trends)} trends were scored.")
    return {
        "success": True,
        "status": "partial" if late else "success",
        "result": {
            "filtered_trends": filtered,
            "total_input": len(trends),
            "total_output": len(filtered),
            "filtered_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "model_used": done[0]["model_used"],
        },
        "message": f"{len(filtered)} of {len(trends)} trends fit the goals.",
        "warnings": warnings,
    }


def _known(trend: dict[str, Any]) -> dict[str, Any]:
    """What a score depends on."""
    names = ("topic", "engagement_score", "trend_id", "summary", "hashtags", "url")
    return {name: trend[name] for name in names if trend.get(name) is not None}
