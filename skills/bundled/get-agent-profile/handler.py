"""get_agent_profile: one read of an agent."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    found = await context.profiles.get(agent_id=params["agent_id"])
    profile = found["profile"]
    message = f"{profile['name']} is {profile['status']}, with {profile['pending_tasks']} pending tasks."
    if not found["stale"]:
        return {"success": True, "result": profile, "message": message}
    return {
        "success": True,
        "status": "partial",
        "result": {**profile, "stale": True},
        "message": f"When it was last read: {message}",
        "warnings": ["UNAVAILABLE: the agent could not be read now; this is the copy from before."],
    }
