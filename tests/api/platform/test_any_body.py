"""Random request bodies are accepted, or refused in the error envelope; none causes a server error."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.platform.openapi import examples
from contracts.errors import ERROR_RULES, ErrorCode
from tests.api.platform.test_bad_input import send
from tests.api.route_table import WITH_BODY
from tests.api.world import ROUTES, World, operation_of, resolved, schema_of
from tests.fixtures.thoroughness import times

REQUESTS = examples().requests

pytestmark = pytest.mark.anyio

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


def values_of(schema: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that fit a schema more often than not."""
    schema = dict(resolved(schema))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object" if "properties" in schema and depth < 4:
            fields = {name: values_of(field, depth + 1) for name, field in schema["properties"].items()}
            needed = {name: fields.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(needed, optional=fields)
        case "array" if depth < 4:
            return st.lists(values_of(schema.get("items", {}), depth + 1), max_size=3)
        case "string":
            return st.uuids().map(str) | st.text(max_size=min(schema.get("maxLength", 50), 300))
        case "integer":
            return st.integers(-3, 300)
        case "boolean":
            return st.booleans()
        case _:
            return ANYTHING


def mutated(body: Any) -> st.SearchStrategy[Any]:
    """The body, or the body with one thing put in the place of another."""
    if not isinstance(body, dict) or not body:
        return st.just(body) | ANYTHING
    return st.just(body) | st.builds(
        lambda name, value: {**body, name: value},
        st.sampled_from(sorted(body)) | st.text(max_size=8),
        ANYTHING,
    )


def bodies_of(name: str) -> st.SearchStrategy[tuple[str, Any]]:
    """Bodies for one route, with its name."""
    fitting = values_of(dict(schema_of(ROUTES[name]))) | st.just(dict(REQUESTS[name]))
    return st.tuples(st.just(name), fitting.flatmap(mutated))


# Drawn before the test begins: a draw that ends early must not end the loop that the application runs in.
@settings(max_examples=times(300), deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=st.one_of([bodies_of(name) for name in WITH_BODY]))
async def test_any_body_is_answered(world: World, asked: tuple[str, Any]) -> None:
    name, body = asked
    route = ROUTES[name]
    response = await send(world.alice, route, world.rejected, json.dumps(body))
    documented = operation_of(route)["responses"][str(response.status_code)]
    if not response.is_success:
        code = ErrorCode(response.json()["error"]["code"])
        assert code is not ErrorCode.INTERNAL_ERROR
        assert ERROR_RULES[code].status == response.status_code
        assert code.value in documented["content"]["application/json"]["examples"]
