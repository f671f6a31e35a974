"""Random requests are answered as our own OpenAPI document has it; none causes a server error.

Bodies first; then whole requests to every operation, with paths, queries, headers and bodies that the document allows
and that it does not. The seed of these is printed where they fail; ``APPRENTICE_TEST_SEED`` repeats it.
"""

import json
import os
from collections.abc import Mapping
from random import SystemRandom
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st

from api.platform.openapi import examples
from contracts.errors import ERROR_RULES, ErrorCode
from tests.api.platform.test_bad_input import send
from tests.api.route_table import WITH_BODY
from tests.api.world import ROUTES, Ids, Route, World, document, operation_of, resolved, schema_of
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


SEED = int(os.environ.get("APPRENTICE_TEST_SEED") or SystemRandom().randrange(2**32))
"""Of the run over whole requests; it is printed where that fails, and set again repeats it."""

REQUESTS_DRAWN = times(800)
"""Some twenty seconds on two processors."""

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
ODD = TEXT | st.sampled_from(
    ("0", "-1", "%00", "..", "null", "true", "1e999", "9" * 40, "\u200b", "learned.x")
)


class Drawn(NamedTuple):
    """One request."""

    name: str
    ids: tuple[str, ...] | None
    """What stands in the path, where it is nothing that exists."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    content: bytes


def is_asked(route: Route) -> bool:
    """Whether it is in the document, and its answer ends before the client leaves."""
    if route.path.replace(":path", "") not in document()["paths"]:
        return False
    answers = operation_of(route)["responses"].values()
    return not any("text/event-stream" in one.get("content", {}) for one in answers)


def queries_of(route: Route) -> st.SearchStrategy[dict[str, str]]:
    """Some of the parameters it knows, fitting or not, and now and then one that it does not."""
    known = {
        one["name"]: (values_of(one["schema"]).map(_text) | ODD)
        for one in operation_of(route).get("parameters", ())
        if one["in"] == "query"
    }
    return st.fixed_dictionaries({}, optional={**known, "surprise": ODD})


def contents_of(name: str) -> st.SearchStrategy[bytes]:
    """A body as its schema has it, one that is slightly wrong, any JSON, or anything."""
    if name not in WITH_BODY:
        return st.just(b"")
    anything = ANYTHING.map(lambda body: json.dumps(body).encode()) | st.binary(max_size=60)
    fitting = bodies_of(name).map(lambda drawn: json.dumps(drawn[1]).encode())
    return fitting | fitting | anything


def requests_of(name: str) -> st.SearchStrategy[Drawn]:
    """Requests to one operation. What deletes is asked for nothing that exists: the tests of a file share it."""
    route = ROUTES[name]
    made_up = st.tuples(*(st.uuids().map(str) | ODD.filter(bool) for _ in range(route.path.count("{"))))
    there = st.none() if route.method != "DELETE" else made_up
    keys = st.fixed_dictionaries({}, optional={"idempotency-key": st.text("abc-_ /\t~", max_size=130)})
    return st.builds(Drawn, st.just(name), there | made_up, queries_of(route), keys, contents_of(name))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _path(route: Route, ids: Ids, drawn: tuple[str, ...] | None) -> str:
    if drawn is None:
        return ids.path_of(route)
    path, places = route.path, list(drawn)
    while "{" in path:
        before, _, rest = path.partition("{")
        path = before + quote(places.pop(0), safe="").replace(".", "%2E") + rest.partition("}")[2]
    return path


@pytest.mark.thorough
@seed(SEED)
@settings(
    max_examples=REQUESTS_DRAWN,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(asked=st.one_of([requests_of(name) for name, route in ROUTES.items() if is_asked(route)]))
async def test_any_request_is_answered_as_documented(world: World, asked: Drawn) -> None:
    route = ROUTES[asked.name]
    where = _path(route, world.rejected, asked.ids)
    note(f"APPRENTICE_TEST_SEED={SEED}")
    head = {
        "authorization": f"Bearer {world.alice.secret}",
        "content-type": "application/json",
        # The callback of a sign-in answers a browser with a page.
        "accept": "application/json",
        **asked.headers,
    }
    told = f"seed {SEED}: {route.method} {where} {asked.query} {asked.headers} {asked.content[:300]!r}"
    answer = await world.alice.http.request(
        route.method,
        f"{where}?{urlencode(asked.query)}" if asked.query else where,
        content=asked.content,
        headers=[(name.encode(), value.encode()) for name, value in head.items()],
    )
    if answer.status_code in (404, 405, 307) and asked.ids is not None:
        return  # it names another path
    assert answer.status_code != 500, f"{told}: {answer.text}"
    documented: Any = operation_of(route)["responses"].get(str(answer.status_code))
    assert documented is not None, f"{told}: {answer.status_code} {answer.text}"
    if answer.status_code >= 400:
        code = ErrorCode(answer.json()["error"]["code"])
        assert ERROR_RULES[code].status == answer.status_code, told
        assert code.value in documented["content"]["application/json"]["examples"], f"{told}: {code.value}"
