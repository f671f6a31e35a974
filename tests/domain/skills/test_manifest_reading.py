"""Manifests of skills, read from both forms and refused by place.

AM-05…AM-09, AM-14, AM-29, AM-32, AM-40, X-5, AI-05…AI-08.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.skills.manifest import SkillManifest
from domain.skills.arguments import exported_parameters
from domain.skills.manifest_reading import MalformedSkill, read_manifest
from domain.skills.policy import effect_of

AMBER = Path(__file__).parent / "amber"
FILES = ("SKILL.md", "handler.py", "manifest.json")


def amber(**changes: Any) -> dict[str, Any]:
    """The manifest of an Amber skill; a field that is changed to None is left out."""
    said: dict[str, Any] = {
        "capabilities": ["read"],
        "timeout_ms": 3000,
        "permissions": {"local_binaries": ["ical-query"], "telegram": False, "network": False},
        "function_schema": {
            "name": "fn_name",
            "description": "What the function does.",
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
            },
        },
        **changes,
    }
    return {name: value for name, value in said.items() if value is not None}


def page(
    metadata: object | None = None, front: str = "name: probe\nversion: 1.0.0\ndescription: A probe."
) -> str:
    inner = "" if metadata is None else f"metadata: {json.dumps(metadata)}\n"
    return f"---\n{front}\n{inner}---\n# Probe\n"


def fuller(**changes: Any) -> str:
    said: dict[str, Any] = {
        "name": "probe",
        "version": "1.0.0",
        "description": "A probe.",
        "capabilities": ["read"],
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "output_schema": {"type": "object"},
        "input_schema_id": "probe/input",
        "output_schema_id": "probe/output",
        "side_effect_tags": [],
        "safety_level": "low",
        "life_areas": [],
        "preconditions": [],
        "effects": [],
        "observables": [],
        "leaves_device": False,
        "third_parties": [],
        "timeout_ms": 3000,
        "tools": [{"tool_id": "probe", "backend": "python", "entrypoint": "handler.py"}],
        **changes,
    }
    return json.dumps({name: value for name, value in said.items() if value is not None})


def refused(skill_md: str, manifest_json: str | None = None, **said: Any) -> str:
    with pytest.raises(MalformedSkill) as caught:
        read_manifest(said.get("folder", "probe"), skill_md, manifest_json, said.get("files", FILES))
    return caught.value.reason


def of_amber(**changes: Any) -> SkillManifest:
    return read_manifest("probe", page({"amber": amber(**changes)}), None, FILES)


@pytest.mark.acceptance("AM-05", "AM-32")
def test_the_calendar_of_the_document_is_read_as_it_stands() -> None:
    """X-5, X-8."""
    text = (AMBER / "calendar.md").read_text(encoding="utf-8")
    found = read_manifest("calendar", text, None, ("SKILL.md", "handler.js"))
    assert (found.name, found.function_name, found.version) == ("calendar", "calendar_query", "1.0.0")
    assert (found.capabilities, found.confirmation_required, found.timeout_ms) == (
        ("read", "act"),
        False,
        5000,
    )
    assert found.permissions.local_binaries == ("ical-query",)
    closed = found.permissions
    assert (closed.network, closed.telegram, closed.openclaw_action) == (False, False, False)
    assert list(found.input_schema["properties"]) == [
        *("action", "range", "title", "start", "end", "calendar", "notes", "location"),
    ]
    assert found.input_schema["properties"]["action"]["enum"] == ["lookup", "create"]
    assert found.input_schema["required"] == ["action"]
    assert (found.tools[0].backend, found.max_attempts, found.cache_ttl_ms) == ("node", 1, 0)


@pytest.mark.acceptance("AM-40")
def test_the_message_of_the_document_is_read_as_it_stands() -> None:
    text = (AMBER / "send-message.md").read_text(encoding="utf-8")
    found = read_manifest("send-message", text, None, FILES)
    assert (found.function_name, found.capabilities, found.timeout_ms) == ("send_message", ("act",), 5000)
    assert found.confirmation_required
    assert found.confirmation_prompt == "Would you like me to leave that message?"
    assert found.permissions.telegram
    assert found.permissions.openclaw_action
    assert (found.permissions.local_binaries, found.permissions.network) == ((), False)
    assert found.input_schema["properties"]["urgency"]["enum"] == ["normal", "urgent"]
    assert found.function_description is not None
    assert found.function_description.startswith("Leave a message for the operator.")
    assert (found.effect, found.side_effect_tags, found.leaves_device) == (
        "send",
        ("sends_external_message",),
        True,
    )


@pytest.mark.acceptance("AM-05")
@pytest.mark.parametrize(
    "metadata",
    [
        json.dumps(json.dumps({"amber": amber()})),
        "'" + json.dumps({"amber": amber()}) + "'",
        json.dumps({"amber": amber()}),
        json.dumps({"amber": amber()}, indent=2).replace("\n", "\n  "),
        "\n  amber:\n    capabilities: [read]\n    timeout_ms: 3000\n    permissions:\n      local_binaries:\n"
        "        - ical-query\n      telegram: false\n      network: false\n    function_schema:\n"
        "      name: fn_name\n      description: What the function does.\n      parameters:\n"
        "        type: object\n        properties: {text: {type: string}}\n        required: [text]",
    ],
)
@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
@pytest.mark.acceptance("X-5")
def test_metadata_is_a_text_or_a_mapping(metadata: str, change: Any) -> None:
    """X-5: a JSON text, a mapping that is JSON, one of YAML; also with BOM and CRLF."""
    text = f"---\nname: probe\nversion: 1.0.0\ndescription: A probe.\nmetadata: {metadata}\n---\n# Probe\n"
    assert read_manifest("probe", change(text), None, FILES) == of_amber()


def test_fractions_of_a_schema_are_numbers_in_every_form() -> None:
    score = "{type: object, properties: {score: {type: number, minimum: 0.25}}}"
    function = f"{{name: fn, parameters: {score}}}"
    metadata = f"{{amber: {{capabilities: [read], timeout_ms: 300, function_schema: {function}}}}}"
    found = read_manifest("probe", f"---\nname: probe\nmetadata: {metadata}\n---\n", None, FILES)
    assert found.input_schema["properties"]["score"]["minimum"] == 0.25


@pytest.mark.parametrize("levels", [32, 33, 400, 20_000])
@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.acceptance("X-5")
def test_metadata_has_its_own_cap_of_32_levels(levels: int, as_text: bool) -> None:
    """X-5."""
    inner = "[" * (levels - 2) + "]" * (levels - 2)
    metadata = f'{{"other": {{}}, "more": {{"a": {inner}}}}}'
    text = f"---\nname: probe\nmetadata: {json.dumps(metadata) if as_text else metadata}\n---\n"
    reason = refused(text)
    assert ("levels" in reason or "larger" in reason) == (levels > 32)


def test_sizes_are_capped_apart() -> None:
    """X-5: 64 KiB of front matter, and 64 KiB of metadata."""
    big = {"amber": amber(), "note": "x" * 60_000}
    assert read_manifest("probe", page(big, f"name: probe\nnote: {'y' * 60_000}"), None, FILES)
    assert "larger than 65536 bytes" in refused(page({**big, "more": "x" * 6_000}))
    assert "larger than 65536 bytes" in refused(
        page({"amber": amber()}, f"name: probe\nnote: {'y' * 66_000}")
    )


@pytest.mark.acceptance("AM-05", "AM-08")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# no front matter", "SKILL.md: a skill starts with a front matter between two lines of ---"),
        (
            "---\nname: &a probe\n---\n",
            "SKILL.md (line 2): anchors and aliases are not allowed; write the value out",
        ),
        ("---\nname: !!str probe\n---\n", "SKILL.md (line 2): tags are not allowed; write the plain value"),
        ("---\nname: probe\nname: probe\n---\n", "SKILL.md (line 3): the name 'name' stands twice"),
        ("---\ndescription: a\n---\n", "SKILL.md: name is required"),
        ("---\nname: other\n---\n", "SKILL.md: name: is not that of the folder, probe"),
        ("---\nname: probe\nversion: 1\n---\n", "SKILL.md: version: is no text; put it in quotes"),
        (
            "---\nname: probe\n---\n",
            "it has neither manifest.json nor metadata.amber in the front matter of SKILL.md",
        ),
        ("---\nname: probe\nmetadata: {amber: 1}\n---\n", "SKILL.md: metadata.amber: is no mapping"),
        (
            '---\nname: probe\nmetadata: "{"\n---\n',
            "SKILL.md (line 3): metadata is no JSON "
            "(line 1, column 2: Expecting property name enclosed in double quotes)",
        ),
        (
            '---\nname: probe\nmetadata: \'{"a": 1, "a": 2}\'\n---\n',
            "SKILL.md (line 3): metadata has the name 'a' twice in one object",
        ),
        (
            '---\nname: probe\nmetadata: {"a": 1, "a": 2}\n---\n',
            "SKILL.md (line 3): the name 'a' stands twice",
        ),
        (
            "---\nname: probe\nmetadata: []\n---\n",
            "SKILL.md: metadata: is no mapping, nor a text that holds one",
        ),
    ],
)
def test_what_is_wrong_with_the_front_matter_is_said(text: str, reason: str) -> None:
    assert refused(text) == reason


@pytest.mark.acceptance("AM-06", "AM-07", "AM-29")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"capabilities": None}, "capabilities: is missing; add it"),
        ({"timeout_ms": None}, "timeout_ms: is missing; add it"),
        ({"function_schema": None}, "function_schema: is missing; add it"),
        ({"function_schema": {}}, "function_schema.name: is missing; add it"),
        ({"capabilities": []}, "capabilities: "),
        ({"capabilities": ["write"]}, "capabilities[0]: "),
        ({"capabilities": ["read", "read"]}, "capabilities: says the same twice"),
        ({"confirmation_required": "true"}, "confirmation_required: "),
        ({"confirmation_prompt": 1}, "confirmation_prompt: "),
        ({"timeout_ms": "3000"}, "timeout_ms: "),
        ({"timeout_ms": True}, "timeout_ms: "),
        ({"timeout_ms": 0}, "timeout_ms: "),
        ({"permissions": {"network": 1}}, "permissions.network: "),
        ({"permissions": {"telegram": "yes"}}, "permissions.telegram: "),
        ({"permissions": {"openclaw_action": 1}}, "permissions.openclaw_action: "),
        ({"permissions": {"local_binaries": "ical-query"}}, "permissions.local_binaries: "),
        ({"permissions": {"root": True}}, "permissions.root: "),
        ({"function_schema": {"name": "Fn"}}, "function_schema.name: "),
        ({"function_schema": {"name": "fn", "parameters": []}}, "function_schema.parameters: "),
        ({"timeout": 3000}, "timeout: "),
        (
            {"function_schema": {"name": "fn", "parameters": {"type": "objekt"}}},
            "input_schema: the schema is no JSON Schema at $.type",
        ),
        (
            {"function_schema": {"name": "fn", "parameters": {"type": "array"}}},
            "input_schema: is not of an object",
        ),
        (
            {"function_schema": {"name": "ask_openclaw"}},
            "function_name: ask_openclaw is the name of a function that no skill replaces",
        ),
    ],
)
@pytest.mark.acceptance("O-21")
def test_a_wrong_or_missing_field_of_amber_is_named_by_its_path(changes: dict[str, Any], reason: str) -> None:
    assert reason in refused(page({"amber": amber(**changes)}))


@pytest.mark.acceptance("AM-14")
def test_a_skill_that_acts_asks_unless_it_says_otherwise() -> None:
    assert not of_amber().confirmation_required
    assert of_amber(capabilities=["act"]).confirmation_required
    acting = of_amber(capabilities=["act"], confirmation_required=False)
    assert effect_of(acting, {}) == ("update", False)


@pytest.mark.acceptance("AM-15")
def test_confirmed_is_no_argument_even_if_the_manifest_says_so() -> None:
    """X-2: 000 L207 has it as a required parameter."""
    parameters = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "confirmed": {"type": "boolean"}},
        "required": ["text", "confirmed"],
    }
    found = of_amber(capabilities=["act"], function_schema={"name": "fn", "parameters": parameters})
    assert list(found.input_schema["properties"]) == ["text"]
    assert found.input_schema["required"] == ["text"]
    assert "confirmed" in exported_parameters(found)["properties"]


@pytest.mark.acceptance("AM-09")
@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (("SKILL.md",), "tools[0].entrypoint: there is no file handler.py"),
        (("SKILL.md", "handler.py", "handler.js"), "tools: there are handler.py and handler.js; keep one"),
    ],
)
def test_there_is_exactly_one_handler(files: tuple[str, ...], reason: str) -> None:
    assert refused(page({"amber": amber()}), files=files) == reason


@pytest.mark.parametrize(
    "folder", ["Probe", "p", "-probe", "pro_be", "probe.d", "../probe", "probe@x", "x" * 65, "probe\n"]
)
def test_a_folder_has_the_name_of_a_skill(folder: str) -> None:
    """X-33."""
    assert refused(page({"amber": amber()}, "name: probe"), folder=folder)


@pytest.mark.acceptance("CH-65")
def test_an_older_version_may_lie_beside_the_newest() -> None:
    assert read_manifest("probe@1", page(), fuller(), FILES).version == "1.0.0"
    assert (
        refused(page(), fuller(), folder="probe@2") == "version: is 1.0.0, and the folder is called probe@2"
    )


def test_manifest_json_is_the_whole_model() -> None:
    found = read_manifest("probe", page(), fuller(max_attempts=3, cache_ttl_ms=300_000), FILES)
    assert (found.function_name, found.effect, found.confirmation_required) == ("probe", "read", False)
    assert (found.max_attempts, found.cache_ttl_ms) == (3, 300_000)


def test_a_schema_may_lie_in_a_file_of_the_folder() -> None:
    text = fuller(input_schema="schemas/input.json")
    schemas = {"schemas/input.json": json.dumps({"type": "object", "properties": {"goal": {}}})}
    found = read_manifest("probe", page(), text, (*FILES, *schemas), schemas)
    assert list(found.input_schema["properties"]) == ["goal"]
    assert (
        refused(page(), text)
        == "manifest.json: input_schema: there is no file schemas/input.json in schemas/"
    )


@pytest.mark.acceptance("AI-05", "AI-07")
@pytest.mark.parametrize(
    "field",
    [
        *("description", "version", "input_schema", "output_schema", "input_schema_id", "output_schema_id"),
        *("side_effect_tags", "safety_level", "life_areas", "tools"),
        *("preconditions", "effects", "observables", "leaves_device", "third_parties"),
    ],
)
def test_a_skill_that_leaves_out_a_part_of_its_contract_is_refused(field: str) -> None:
    reason = refused("---\nname: probe\n---\n", fuller(**{field: None}))
    assert reason.startswith(f"manifest.json: {field}: required")


TOOL = {"tool_id": "probe", "backend": "python", "entrypoint": "handler.py"}


@pytest.mark.acceptance("AI-05", "AI-08", "CH-02")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"safety_level": "extreme"}, "safety_level: "),
        ({"tools": []}, "tools: "),
        ({"timeout_ms": "3000"}, "timeout_ms: "),
        ({"permissions": {"network": "yes"}}, "permissions.network: "),
        ({"colour": 1}, "colour: "),
        ({"version": "1.0"}, "version: "),
        ({"name": "other"}, "name: is not that of the folder, probe"),
        ({"tools": [{**TOOL, "parameters": {}}]}, "tools[0].parameters: "),
        ({"tools": [{**TOOL, "backend": "perl"}]}, "tools[0].backend: "),
        ({"tools": [{**TOOL, "runtime_context": "third_party"}]}, "needs an auth_profile"),
        ({"tools": [{**TOOL, "entrypoint": "other.py"}]}, "tools[0].entrypoint: there is no file other.py"),
        ({"tools": [{**TOOL, "entrypoint": "SKILL.md"}]}, "tools[0].entrypoint: is no file for python"),
        ({"tools": [TOOL, TOOL]}, "tools: two have one tool_id"),
        (
            {"tools": [{**TOOL, "backend": "os_command", "entrypoint": "ls", "command": {"argv": ["-l"]}}]},
            "tools[0].entrypoint: is not in permissions.local_binaries",
        ),
        (
            {"tools": [{**TOOL, "backend": "http", "entrypoint": "https://example.org/x"}]},
            "tools[0].entrypoint: its host is not in permissions.hosts",
        ),
        ({"effect": "send"}, "effect: a skill without the capability act has no effect but read"),
        (
            {"capabilities": ["act"], "effect": "send", "cache_ttl_ms": 5},
            "cache_ttl_ms: only what reads may be answered from a cache",
        ),
        ({"errors": {"bad": {"http_status": 500, "recovery": "x"}}}, "errors: bad is no error code"),
        ({"errors": {"BAD": {"http_status": 200, "recovery": "x"}}}, "errors.BAD.http_status: is no status"),
        ({"input_errors": {"text": "MADE_UP"}}, "input_errors.text: MADE_UP is no code for a wrong input"),
        ({"input_errors": {"texts": "INVALID_INPUT"}}, "input_errors: the input has no field texts"),
        ({"key_field": "key"}, "key_field: the input has no field key"),
        (
            {"input_schema": {"type": "object", "properties": {"n": {"type": "integer", "default": "x"}}}},
            "input_schema.properties.n.default: does not fit its own schema",
        ),
        (
            {"output_schema": {"$ref": "http://127.0.0.1/x"}},
            "output_schema: the schema refers to something outside",
        ),
    ],
)
def test_a_wrong_field_of_manifest_json_is_named_by_its_path(changes: dict[str, Any], reason: str) -> None:
    assert reason in refused(page(), fuller(**changes))


@pytest.mark.acceptance("AM-08")
@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"name": "probe", "name": "probe"}', "[" * 50_000, "1e999", "NaN"]
)
def test_a_manifest_json_that_is_no_object_of_json_is_refused(text: str) -> None:
    assert refused(page(), text).startswith("manifest.json: ")


@pytest.mark.acceptance("X-5")
def test_both_forms_may_be_there_if_they_say_the_same() -> None:
    """X-5."""
    alike = page(
        {"amber": amber(permissions={}, function_schema={"name": "probe", "parameters": PARAMETERS})}
    )
    assert (
        read_manifest("probe", alike, fuller(input_schema=PARAMETERS, max_attempts=3), FILES).max_attempts
        == 3
    )
    different = fuller(input_schema=PARAMETERS, timeout_ms=4000, permissions={"network": True})
    assert (
        refused(alike, different)
        == "manifest.json and metadata.amber differ: timeout_ms, permissions.network"
    )
    assert refused(page(front="name: probe\nversion: 2.0.0"), fuller()) == (
        "version: manifest.json and SKILL.md differ"
    )


PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}}

json_of_strangers = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(sorted(SkillManifest.model_fields)) | st.text(max_size=4), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.acceptance("AM-08")
@given(st.sampled_from(sorted(json.loads(fuller()))), json_of_strangers)
@settings(deadline=None)
def test_whatever_a_manifest_says_it_is_read_or_refused_with_a_reason(field: str, value: object) -> None:
    """Never a crash at start."""
    reasons: list[str] = []
    for skill_md, manifest_json in (
        (page(), json.dumps({**json.loads(fuller()), field: value})),
        (page({"amber": {**amber(), field: value}}), None),
        (page({"amber": amber(function_schema={"name": "fn", "parameters": value})}), None),
    ):
        try:
            read_manifest("probe", skill_md, manifest_json, FILES)
        except MalformedSkill as refusal:
            reasons.append(refusal.reason)
    assert all(0 < len(reason) <= 1000 for reason in reasons)
