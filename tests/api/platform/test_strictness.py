"""Booleans of contracts and times of request bodies: what only looks like one is refused where it stands."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from contracts.base import Contract
from tests.api.route_table import WITH_BODY
from tests.api.world import ROUTES, document, operation_of

LOOSE: Mapping[str, tuple[object, ...]] = {
    "boolean": (1, 0, 1.0, "true", "false", "on", "yes", "1", ""),
    "date-time": (1_700_000_000, 1.5, True, "1700000000", "2026-01-02", "2026-01-02T03:04:05", "now", ""),
}


def contracts(of: type[BaseModel] = Contract) -> Iterator[type[BaseModel]]:
    """Every contract that the API has loaded; those that are made for a type parameter are no request's."""
    for found in of.__subclasses__():
        yield found
        yield from contracts(found)


def loose_values(schema: Mapping[str, Any]) -> Iterator[object]:
    """Values that are no boolean or time, for a field that takes one; models have their own turn."""
    choices = schema.get("anyOf", (schema,))
    kinds = {one.get("format", one.get("type")) for one in choices}
    if kinds <= {"boolean", "date-time", "null"}:
        for kind in kinds - {"null"}:
            yield from LOOSE[kind]
    for one in choices:
        if one.get("type") == "array" and isinstance(one.get("items"), dict):
            yield from ([value] for value in loose_values(one["items"]))
        if isinstance(one.get("additionalProperties"), dict):
            yield from ({"key": value} for value in loose_values(one["additionalProperties"]))


def taken(model: type[BaseModel], name: str, value: object) -> bool:
    """Whether the field has nothing against the value; what the others say does not count."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        return not any(one["loc"][:1] == (name,) for one in error.errors())
    return True


def in_requests() -> set[str]:
    """The names of the schemas that request bodies hold."""
    found: set[str] = set()
    ahead = list(_named([operation_of(ROUTES[name])["requestBody"] for name in WITH_BODY]))
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead.extend(_named(document()["components"]["schemas"][name]))
    return found


def _named(schema: object) -> Iterator[str]:
    return (one.rsplit("/", 1)[1] for one in re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema)))


@pytest.mark.thorough
def test_no_contract_takes_for_a_boolean_what_is_none_and_no_request_for_a_time() -> None:
    asked = in_requests()
    places = [
        (model, name, value)
        for model in dict.fromkeys(contracts())
        for name, field in model.model_json_schema().get("properties", {}).items()
        if model.__name__ in asked or "date-time" not in json.dumps(field)
        for value in loose_values(field)
    ]
    assert len({(model, name) for model, name, _ in places}) > 200
    assert {name for model, name, _ in places if model.__name__ in asked} >= {"created_at", "confirmed"}
    assert [f"{m.__name__}.{name}: {value!r}" for m, name, value in places if taken(m, name, value)] == []


@pytest.mark.parametrize("name", WITH_BODY)
def test_every_request_body_is_a_contract(name: str) -> None:
    known = {model.__name__ for model in contracts()}
    content = operation_of(ROUTES[name])["requestBody"]["content"]["application/json"]["schema"]
    found = [one["$ref"].rsplit("/", 1)[1] for one in content.get("anyOf", [content]) if "$ref" in one]
    assert found
    assert set(found) <= known
    assert set(found) <= document()["components"]["schemas"].keys()
