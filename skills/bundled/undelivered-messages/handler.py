"""undelivered_messages: what waits in the outbox, and one more attempt at it."""

from typing import Any


async def check(params: dict[str, Any], context: Any) -> dict[str, Any]:
    if params["action"] == "retry" and not params.get("message_id"):
        return {
            "success": False,
            "error": {"code": "INVALID_INPUT", "message": "message_id: required to retry"},
            "message": "Which message? `list` names them.",
        }
    return {"success": True}


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    if params["action"] == "list":
        found = await context.outbox.undelivered()
        words = f"{len(found)} waiting." if found else "Every message was delivered."
        return {"success": True, "result": {"messages": found}, "message": words}
    if (refused := await check(params, context))["success"] is False:
        return refused
    tried = await context.outbox.retry(
        message_id=params["message_id"], although_unknown=params.get("although_unknown", False)
    )
    delivered = tried["state"] == "delivered"
    return {
        "success": True,
        "result": {"messages": [tried], "delivered": delivered},
        "message": "It was delivered." if delivered else f"It was not delivered; it is {tried['state']}.",
        "warnings": [] if delivered else [f"DELIVERY_FAILED: {tried.get('error', 'it waits')}"],
    }
