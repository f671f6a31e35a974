"""What revisions set by hand, added up over a proposal's life (DOC3 §0C.16A revise)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

PARAMETERS = "parameters"
"""The edited field that holds changes of parameters, each of which names its parameter as it is called then."""


def with_edits(kept: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """All edits of a proposal after ``new``: a field set again is replaced, a parameter's edits add up.

    Both are checked edits. What is kept about a parameter goes by its drafted name; an empty list of parameters
    takes all their edits back.
    """
    edits = {**kept, **new}
    if PARAMETERS not in new:
        return edits
    added = parameter_entries(new)
    if not added:
        edits.pop(PARAMETERS)
        return edits
    before = parameter_entries(kept)
    merged: list[dict[str, Any]] = [dict(entry) for entry in before]
    places = {str(entry.get("new_name", entry["name"])): n for n, entry in enumerate(before)}
    for entry in added:
        place = places.get(str(entry["name"]))
        if place is None:
            merged.append(dict(entry))
        else:
            merged[place] |= {name: value for name, value in entry.items() if name != "name"}
    edits[PARAMETERS] = merged
    return edits


def parameter_entries(edits: Mapping[str, object]) -> list[Mapping[str, Any]]:
    """The changes of parameters among checked edits."""
    return list(cast("Sequence[Mapping[str, Any]]", edits.get(PARAMETERS, ())))
