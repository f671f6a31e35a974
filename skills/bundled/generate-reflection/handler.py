"""generate_reflection: what the events of a time show, each observation with its events; a model words the whole."""

from typing import Any

_MOST_NAMED = 20


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    events = await context.memory.events(**params)
    observations = reflect(events)
    result = {
        "reflection": " ".join(one["text"] for one in observations)[:4000],
        "observations": observations,
        "event_ids": [one["event_id"] for one in events],
        "model_used": "local-count",
    }
    if not events:
        return {"success": True, "result": result, "message": "There is nothing to reflect on in that time."}
    # Which events there are, and what each observation rests on, is counted; a model only words it.
    told = await context.model.sum_up(texts=[one["text"] for one in observations])
    if told["summary"] is not None:
        result |= {"reflection": told["summary"], "model_used": told["model_used"]}
    words = f"Read from {len(events)} event(s)."
    return {"success": True, "result": result, "message": words, "warnings": told["warnings"]}


def reflect(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Observations of events, those about failures first."""
    failed: dict[tuple[str, str], list[str]] = {}
    done: dict[str, list[str]] = {}
    others: list[dict[str, Any]] = []
    for event in events:
        status = event.get("data", {}).get("status")
        if status is None:
            others.append(event)
        elif status == "success":
            done.setdefault(event["skill_id"], []).append(event["event_id"])
        else:
            code = event.get("data", {}).get("error_code") or status
            failed.setdefault((event["skill_id"], code), []).append(event["event_id"])
    found = [
        _observed(f"{skill} did not succeed {_times(ids)}: {code}.", ids)
        for (skill, code), ids in sorted(failed.items(), key=lambda one: (-len(one[1]), one[0]))
    ]
    found += [
        _observed(f"{skill} succeeded {_times(ids)}.", ids)
        for skill, ids in sorted(done.items(), key=lambda one: (-len(one[1]), one[0]))
    ]
    found += [_observed(event["summary"][:400], [event["event_id"]]) for event in others]
    return found[:100]


def _observed(text: str, ids: list[str]) -> dict[str, Any]:
    return {"text": text, "event_ids": ids[:_MOST_NAMED]}


def _times(ids: list[str]) -> str:
    return "once" if len(ids) == 1 else f"{len(ids)} times"
