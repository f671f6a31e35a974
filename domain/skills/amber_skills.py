"""The fuller model of an Amber skill, derived from the little that it says (000 L69-139, X-5).

The cautious reading each time: what acts is no mere read, what sends leaves the device, one attempt, no cache.
"""

from collections.abc import Collection
from typing import Any, cast

from contracts.learning.observation import ToolEffect
from contracts.skills.amber import AmberManifest
from contracts.skills.manifest import SafetyLevel, SkillBackend
from domain.skills.arguments import CONFIRMED

AMBER_FIELDS = (
    "version",
    "capabilities",
    "confirmation_required",
    "confirmation_prompt",
    "timeout_ms",
    "function_name",
    "input_schema",
)
"""What both forms of a manifest say, besides the permissions and the attempts."""

HANDLERS = {"handler.py": SkillBackend.PYTHON, "handler.js": SkillBackend.NODE}


def manifest_of_amber(
    amber: AmberManifest, *, name: str, version: str, description: str, files: Collection[str]
) -> dict[str, Any]:
    """The fields of a `SkillManifest` for a folder that has ``metadata.amber`` alone.

    The tool is the folder's handler; a folder without one, or with two, gets tools that the checks refuse.
    """
    acts = "act" in amber.capabilities
    sends = amber.permissions.telegram or amber.permissions.openclaw_action
    function = amber.function_schema
    return {
        "name": name,
        "function_name": function.name,
        "version": version,
        "description": description,
        "function_description": function.description or None,
        "capabilities": list(amber.capabilities),
        "effect": _effect(acts, sends).value,
        "confirmation_required": acts if amber.confirmation_required is None else amber.confirmation_required,
        "confirmation_prompt": amber.confirmation_prompt,
        "input_schema": without_confirmed(function.parameters),
        "input_schema_id": f"amber/{name}/input@{version}",
        "output_schema_id": f"amber/{name}/output@{version}",
        "side_effect_tags": ["sends_external_message"] if acts and sends else [],
        "safety_level": (SafetyLevel.MEDIUM if acts else SafetyLevel.LOW).value,
        "effects": [{"name": f"{function.name}.done"}] if acts else [],
        "observables": ["call_log"],
        "leaves_device": sends or amber.permissions.network,
        "third_parties": ["openclaw_gateway"] if sends else [],
        "timeout_ms": amber.timeout_ms,
        "max_attempts": amber.max_attempts,
        "permissions": amber.permissions.model_dump(mode="json"),
        "tools": [
            {"tool_id": f"{name}.{backend.value}", "backend": backend.value, "entrypoint": file}
            for file, backend in HANDLERS.items()
            if file in files
        ]
        or [{"tool_id": f"{name}.python", "backend": "python", "entrypoint": "handler.py"}],
    }


def without_confirmed(schema: dict[str, Any]) -> dict[str, Any]:
    """An input schema without ``confirmed``: it belongs to the invocation, and no handler gets it (AM-15, X-2)."""
    changed = dict(schema)
    if isinstance(properties := schema.get("properties"), dict):
        changed["properties"] = {
            name: rules for name, rules in cast("dict[str, Any]", properties).items() if name != CONFIRMED
        }
    if isinstance(required := schema.get("required"), list):
        changed["required"] = [name for name in cast("list[Any]", required) if name != CONFIRMED]
    return changed


def _effect(acts: bool, sends: bool) -> ToolEffect:
    if not acts:
        return ToolEffect.READ
    return ToolEffect.SEND if sends else ToolEffect.UPDATE
