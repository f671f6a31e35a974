"""What a person changes about parameters: their name, type, description, and whether one is needed.

Edits are kept by the name that the comparison gave (``contracts.learning.edits.with_edits``), so that every later
draft of the same capture takes them in again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.edits import PARAMETERS, parameter_entries
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.parameters import ParameterType, SkillParameter
from domain.learning.naming import listed
from domain.learning.parameters import drafted_description, fits

_TEXTS = ("title", "goal_summary")
_LISTS = ("use_conditions", "non_use_conditions", "success_conditions")
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]{0,39})\}")
_WIDE = {"title": 160, "goal_summary": 600}


def edited_parameters(
    parameters: Sequence[SkillParameter], edits: Mapping[str, object]
) -> tuple[SkillParameter, ...]:
    """The parameters as edited, in their order.

    Raises:
        Refusal: ``REVISION_INVALID`` with ``fields`` (``parameters/quarter/type``) where an edit names no
            parameter, two would have one name, or the demonstrated values are not of the new type.
    """
    found = {p.name: p for p in parameters}
    edited: dict[str, SkillParameter] = {}
    for entry in parameter_entries(edits):
        name = str(entry["name"])
        if name not in found or name in edited:
            present = [edited.get(p.name, p).name for p in parameters]
            there = f"there are {listed(present)}" if present else "the demonstrations showed none"
            raise _refusal(f"{name}/name", f"names no parameter of its own; {there}")
        edited[name] = _edited(found[name], entry)
    result = tuple(edited.get(p.name, p) for p in parameters)
    names = [p.name for p in result]
    for entry in parameter_entries(edits):
        chosen = str(entry.get("new_name", entry["name"]))
        if names.count(chosen) > 1:
            raise _refusal(f"{entry['name']}/new_name", f"“{chosen}” is the name of another parameter")
    return result


def renames(before: Sequence[SkillParameter], after: Sequence[SkillParameter]) -> dict[str, str]:
    """Old name → new name of those renamed, without names that stand for another parameter now."""
    present = {p.name for p in after}
    pairs = zip(before, after, strict=True)
    return {old.name: new.name for old, new in pairs if old.name != new.name and old.name not in present}


def respoken(value: Any, renamed: Mapping[str, str]) -> Any:
    """``value``, a JSON value, with ``{old}`` written ``{new}`` in all its texts."""
    if not renamed:
        return value
    match value:
        case str():
            return _PLACEHOLDER.sub(lambda m: f"{{{renamed.get(m.group(1), m.group(1))}}}", value)
        case list() | tuple():
            return [respoken(part, renamed) for part in cast("Sequence[Any]", value)]
        case Mapping():
            return {k: respoken(part, renamed) for k, part in cast("Mapping[str, Any]", value).items()}
        case _:
            return value


def respoken_edits(edits: Mapping[str, object], renamed: Mapping[str, str]) -> dict[str, object]:
    """A person's other edits, speaking of the parameters by their new names."""
    return {k: value if k == PARAMETERS else respoken(value, renamed) for k, value in edits.items()}


def renamed_in(
    interpretation: SemanticWorkflowInterpretation,
    parameters: Sequence[SkillParameter],
    renamed: Mapping[str, str],
) -> SemanticWorkflowInterpretation:
    """The interpretation with ``parameters``, its texts speaking of them by their new names."""
    changes: dict[str, object] = {PARAMETERS: tuple(parameters)}
    for name in _TEXTS:
        changes[name] = clipped(respoken(getattr(interpretation, name), renamed), _WIDE[name])
    for name in _LISTS:
        changes[name] = tuple(clipped(respoken(t, renamed), 240) for t in getattr(interpretation, name))
    changes["checkpoints"] = tuple(
        c.model_copy(
            update={
                "goal": clipped(respoken(c.goal, renamed), 240),
                "success_condition": clipped(respoken(c.success_condition, renamed), 240),
            }
        )
        for c in interpretation.checkpoints
    )
    changes["optional_steps"] = tuple(
        step.model_copy(update={"label": clipped(respoken(step.label, renamed), 160)})
        for step in interpretation.optional_steps
    )
    return interpretation.model_copy(update=changes)


def _edited(parameter: SkillParameter, entry: Mapping[str, Any]) -> SkillParameter:
    kind = ParameterType(entry.get("type", parameter.type))
    if not fits(kind, parameter.examples):
        raise _refusal(
            f"{parameter.name}/type", f"cannot be {kind}: the demonstrations gave it values of another kind"
        )
    name = str(entry.get("new_name", parameter.name))
    said = entry.get("description") or drafted_description(parameter.description, parameter.name, name)
    changes = {"name": name, "type": kind, "description": said}
    return parameter.model_copy(update={**changes, "required": entry.get("required", parameter.required)})


def _refusal(where: str, what: str) -> Refusal:
    field = f"{PARAMETERS}/{where}"
    return Refusal(ErrorCode.REVISION_INVALID, clipped(f"{field} {what}", 240), fields=[field])
