"""Every schema exists once, at its limits, and refuses what it does not know."""

import ast
import csv
import importlib
import re
from collections import defaultdict
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import BaseModel

PROJECT = Path(__file__).parents[2]
ROOT = PROJECT / "contracts"
SOURCES = (
    "contracts",
    "domain",
    "stores",
    "skills",
    "recorders",
    "clients",
    "activities",
    "workflows",
    "api",
)
SUPERSEDED = {
    "LearningEntryPoint",
    "LearningEntryPointSchema",
    "TeachSession",
    "TeachSessionSchema",
    "MCPProviderPolicySchema",
}


def contract_modules() -> list[str]:
    return [".".join(path.relative_to(PROJECT).with_suffix("").parts) for path in sorted(ROOT.rglob("*.py"))]


def schemas() -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for name in contract_modules():
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == name:
                found[value.__name__] = value
    return found


def limits() -> list[dict[str, str]]:
    with (Path(__file__).parent / "field_limits.tsv").open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def definitions(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in folder.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(PROJECT)))
    return found


@pytest.mark.acceptance("R11.2-01")
@pytest.mark.acceptance("0.11C-1", "0.11C-3")
def test_every_contract_imports_and_no_identifier_is_defined_twice() -> None:
    for name in contract_modules():
        importlib.import_module(name)
    twice = {name: places for name, places in definitions(ROOT).items() if len(places) > 1}
    assert twice == {}


@pytest.mark.acceptance("R11.2-02")
def test_no_other_package_defines_a_schema_of_its_own_under_a_contract_name() -> None:
    names = set(definitions(ROOT))
    for source in SOURCES[1:]:
        clashes = {
            n: p for n, p in definitions(PROJECT / source).items() if n in names and not n.startswith("_")
        }
        assert clashes == {}, f"{source} defines what contracts has: {clashes}"


@pytest.mark.acceptance("R11.2-03")
def test_superseded_schemas_cannot_be_imported() -> None:
    known = set(definitions(ROOT))
    assert known.isdisjoint(SUPERSEDED)


@pytest.mark.parametrize("limit", limits(), ids=lambda row: f"{row['schema']}.{row['field']}")
def test_a_field_has_the_limit_of_its_document(limit: dict[str, str]) -> None:
    model = schemas()[limit["schema"]]
    described = model.model_json_schema()
    found = set(_limits_in(described["properties"][limit["field"]], described.get("$defs", {})))
    assert found, f"{limit['field']} has no limit"
    assert int(limit["limit"]) in found or "enum" in found


def _limits_in(schema: dict[str, Any], definitions_: dict[str, Any]) -> list[object]:
    if "$ref" in schema:
        return _limits_in(definitions_[schema["$ref"].rsplit("/", 1)[1]], definitions_)
    found: list[object] = [schema[key] for key in ("maxLength", "maxItems", "maximum") if key in schema]
    if "enum" in schema or "const" in schema:
        found.append("enum")
    for part in (*schema.get("anyOf", ()), schema.get("items", {})):
        if part and part.get("type") != "null":
            found.extend(_limits_in(part, definitions_))
    return found


def test_every_contract_is_frozen_and_refuses_unknown_fields() -> None:
    open_on_purpose = {"ApiError"}
    for name, model in schemas().items():
        assert model.model_config.get("frozen") is True, name
        if name not in open_on_purpose:
            assert model.model_config.get("extra") == "forbid", name


def test_every_public_contract_says_what_it_means() -> None:
    for name in contract_modules():
        module = importlib.import_module(name)
        for value in vars(module).values():
            local = isinstance(value, type) and value.__module__ == name
            if local and issubclass(value, BaseModel | Enum) and not value.__name__.startswith("_"):
                assert (value.__doc__ or "").strip(), f"{name}.{value.__name__} has no docstring"


def read_rows(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def test_every_cap_of_the_document_holds_or_its_schema_is_named_elsewhere() -> None:
    """All caps of the document, word by word; beside them, by line, where a field stands under another name, or why
    it does not stand (superseded in the document itself, or not built)."""
    known = schemas()
    elsewhere = {row["line"]: row for row in read_rows("field_caps_elsewhere.tsv")}
    wrong: list[str] = []
    for cap in read_rows("field_caps.tsv"):
        model, field = cap["schema"].removesuffix("Schema"), cap["field"]
        row = elsewhere.pop(cap["line"], None)
        holds = model in known and _holds(known[model], field, cap["constraints"])
        if row is not None and row["where"] == "none":
            wrong += [f"{cap['line']} {model}.{field} holds by now"] if holds or not row["why"] else []
            continue
        if row is not None:
            model, field = row["where"].split(".")
            holds = _holds(known[model], field, cap["constraints"])
        wrong += [] if holds else [f"{cap['line']} {model}.{field} {cap['constraints']}"]
    assert wrong == []
    assert elsewhere == {}


def _holds(model: type[BaseModel], field: str, constraints: str) -> bool:
    """Whether the field of the model, or of a part of it, has every cap; what has a fixed set of values needs none."""
    described = _described(model)
    definitions_: dict[str, Any] = described.get("$defs", {})
    places = [
        place["properties"][field]
        for place in (described, *definitions_.values())
        if field in place.get("properties", {})
    ]
    wanted = re.findall(r"\.(max|min)\((\d+)\)", constraints)
    for place in places:
        found = _all_limits_in(place, definitions_)
        if all("enum" in found or (kind, int(number)) in found for kind, number in wanted):
            return True
    return False


@cache
def _described(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _all_limits_in(schema: dict[str, Any], definitions_: dict[str, Any]) -> set[object]:
    """The limits of a field and of its items; a part that is a schema of its own has fields of its own."""
    found: set[object] = {(key[:3], value) for key, value in schema.items() if key[:3] in ("min", "max")}
    if "$ref" in schema:
        named = definitions_[schema["$ref"].rsplit("/", 1)[1]]
        return {"enum"} if "enum" in named else found
    if "enum" in schema or "const" in schema or schema.get("format") == "uuid":
        found.add("enum")
    parts = (schema.get(key) or {} for key in ("items", "additionalProperties", "propertyNames"))
    for part in (*schema.get("anyOf", ()), *parts):
        if part and isinstance(part, dict) and part.get("type") != "null":
            found |= _all_limits_in(cast("dict[str, Any]", part), definitions_)
    return found
