"""ask_clarifying_question: a question that waits in the user's inbox."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    told = await context.inbox.ask(**params)
    result = {"question_id": told["question_id"], "answered": told["answered"]}
    if not told["answered"]:
        words = "Nobody answered in time."
        return {"success": True, "status": "partial", "result": result, "message": words, "warnings": [words]}
    result |= {"answer": told["answer"], "answered_at": told["answered_at"]}
    return {"success": True, "result": result, "message": told["answer"][:900]}
