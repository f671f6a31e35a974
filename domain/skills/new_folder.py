"""The files of a new skill's folder: a small one that is valid at once, for each runner (docs/skills.md)."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from contracts.skills.manifest import RESERVED_FUNCTIONS, SKILL_NAME, SkillBackend

_PYTHON = """async def handle(params, context):
    words = f"Hello, {params['name']}."
    return {"success": True, "result": {"words": words}, "message": words}
"""

_NODE = """module.exports = async (params, context) => {
  const words = `Hello, ${params.name}.`;
  return { success: true, result: { words }, message: words };
};
"""

_PROGRAM = "printf"
_PARAMETERS = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_DESCRIPTION = "Greets somebody by name."


class NoSkillName(ValueError):
    """The name is none for a skill; the text says what is."""


def check_name(name: str) -> None:
    """Refuses a name that no folder of a skill may have.

    Raises:
        NoSkillName: it does not fit the pattern, or belongs to a function that no skill replaces.
    """
    if re.fullmatch(SKILL_NAME, name) is None:
        raise NoSkillName(
            "a skill's name is 2 to 64 lower-case letters, digits and hyphens, no hyphen first, such as greet-guests"
        )
    if name.replace("-", "_") in RESERVED_FUNCTIONS:
        raise NoSkillName("this name belongs to a function that no skill replaces; choose another")


def check_address(url: str) -> None:
    """Refuses what an ``http`` tool cannot call.

    Raises:
        NoSkillName: it is no address of http or https, or has a user in it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise NoSkillName("the address is none; write one such as https://example.com/greet") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None or port == 0:
        raise NoSkillName("the address is none of http or https; write one such as https://example.com/greet")


def new_folder(name: str, backend: SkillBackend, url: str | None = None) -> dict[str, str]:
    """The files of a folder called ``name``, by their names; ``url`` is where an ``http`` skill asks.

    Raises:
        NoSkillName: the name or the address cannot be used.
    """
    check_name(name)
    match backend:
        case SkillBackend.PYTHON:
            return {"SKILL.md": _with_amber(name), "handler.py": _PYTHON}
        case SkillBackend.NODE:
            return {"SKILL.md": _with_amber(name), "handler.js": _NODE}
        case SkillBackend.OS_COMMAND:
            tool = {"entrypoint": _PROGRAM, "command": {"argv": ["Hello, %s.\\n", "{name}"]}}
            fields = {"permissions": {"local_binaries": [_PROGRAM]}}
            output = {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}
        case SkillBackend.HTTP:
            address = url or ""
            check_address(address)
            tool = {"entrypoint": address, "http": {"method": "GET", "query": ["name"]}}
            host = urlsplit(address).hostname
            fields = {"permissions": {"hosts": [host]}, "leaves_device": True, "third_parties": [host]}
            output = {"type": "object"}
    manifest = _manifest(name, backend, tool, fields, output)
    return {
        "SKILL.md": _front(name, ""),
        "manifest.json": json.dumps(manifest, indent=2, ensure_ascii=False) + "\n",
    }


def _with_amber(name: str) -> str:
    function = {"name": name.replace("-", "_"), "description": _DESCRIPTION, "parameters": _PARAMETERS}
    amber = {"capabilities": ["read"], "timeout_ms": 2000, "permissions": {}, "function_schema": function}
    return _front(name, f"metadata: {json.dumps({'amber': amber})}\n")


def _front(name: str, metadata: str) -> str:
    title = name.replace("-", " ").capitalize()
    return f"---\nname: {json.dumps(name)}\nversion: 1.0.0\ndescription: {_DESCRIPTION}\n{metadata}---\n\n# {title}\n"


def _manifest(
    name: str, backend: SkillBackend, tool: dict[str, Any], fields: dict[str, Any], output: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "version": "1.0.0",
        "description": _DESCRIPTION,
        "capabilities": ["read"],
        "input_schema_id": f"{name}.input@1",
        "output_schema_id": f"{name}.output@1",
        "input_schema": {**_PARAMETERS, "additionalProperties": False},
        "output_schema": output,
        "side_effect_tags": [],
        "safety_level": "low",
        "life_areas": [],
        "leaves_device": False,
        "third_parties": [],
        "preconditions": [],
        "effects": [],
        "observables": [],
        "timeout_ms": 10000,
        "tools": [{"tool_id": f"{name}.{backend.value}", "backend": backend.value, **tool}],
        **fields,
    }
