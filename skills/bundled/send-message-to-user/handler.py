"""send_message_to_user: one item in the user's inbox."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    told = await context.inbox.tell(message=params["message"])
    return {"success": True, "result": told, "message": "It is in the inbox of the console."}
