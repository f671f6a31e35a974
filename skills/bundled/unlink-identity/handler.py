"""unlink_identity: one name less in the identity links."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    done = await context.identity.unlink(**params)
    message = f"{params['name']} is forgotten." if done["ok"] else f"Nothing was linked to {params['name']}."
    return {"success": True, "result": done, "message": message}
