"""What a registered skill's folder holds, made from what was registered and from its tools (AI-18, AI-19, X-4)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from contracts.skills.manifest import SkillBackend, SkillManifest, ToolRecord
from domain.skills.manifest_reading import MalformedSkill, read_manifest

MANIFEST, DOCUMENTATION = "manifest.json", "SKILL.md"
_NOT_SAID = ("tools", "name")


def tool_problem(tool: ToolRecord) -> str | None:
    """Why a tool cannot be registered by itself: what is code comes in a folder, where a person can read it."""
    if tool.backend in (SkillBackend.PYTHON, SkillBackend.NODE):
        return f"backend: a tool of {tool.backend.value} is code; it comes with its skill's folder"
    if tool.backend is SkillBackend.HTTP:
        try:
            parts = urlsplit(tool.entrypoint)
        except ValueError:
            return "entrypoint: is no address"
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            return "entrypoint: is no address of http or https, without a user in it"
    return None


def registered_folder(
    name: str,
    said: Mapping[str, Any],
    tools: Sequence[ToolRecord],
    documentation: str,
    known: Iterable[SkillManifest],
) -> tuple[SkillManifest, dict[str, str]]:
    """The manifest of a skill that is registered, and the files of its folder; ``known`` are the catalog's manifests.

    Raises:
        MalformedSkill: with the path of what is wrong.
    """
    for field in _NOT_SAID:
        if field in said:
            raise MalformedSkill(f"manifest.{field}: stands beside the manifest, not in it")
    fields = {**said, **_schemas(said, tuple(known)), "name": name}
    fields["permissions"] = _permissions(said, tools)
    fields["tools"] = [tool.model_dump(mode="json", exclude_none=True) for tool in tools]
    text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
    front = f"---\nname: {json.dumps(name)}\n---\n\n{documentation.strip()}\n"
    return read_manifest(name, front, text, [DOCUMENTATION, MANIFEST]), {DOCUMENTATION: front, MANIFEST: text}


def _schemas(said: Mapping[str, Any], known: Sequence[SkillManifest]) -> dict[str, Any]:
    """The schemas that are named by their id alone, as a skill of the catalog has them."""
    found: dict[str, Any] = {}
    for field in ("input_schema", "output_schema"):
        if field in said:
            continue
        wanted = said.get(f"{field}_id")
        schemas = [
            getattr(manifest, of)
            for manifest in known
            for of in ("input_schema", "output_schema")
            if getattr(manifest, f"{of}_id") == wanted
        ]
        if not schemas:
            raise MalformedSkill(f"manifest.{field}_id: no skill of the catalog has a schema of this id")
        found[field] = schemas[0]
    return found


def _permissions(said: Mapping[str, Any], tools: Sequence[ToolRecord]) -> object:
    """What was asked for, and the programs and hosts of the tools."""
    asked = said.get("permissions", {})
    if not isinstance(asked, dict):
        return asked
    fields = dict(cast("dict[str, Any]", asked))
    programs = [tool.entrypoint for tool in tools if tool.backend is SkillBackend.OS_COMMAND]
    hosts = [urlsplit(tool.entrypoint).netloc for tool in tools if tool.backend is SkillBackend.HTTP]
    for field, more in (("local_binaries", programs), ("hosts", hosts)):
        before = fields.get(field, [])
        if more and isinstance(before, list):
            fields[field] = list(dict.fromkeys([*cast("list[str]", before), *more]))
    return fields
