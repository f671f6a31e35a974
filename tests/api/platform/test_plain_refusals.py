"""What is wrong with a request body is told in words of our own, however deep in it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from api.platform.openapi import examples
from contracts.plain_problems import field_problems, plain_problem
from tests.api.platform.test_strictness import in_requests
from tests.api.route_table import WITH_BODY
from tests.api.world import CANARY, ROUTES, document, resolved, schema_of
from tests.fixtures.foreign_words import pydantics_words

VALUES: tuple[Any, ...] = (
    None, True, -1, 1.5, 10**30, float("inf"), "", "x", "x" * 5000, CANARY, "\0", "\ud83d", "2026", [], [1], {},
    {"kind": CANARY}, [[]], [{}], "../x",
)  # fmt: skip
"""What is put in the place of everything in a body."""


def whole(schema: Mapping[str, Any], depth: int = 0) -> Any:
    """A body that has everything that the schema names, to be put wrong piece by piece."""
    schema = resolved(schema)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return whole(choices[0], depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if depth < 7 and schema.get("type") == "object":
        fields = schema.get("properties", {})
        return {name: whole(one, depth + 1) for name, one in fields.items()} or {"name": "value"}
    if depth < 7 and schema.get("type") == "array":
        return [whole(schema.get("items", {}), depth + 1)]
    return {"string": "x", "integer": 1, "number": 1, "boolean": True}.get(schema.get("type", ""))


def wrong(body: Any) -> Iterator[Any]:
    """The body with one thing put wrong, at any depth."""
    yield from VALUES
    if isinstance(body, dict):
        for name in body:
            yield from ({**body, name: one} for one in wrong(body[name]))
            yield {other: one for other, one in body.items() if other != name}
        yield {**body, "surprise": CANARY}
    if isinstance(body, list) and body:
        yield from ([one, *body[1:]] for one in wrong(body[0]))
        yield body * 200


def problems_of(model: type[BaseModel], body: Any) -> list[tuple[str, str]]:
    try:
        model.model_validate(body)
    except ValidationError as error:
        return [(one.path, one.problem) for one in field_problems(error, whole="body", given=body)]
    return []


def patterns_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        yield from (one for part in schema.values() for one in patterns_in(part))
    elif isinstance(schema, list):
        yield from (one for part in schema for one in patterns_in(part))


def test_every_pattern_of_a_request_has_words() -> None:
    schemas = document()["components"]["schemas"]
    operations = [one for path in document()["paths"].values() for one in path.values()]
    asked = [[one.get("parameters"), one.get("requestBody")] for one in operations]
    found = set(patterns_in([asked, [schemas[name] for name in in_requests()]]))
    assert len(found) > 15
    told = {one: plain_problem("string_pattern_mismatch", "", {"pattern": one}) for one in found}
    assert [one for one, words in told.items() if not words.startswith("has to be ")] == []


@pytest.mark.parametrize("name", WITH_BODY)
def test_nothing_of_pydantics_words_and_nothing_that_was_sent_is_left_in_a_refusal(name: str) -> None:
    model = ROUTES[name].body
    assert model is not None
    bodies = (examples().requests.get(name) or {}, whole(schema_of(ROUTES[name])))
    seen = {one for body in bodies for given in wrong(body) for one in problems_of(model, given)}
    assert seen
    assert [one for one in sorted(seen) if pydantics_words(": ".join(one)) or CANARY in one[1]] == []
