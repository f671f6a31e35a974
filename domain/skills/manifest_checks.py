"""What a manifest has to agree with: its own schemas, its folder's files, its permissions, the known codes.

AI-05…AI-08, AM-09, AM-29 of skill_rows.md.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, cast
from urllib.parse import urlsplit

from contracts.errors import ErrorCode
from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SKILL_ERRORS
from contracts.skills.manifest import RESERVED_FUNCTIONS, SkillBackend, SkillManifest, ToolRecord
from domain.platform.json_schema import misfits, schema_problem

_CODE = re.compile(r"[A-Z][A-Z0-9_]{2,79}")


def problems_of(manifest: SkillManifest, files: Collection[str]) -> Iterator[str]:
    """Each thing that keeps the skill from being used: the field's path and what is wrong with it."""
    yield from _names(manifest)
    yield from _schemas(manifest)
    yield from _effects(manifest)
    yield from _errors(manifest)
    yield from _fields(manifest)
    yield from _tools(manifest, files)


def _names(manifest: SkillManifest) -> Iterator[str]:
    for name in dict.fromkeys((manifest.function_name, manifest.name.replace("-", "_"))):
        if name in RESERVED_FUNCTIONS:
            yield f"function_name: {name} is the name of a function that no skill replaces"


def _schemas(manifest: SkillManifest) -> Iterator[str]:
    for field in ("input_schema", "output_schema"):
        schema: dict[str, Any] = getattr(manifest, field)
        if problem := schema_problem(schema):
            yield f"{field}: {problem}"
        elif schema.get("type", "object") != "object" or (field == "input_schema" and "type" not in schema):
            yield f"{field}: is not of an object"
        elif field == "input_schema":
            yield from _defaults(schema)


def _defaults(schema: dict[str, Any]) -> Iterator[str]:
    rules = cast("dict[str, Any]", schema.get("properties", {}))
    for name, rule in rules.items():
        if isinstance(rule, dict) and "default" in rule:
            given = {name: cast("dict[str, Any]", rule)["default"]}
            alone: dict[str, Any] = {**schema, "properties": {name: rule}, "required": []}
            if misfits(given, alone, 1, known_good=True):
                yield f"input_schema.properties.{name}.default: does not fit its own schema"


def _effects(manifest: SkillManifest) -> Iterator[str]:
    effects = {manifest.effect, *(rule.effect for rule in manifest.actions)}
    if not manifest.acts and effects != {ToolEffect.READ}:
        yield "effect: a skill without the capability act has no effect but read"
    if len(set(manifest.capabilities)) < len(manifest.capabilities):
        yield "capabilities: says the same twice"
    if manifest.cache_ttl_ms and effects != {ToolEffect.READ}:
        yield "cache_ttl_ms: only what reads may be answered from a cache"


def _errors(manifest: SkillManifest) -> Iterator[str]:
    for code, rule in manifest.errors.items():
        if not _CODE.fullmatch(code):
            yield f"errors: {code[:80]} is no error code: capital letters, digits and underscores"
        if not 400 <= rule.http_status <= 599:
            yield f"errors.{code[:80]}.http_status: is no status of an error"
    for field, code in manifest.input_errors.items():
        if code not in SKILL_ERRORS or code not in ErrorCode.__members__:
            yield f"input_errors.{field[:80]}: {code[:80]} is no code for a wrong input"


def _fields(manifest: SkillManifest) -> Iterator[str]:
    """Names of the input's fields that are said outside of its schema; what lies deeper is not looked for."""
    known = cast("dict[str, Any]", manifest.input_schema.get("properties", {}))
    said = [
        *(("input_errors", field) for field in manifest.input_errors),
        *(("multiline", field) for field in manifest.multiline),
        *(("cache_keys", field) for field in manifest.cache_keys or ()),
        *([("key_field", manifest.key_field)] if manifest.key_field else []),
        *(("actions", field) for rule in manifest.actions for field in (*rule.when, *rule.present)),
    ]
    for where, field in said:
        if re.split(r"[.\[]", field)[0] not in known:
            yield f"{where}: the input has no field {field[:80]}"


def _tools(manifest: SkillManifest, files: Collection[str]) -> Iterator[str]:
    if len({tool.tool_id for tool in manifest.tools}) < len(manifest.tools):
        yield "tools: two have one tool_id"
    if len([tool for tool in manifest.tools if tool.entrypoint in ("handler.py", "handler.js")]) > 1:
        yield "tools: there are handler.py and handler.js; keep one"
    for number, tool in enumerate(manifest.tools):
        if problem := _tool_problem(manifest, tool, files):
            yield f"tools[{number}].entrypoint: {problem}"


def _tool_problem(manifest: SkillManifest, tool: ToolRecord, files: Collection[str]) -> str | None:
    match tool.backend:
        case SkillBackend.PYTHON | SkillBackend.NODE:
            suffixes = (".py",) if tool.backend is SkillBackend.PYTHON else (".js", ".cjs")
            if not tool.entrypoint.endswith(suffixes):
                return f"is no file for {tool.backend.value}"
            return None if tool.entrypoint in files else f"there is no file {tool.entrypoint[:100]}"
        case SkillBackend.OS_COMMAND:
            known = tool.entrypoint in manifest.permissions.local_binaries
            return None if known else "is not in permissions.local_binaries"
        case SkillBackend.HTTP:
            return _address_problem(manifest, tool.entrypoint)


def _address_problem(manifest: SkillManifest, address: str) -> str | None:
    try:
        parts = urlsplit(address)
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        return "is no address of http or https, without a user in it"
    known = {parts.hostname, parts.netloc} & set(manifest.permissions.hosts)
    return None if known else "its host is not in permissions.hosts"
