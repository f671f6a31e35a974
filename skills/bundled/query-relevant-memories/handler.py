"""query_relevant_memories: a search of the memory's store."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    found = await context.memory.query(**params)
    message = f"Found {len(found)}." if found else "Nothing is remembered that fits."
    return {"success": True, "result": {"memories": found, "count": len(found)}, "message": message}
