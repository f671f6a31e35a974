"""link_identity: one change of the identity links."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        linked = await context.identity.link(**params)
    except context.CallRefused as error:
        return {
            "success": False,
            "result": {"error": error.message},
            "error": {"code": error.code, "message": error.message},
            "message": "I could not remember this caller.",
        }
    return {"success": True, "result": linked, "message": f"I will know {params['name']} next time."}
