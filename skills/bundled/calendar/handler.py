"""calendar_query: look-ups and new events of the operator's calendars; nothing leaves through the gateway."""

from typing import Any

NEEDED = ("title", "start", "end")


def refusal(params: dict[str, Any]) -> dict[str, Any] | None:
    """Why nothing is looked up or made, if so."""
    if params.get("action") not in ("lookup", "create"):
        return {
            "success": False,
            "error": {"code": "INVALID_INPUT", "message": f"Unknown action: {params.get('action')}"},
            "message": "I can look up events or create them — which would you like?",
        }
    if params["action"] == "create" and not all(str(params.get(name) or "").strip() for name in NEEDED):
        return {
            "success": False,
            "error": {"code": "INVALID_INPUT", "message": "Missing required fields: title, start, end"},
            "message": "I need a title, start time, and end time to create an event.",
        }
    return None


def given(params: dict[str, Any], *names: str) -> dict[str, Any]:
    """The parameters that are there."""
    return {name: params[name] for name in names if params.get(name)}


async def check(params: dict[str, Any], context: Any) -> dict[str, Any]:
    if refused := refusal(params):
        return refused
    if params["action"] == "create":
        try:
            await context.calendar.would_create(**given(params, *NEEDED, "calendar", "location", "notes"))
        except context.CallRefused as error:
            return trouble(error)
    return {"success": True}


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    if refused := refusal(params):
        return refused
    try:
        if params["action"] == "lookup":
            return await look_up(params, context)
        return await create(params, context)
    except context.CallRefused as error:
        return trouble(error)


async def look_up(params: dict[str, Any], context: Any) -> dict[str, Any]:
    asked = params.get("range") or "today"
    found = await context.calendar.lookup(range=asked, **given(params, "calendar"))
    events, free = found["events"], found["free"]
    if events:
        listed = "; ".join(f"{when(one)} {one['title']}" for one in events)
        gaps = ", ".join(gap(one, asked != "week") for one in free)
        words = f"{listed}. Free: {gaps or 'no time'}."
    else:
        words = f"No events found for {asked}."
    unread = found["unread"]
    return {
        "success": True,
        "status": "partial" if unread else "success",
        "result": {"events": events, "free": free},
        "message": words[:1000],
        "warnings": [f"{unread} events of the calendar could not be read."] if unread else [],
    }


async def create(params: dict[str, Any], context: Any) -> dict[str, Any]:
    asked = given(params, *NEEDED, "calendar", "location", "notes")
    made = await context.calendar.create(**asked)
    conflicts = made.pop("conflicts")
    output = f"{made['title']}, {made['start']} to {made['end']}"
    log = {"type": "skill.calendar.create", **asked, "output": output}
    warnings = [f"CONFLICT: it overlaps with {when(one)} {one['title']}"[:240] for one in conflicts]
    try:
        await context.call_log.write(log)
    except context.CallRefused as error:
        warnings.append(f"{error.code}: {error.message}")
    words = f'Done — I\'ve added "{params["title"]}" to the calendar.'
    if conflicts:
        words += " It overlaps with " + ", ".join(f"{one['title']} ({when(one)})" for one in conflicts) + "."
    return {
        "success": True,
        "result": {"created": True, "output": output, "event": made, "conflicts": conflicts},
        "message": words[:1000],
        "warnings": warnings,
    }


def trouble(error: Any) -> dict[str, Any]:
    """What is said when the calendar refuses, or cannot be reached."""
    wrong = error.code == "INVALID_INPUT"
    return {
        "success": False,
        "error": {"code": error.code, "message": error.message},
        "message": f"I could not do that: {error.message}."
        if wrong
        else "I had trouble accessing the calendar. Let me note that for follow-up.",
    }


def moment(text: str) -> str:
    """A time as it is spoken of: its day and its hour."""
    return f"{text[:10]} {text[11:16]}"


def when(event: dict[str, Any]) -> str:
    """When an event is."""
    if event["all_day"]:
        return f"{event['start'][:10]} all day"
    end = event["end"][11:16] if event["end"][:10] == event["start"][:10] else moment(event["end"])
    return f"{moment(event['start'])}–{end}"


def gap(free: dict[str, str], one_day: bool) -> str:
    """Free time: its hours, with the days where more than one was asked for."""
    if not one_day:
        return f"{moment(free['start'])}–{moment(free['end'])}"
    until = free["end"][11:16] if free["end"][:10] == free["start"][:10] else "24:00"
    return f"{free['start'][11:16]}–{until}"
