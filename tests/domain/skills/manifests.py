"""Manifests of skills for tests of rules: a whole one, of which a test changes what it is about."""

from typing import Any

from contracts.skills.manifest import SkillManifest


def manifest(**fields: Any) -> SkillManifest:
    """A skill that reads; ``properties`` and ``required`` are those of its input schema, which is closed."""
    properties = fields.pop("properties", {"text": {"type": "string"}})
    required = fields.pop("required", [])
    known: dict[str, Any] = {
        "name": "probe",
        "function_name": fields.get("name", "probe").replace("-", "_"),
        "version": "1.0.0",
        "description": "A skill for tests.",
        "capabilities": ("read",),
        "effect": "read",
        "confirmation_required": False,
        "input_schema": {"type": "object", "properties": properties, "required": required},
        "input_schema_id": "probe/input",
        "output_schema_id": "probe/output",
        "safety_level": "low",
        "timeout_ms": 1_000,
        "tools": ({"tool_id": "probe", "backend": "python", "entrypoint": "handler.py"},),
    }
    return SkillManifest.model_validate({**known, **fields})


def acting(**fields: Any) -> SkillManifest:
    """A skill that sends and asks first."""
    known: dict[str, Any] = {
        "capabilities": ("act",),
        "effect": "send",
        "confirmation_required": True,
        "safety_level": "medium",
    }
    return manifest(**{**known, **fields})
