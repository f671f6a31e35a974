"""call_status: one look at a call."""

from typing import Any

ENDED = frozenset(
    {"completed", "ended", "hangup", "failed", "busy", "no-answer", "no_answer", "cancelled", "canceled"}
)


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    status = (await context.voice.status(call_id=params["callId"]))["status"]
    known = status or "unknown"
    over = known.lower() in ENDED
    return {
        "success": True,
        "result": {"callId": params["callId"], "status": known, "ended": over},
        "message": f"The call is {known}." if status else "The voice app does not tell how the call stands.",
    }
