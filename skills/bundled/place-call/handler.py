"""place_call: one call through the voice app; its answer handed through, or an error and no callId."""

from typing import Any

MOST_WORDS = 49


async def check(params: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        await context.voice.ready()
    except context.CallRefused as error:
        return failed(error)
    return {"success": True}


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        told = await context.voice.place_call(**{**params, "mode": params.get("mode") or "announce"})
    except context.CallRefused as error:
        return failed(error)
    words = len(params["message"].split())
    long = f"The message has {words} words; under 50 are fit for the ear." if words > MOST_WORDS else None
    return {
        "success": True,
        "result": told,
        "message": f"The call was placed; the voice app says {told.get('status') or 'nothing of its status'}.",
        "warnings": [long] if long else [],
    }


def failed(error: Any) -> dict[str, Any]:
    """An error as its own outcome, without a call's id."""
    unheard = error.code in ("VOICE_TIMEOUT", "VOICE_BAD_ANSWER")
    what = "It is not known whether the call was placed." if unheard else "I could not place the call."
    return {
        "success": False,
        "result": {"error": error.message},
        "error": {"code": error.code, "message": error.message},
        "message": f"{what} The result goes to the primary channel alone.",
    }
