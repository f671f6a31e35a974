"""Reads the manifest of a skill's folder: ``manifest.json``, or ``metadata.amber`` of its SKILL.md, or both alike.

AM-05…AM-09, AM-14, X-5, AI-05…AI-08 of skill_rows.md. Nothing is opened here: the caller gives texts and names.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from contracts.base import Contract, clipped
from contracts.plain_problems import plain_problem
from contracts.skills.amber import AmberManifest
from contracts.skills.manifest import SKILL_NAME, SkillManifest
from domain.platform.frontmatter import (
    FrontmatterLimits,
    FrontmatterProblem,
    InlineJson,
    read_frontmatter,
)
from domain.platform.strict_json import NotStrictJson, read_json
from domain.skills.amber_skills import AMBER_FIELDS, manifest_of_amber, without_confirmed
from domain.skills.manifest_checks import problems_of

MAX_BYTES = 65_536
"""The most UTF-8 bytes of a front matter without its metadata, and of the metadata (X-5)."""

MAX_MANIFEST_BYTES = 262_144
"""The most UTF-8 bytes of a manifest.json, and of a schema beside it."""

_LIMITS = FrontmatterLimits(MAX_BYTES, 8, {"metadata": InlineJson(MAX_BYTES, 32)})
_MAX_MANIFEST_DEPTH = 32
_MOST_PROBLEMS = 5
_VERSIONED_FOLDER = re.compile(r"(?P<name>.*?)(?:@(?P<major>0|[1-9]\d{0,5}))?", re.DOTALL)

_TO_BE_SAID = (
    "description",
    "version",
    "input_schema",
    "output_schema",
    "input_schema_id",
    "output_schema_id",
    "side_effect_tags",
    "safety_level",
    "life_areas",
    "preconditions",
    "effects",
    "observables",
    "leaves_device",
    "third_parties",
    "tools",
)
"""What a manifest.json says itself, be it that there is none: skill record and minimal contract of 003 (L64-112)."""

_Model = TypeVar("_Model", bound=Contract)


class MalformedSkill(Exception):
    """The folder holds no skill that can be used; ``reason`` names what is wrong and where."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = clipped(reason, 1000)


def read_manifest(
    folder_name: str,
    skill_md: str,
    manifest_json: str | None,
    files: Collection[str],
    schemas: Mapping[str, str] | None = None,
) -> SkillManifest:
    """The manifest of a folder. ``files`` are the paths in it, ``schemas`` the texts of those in ``schemas/``.

    The folder is called like its skill, or ``name@major`` beside a newer version. An input or output schema of
    manifest.json may be the path of a file in ``schemas/``. A folder with ``metadata.amber`` alone gets the fields of
    the fuller model derived. Where there are both, they have to say the same.

    Raises:
        MalformedSkill: with the path of what is wrong.
    """
    named = cast("re.Match[str]", _VERSIONED_FOLDER.fullmatch(folder_name))
    name = named["name"]
    if not re.fullmatch(SKILL_NAME, name):
        raise MalformedSkill(
            "the folder's name is no skill name: 2 to 64 lower-case letters, digits and hyphens, no hyphen first"
        )
    front = _front_of(skill_md, name)
    amber = _amber_of(front)
    manifest = _of_amber(amber, front, name, files) if amber is not None else None
    if manifest_json is not None:
        fuller = _of_json(manifest_json, front, name, files, schemas or {})
        _refuse_difference(fuller, manifest, amber)
        manifest = fuller
    if manifest is None:
        raise MalformedSkill(
            "it has neither manifest.json nor metadata.amber in the front matter of SKILL.md"
        )
    problems = list(problems_of(manifest, files))
    if named["major"] is not None and manifest.version.split(".")[0] != named["major"]:
        problems.append(f"version: is {manifest.version}, and the folder is called {folder_name}")
    if problems:
        raise MalformedSkill("; ".join(problems[:_MOST_PROBLEMS]))
    return manifest


def _front_of(skill_md: str, name: str) -> dict[str, object]:
    try:
        front = read_frontmatter(skill_md, _LIMITS)
    except FrontmatterProblem as problem:
        raise MalformedSkill(f"SKILL.md{problem}") from problem
    said = front.get("name")
    if said is None:
        raise MalformedSkill("SKILL.md: name is required")
    if said != name:
        raise MalformedSkill(f"SKILL.md: name: is not that of the folder, {name}")
    for field in ("description", "version"):
        if not isinstance(front.get(field), str | None):
            raise MalformedSkill(f"SKILL.md: {field}: is no text; put it in quotes")
    return front


def _amber_of(front: Mapping[str, object]) -> AmberManifest | None:
    metadata = front.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise MalformedSkill("SKILL.md: metadata: is no mapping, nor a text that holds one")
    amber = cast("dict[str, object]", metadata).get("amber")
    if amber is None:
        return None
    if not isinstance(amber, dict):
        raise MalformedSkill("SKILL.md: metadata.amber: is no mapping")
    return _parsed(AmberManifest, cast("dict[str, Any]", amber), "SKILL.md: metadata.amber")


def _of_amber(
    amber: AmberManifest, front: Mapping[str, object], name: str, files: Collection[str]
) -> SkillManifest:
    derived = manifest_of_amber(
        amber,
        name=name,
        version=str(front.get("version") or "1.0.0"),
        description=str(front.get("description") or amber.function_schema.description or name),
        files=files,
    )
    return _parsed(SkillManifest, derived, "SKILL.md")


def _of_json(
    text: str,
    front: Mapping[str, object],
    name: str,
    files: Collection[str],
    schemas: Mapping[str, str],
) -> SkillManifest:
    fields = _object_of("manifest.json", text)
    for field in ("description", "version"):
        said = front.get(field)
        if said is not None and fields.setdefault(field, said) != said and field == "version":
            raise MalformedSkill(f"{field}: manifest.json and SKILL.md differ")
    missing = [field for field in _TO_BE_SAID if field not in fields]
    if missing:
        raise MalformedSkill(
            f"manifest.json: {', '.join(missing)}: required; an empty list or false says that there is none"
        )
    if fields.setdefault("name", name) != name:
        raise MalformedSkill(f"manifest.json: name: is not that of the folder, {name}")
    said = fields.get("capabilities")
    acts = isinstance(said, list) and "act" in said
    fields.setdefault("function_name", name.replace("-", "_"))
    fields.setdefault("confirmation_required", acts)
    if not acts:
        fields.setdefault("effect", "read")
    for field in ("input_schema", "output_schema"):
        if isinstance(path := fields[field], str):
            if path not in files or path not in schemas:
                raise MalformedSkill(f"manifest.json: {field}: there is no file {path[:100]} in schemas/")
            fields[field] = _object_of(path, schemas[path])
    if isinstance(fields["input_schema"], dict):
        fields["input_schema"] = without_confirmed(cast("dict[str, Any]", fields["input_schema"]))
    return _parsed(SkillManifest, fields, "manifest.json")


def _object_of(path: str, text: str) -> dict[str, Any]:
    try:
        found = read_json(text.removeprefix("\ufeff"), MAX_MANIFEST_BYTES, _MAX_MANIFEST_DEPTH)
    except NotStrictJson as problem:
        raise MalformedSkill(f"{path}: {problem}") from problem
    if not isinstance(found, dict):
        raise MalformedSkill(f"{path}: is no object")
    return cast("dict[str, Any]", found)


def _refuse_difference(
    fuller: SkillManifest, derived: SkillManifest | None, amber: AmberManifest | None
) -> None:
    """Refuses two forms that do not say the same (X-5): no reader could know which of them a person approved."""
    if derived is None or amber is None:
        return
    fields = [field for field in AMBER_FIELDS if getattr(fuller, field) != getattr(derived, field)]
    if "max_attempts" in amber.model_fields_set and fuller.max_attempts != amber.max_attempts:
        fields.append("max_attempts")
    said, meant = fuller.permissions, amber.permissions
    fields += [
        f"permissions.{field}"
        for field in type(meant).model_fields
        if getattr(said, field) != getattr(meant, field)
    ]
    if fields:
        raise MalformedSkill(f"manifest.json and metadata.amber differ: {', '.join(fields)}")


def _parsed(model: type[_Model], fields: dict[str, Any], where: str) -> _Model:
    try:
        # As JSON, so that lists are tuples and nothing else is turned into what it is not.
        return model.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        raise MalformedSkill(f"{where}: {'; '.join(_problems(error))}") from error


def _problems(error: ValidationError) -> Iterable[str]:
    for found in error.errors(include_input=False, include_url=False)[:_MOST_PROBLEMS]:
        place = ""
        for part in found["loc"]:
            place += f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part[:60]}"
        said = plain_problem(found["type"], found["msg"], found.get("ctx", {}))
        yield f"{place}: {said}" if place else said
