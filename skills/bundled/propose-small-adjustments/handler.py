"""propose_small_adjustments: candidate goals for what failed, each with its reason and its events."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    most = params.pop("max_goals")
    failed: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for event in await context.memory.events(**params):
        data = event.get("data", {})
        if data.get("status") not in (None, "success"):
            failed.setdefault((event["skill_id"], data.get("error_code") or data["status"]), []).append(event)
    goals: list[dict[str, Any]] = []
    for (skill, code), events in sorted(failed.items(), key=lambda one: (-len(one[1]), one[0]))[:most]:
        times = "once" if len(events) == 1 else f"{len(events)} times"
        reason = (
            f"{skill} ended with {code} {times} since {events[0]['at'][:10]}; last: {events[-1]['summary']}"
        )
        goals.append(
            await context.memory.propose_goal(
                title=f"Find out why {skill} ends with {code}",
                reason=reason[:1000],
                event_ids=[one["event_id"] for one in events],
            )
        )
    words = (
        f"{len(goals)} suggestion(s); none is active."
        if goals
        else "Nothing failed; there is nothing to adjust."
    )
    return {"success": True, "result": {"goals": goals, "count": len(goals)}, "message": words}
