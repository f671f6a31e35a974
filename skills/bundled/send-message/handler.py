"""send_message: logged first, then delivered to the operator; "noted" is said, never "sent"."""

from datetime import UTC, datetime
from typing import Any

LIMITS = {"message": 1000, "caller_name": 100, "callback_number": 20}
CONTROLS = dict.fromkeys(range(0x20))


def cleaned(params: dict[str, Any]) -> dict[str, str]:
    """The texts without control characters."""
    return {name: str(params.get(name) or "").translate(CONTROLS).strip() for name in LIMITS}


def refusal(texts: dict[str, str]) -> dict[str, Any] | None:
    """Why the message is not taken, if so."""
    if not texts["message"]:
        return {
            "success": False,
            "error": {"code": "INVALID_INPUT", "message": "Empty message"},
            "message": "I didn't catch a message to leave. Could you repeat that?",
        }
    for name, limit in LIMITS.items():
        if len(texts[name]) > limit:
            words = name.replace("_", " ")
            return {
                "success": False,
                "error": {"code": "INVALID_INPUT", "message": f"{name}: at most {limit} characters"},
                "message": f"That {words} is too long for me to note. Could you make it shorter?",
            }
    return None


def text_of(texts: dict[str, str], urgent: bool) -> str:
    """The message as the operator reads it."""
    lines = [
        f"{'🚨' if urgent else '📞'} Message from a call:",
        f"From: {texts['caller_name']}" if texts["caller_name"] else "",
        f"Callback: {texts['callback_number']}" if texts["callback_number"] else "",
        "Priority: URGENT" if urgent else "",
        texts["message"],
    ]
    return "\n".join(line for line in lines if line)


async def check(params: dict[str, Any], context: Any) -> dict[str, Any]:
    return refusal(cleaned(params)) or {"success": True}


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    texts = cleaned(params)
    if refused := refusal(texts):
        return refused
    urgent = params.get("urgency") == "urgent"
    await context.call_log.write(
        {
            "type": "skill.send_message",
            "id": context.invocation_id,
            "timestamp": now(),
            "caller_name": texts["caller_name"] or "Unknown",
            "callback_number": texts["callback_number"] or "Not provided",
            "message": texts["message"],
            "urgency": "urgent" if urgent else "normal",
            "delivery_status": "pending",
        }
    )
    delivered, warnings = False, list[str]()
    entry: dict[str, Any] = {"id": context.invocation_id}
    try:
        sent = await context.gateway.send_message(text_of(texts, urgent))
        delivered = True
        entry |= {"type": "skill.send_message.delivered", "delivery_channel": sent["channel"]}
    except context.CallRefused as error:
        warnings.append(f"{error.code}: {error.message}")
        entry |= {
            "type": "skill.send_message.delivery_failed",
            "delivery_failed": True,
            "error": error.message,
            **error.details,
        }
    # It was sent or was not: whether this line can be written changes nothing of that.
    try:
        await context.call_log.write({**entry, "timestamp": now()})
    except context.CallRefused as error:
        warnings.append(f"{error.code}: {error.message}")
    name = f", {texts['caller_name']}" if texts["caller_name"] else ""
    operator = context.operator.name or "the operator"
    words = (
        f"Got it — I've noted your message{name}. {operator[:1].upper()}{operator[1:]} will get back to you."
    )
    return {
        "success": True,
        "status": "success" if delivered else "partial",
        "result": {"logged": True, "delivered": delivered},
        "message": words,
        "warnings": warnings,
    }


def now() -> str:
    """The time, as the log has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
