"""update_agent_state: one atomic change of an agent."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        changed = await context.profiles.update(**params)
    except context.CallRefused as refused:
        if refused.code != "CONCURRENCY_ERROR":
            raise
        error = {"code": refused.code, "message": refused.message}
        return {"success": False, "error": error, "result": refused.details, "message": refused.message}
    profile = changed["profile"]
    return {
        "success": True,
        "result": {"success": True, "updated_profile": profile, "new_version": profile["version"]},
        "message": f"{profile['name']} is {profile['status']} now, at version {profile['version']}.",
    }
