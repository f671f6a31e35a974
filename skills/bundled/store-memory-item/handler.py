"""store_memory_item: one memory in the memory's store."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    kept = await context.memory.store(**params)
    message = "Stored." if kept["created"] else "It was stored before; nothing was added."
    return {"success": True, "result": kept, "message": message}
