"""upsert_world_fact: one assertion in the memory's store."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    done = await context.memory.assert_fact(**params)
    fact = done["fact"]
    said = f"{fact['subject']} {fact['predicate']} {fact['object']}"[:300]
    if done["conflict"]:
        words = f"Kept: {said}. {len(done['conflicts'])} other fact(s) contradict it and were kept too."
    else:
        words = f"Kept: {said}." if done["created"] else f"It was known: {said}."
    result = {"fact_id": fact["fact_id"], "version": fact["version"], **done}
    return {"success": True, "result": result, "message": words}
