"""register_openclaw_profile: one registration of one agent."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    entry = await context.directory.register(agent_profile=params["agent_profile"])
    warnings = entry.pop("warnings")
    name = params["agent_profile"]["name"]
    if entry["registered"]:
        return {"success": True, "result": entry, "message": f"{name} is registered.", "warnings": warnings}
    return {
        "success": True,
        "status": "partial",
        "result": entry,
        "message": f"{name} is not registered, and goes on without.",
        "warnings": warnings,
    }
