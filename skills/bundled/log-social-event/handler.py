"""log_social_event: event, memory and fact in one transaction of the memory's store."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    logged = await context.memory.log_social(**params)
    message = "Written." if logged["created"] else "It was written before; nothing was added."
    if logged["fact"] is None:
        logged.pop("fact")
    event = {"kind": params.get("kind", "social"), "event_id": logged["event_id"]}
    return {"success": True, "result": logged, "message": message, "observables": {"events": [event]}}
