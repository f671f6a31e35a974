"""schedule_check_in: a timer that ends in the user's inbox."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    kept = await context.inbox.schedule(**params)
    return {"success": True, "result": kept, "message": f"It arrives in the inbox at {kept['due_at']}."}
