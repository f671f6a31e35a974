"""Whatever is wrong with a request, the answer says so in the envelope and nothing has changed."""

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from api.platform.middleware import MAX_BODY_BYTES
from contracts.errors import ERROR_RULES, ErrorCode
from tests.api.platform.wrong_bodies import wrong_bodies
from tests.api.route_table import FILTERS, FREE_TEXT, KEYED, PAGED, WITH_BODY, good_body, with_path_id
from tests.api.world import CANARY, ROUTES, Ids, Route, World, document, operation_of, schema_of
from tests.fixtures.foreign_words import pydantics_words
from tests.fixtures.learner import Learner

pytestmark = pytest.mark.anyio


async def send(
    learner: Learner,
    route: Route,
    ids: Ids,
    content: Any = None,
    content_type: str = "application/json",
    **headers: str,
) -> httpx.Response:
    """One request as it is."""
    head = {"authorization": f"Bearer {learner.secret}", "content-type": content_type}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await learner.http.request(route.method, ids.path_of(route), content=content, headers=head)


def assert_refused(response: httpx.Response, code: ErrorCode, route: Route, how: str = "") -> dict[str, Any]:
    """The answer is this refusal, in the envelope, documented, and without what was sent."""
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (ERROR_RULES[code].status, code.value), how
    assert error["retryable"] is ERROR_RULES[code].retryable
    assert error["message"]
    assert error["correlation_id"] == response.headers["x-correlation-id"]
    assert CANARY not in response.text, how
    assert not pydantics_words(response.text), how
    documented = operation_of(route)["responses"][str(response.status_code)]
    assert code.value in documented["content"]["application/json"]["examples"], how
    return error


def assert_names_the_place(error: Mapping[str, Any], prefix: str | tuple[str, ...], how: str = "") -> None:
    assert error["fields"], how
    for field in error["fields"]:
        assert field["path"].startswith(prefix), how
        assert field["problem"], how


def test_the_table_knows_every_route_that_takes_a_body() -> None:
    assert {name for name, route in ROUTES.items() if schema_of(route)} == set(WITH_BODY)


@pytest.mark.parametrize("name", WITH_BODY)
async def test_a_body_that_is_wrong_in_any_way_is_refused_by_its_field(world: World, name: str) -> None:
    route = ROUTES[name]
    before = world.footprint()
    good = good_body(route, world.waiting) or {}
    for wrong in wrong_bodies(schema_of(route), good):
        response = await send(world.alice, route, world.waiting, wrong.content, wrong.content_type)
        how = f"{name}: {wrong.how}: {response.text}"
        error = assert_refused(response, ErrorCode.VALIDATION_FAILED, route, how)
        assert_names_the_place(error, "body", how)
    assert world.footprint() == before


async def test_every_wrong_field_is_named(world: World) -> None:
    before = world.footprint()
    status, error = await world.alice.refused(
        "POST", "/api/tokens", {"name": "", "scopes": [], CANARY[:6]: 1}
    )
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert {field["path"] for field in error["fields"]} == {"body.name", "body.scopes", "body.canary"}
    assert world.footprint() == before


@pytest.mark.parametrize(
    "edits",
    [
        {"surprise": 1},
        {"title": "t" * 161},
        {"title": {"canary": CANARY}},
        {"proposed_skill_slug": CANARY.upper()},
        {"trigger_phrases": [CANARY], "negative_triggers": [CANARY]},
        {"checkpoints": [{"goal": CANARY, "success_condition": [[CANARY]]}]},
        {"project_scope": CANARY},
    ],
)
async def test_an_edit_that_is_wrong_is_refused_by_its_name(world: World, edits: dict[str, Any]) -> None:
    route = ROUTES["learn_proposal_revise"]
    before = world.footprint()
    body = {"revision_instructions": CANARY, "edited_fields": edits}
    response = await send(world.alice, route, world.waiting, json.dumps(body))
    error = assert_refused(response, ErrorCode.REVISION_INVALID, route)
    assert_names_the_place(error, tuple(edits))
    assert world.footprint() == before


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", "[" * 900 + "]" * 900])
async def test_an_edit_that_is_no_value_at_all_is_refused(world: World, value: str) -> None:
    route = ROUTES["learn_proposal_revise"]
    body = f'{{"revision_instructions": "x", "edited_fields": {{"title": {value}}}}}'
    response = await send(world.alice, route, world.waiting, body)
    assert_refused(response, ErrorCode.REVISION_INVALID, route)


@pytest.mark.parametrize("name", [name for name in WITH_BODY if ROUTES[name].needs_body])
async def test_a_body_that_is_needed_cannot_be_left_out(world: World, name: str) -> None:
    before = world.footprint()
    for content in (None, b"", b"null", b"{}"):
        response = await send(world.alice, ROUTES[name], world.waiting, content)
        assert_names_the_place(assert_refused(response, ErrorCode.VALIDATION_FAILED, ROUTES[name]), "body")
    assert world.footprint() == before


@pytest.mark.parametrize("name", sorted(ROUTES))
async def test_a_body_over_the_limit_is_refused_however_it_is_announced(world: World, name: str) -> None:
    route = ROUTES[name]
    before = world.footprint()
    large = json.dumps({"surprise": "x" * MAX_BODY_BYTES}).encode()

    async def in_pieces() -> Any:
        for start in range(0, len(large), 1 << 20):
            yield large[start : start + (1 << 20)]

    for content in (large, in_pieces()):
        response = await send(world.alice, route, world.waiting, content)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert world.footprint() == before


@pytest.mark.parametrize("announced", ["-1", "1e3", "\u00b2", "9" * 5000, str(MAX_BODY_BYTES + 1)])
async def test_an_announced_length_that_cannot_be_is_refused(world: World, announced: str) -> None:
    head = {
        "authorization": f"Bearer {world.alice.secret}".encode(),
        "content-length": announced.encode("latin-1"),
    }
    response = await world.alice.http.post("/api/learn/sessions", content=b"{}", headers=head)
    assert_refused(response, ErrorCode.PAYLOAD_TOO_LARGE, ROUTES["learn_session_create"])


BAD_PAGES = (
    "page=0", "page=-1", "page=x", "page=1000001", "page=99999999999999999999", f"page={CANARY}",
    "page_size=0", "page_size=101", "page_size=1.5",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(PAGED))
async def test_a_page_that_cannot_be_is_refused(world: World, name: str) -> None:
    route = ROUTES[name]
    for query in BAD_PAGES:
        response = await world.alice.call(route.method, f"{world.waiting.path_of(route)}?{query}")
        error = assert_refused(response, ErrorCode.VALIDATION_FAILED, route, query)
        assert_names_the_place(error, "query.page", query)


@pytest.mark.parametrize(("name", "filters"), sorted(FILTERS.items()))
async def test_a_filter_outside_its_values_is_refused(
    world: World, name: str, filters: tuple[str, ...]
) -> None:
    route = ROUTES[name]
    for parameter in filters:
        for value in (CANARY, "%00", "%ED%A0%80", "x" * 3000):
            path = f"{world.waiting.path_of(route)}?{parameter}={value}"
            error = assert_refused(await world.alice.call("GET", path), ErrorCode.VALIDATION_FAILED, route)
            assert parameter in error["fields"][0]["path"]


@pytest.mark.parametrize("value", ["%00", "x" * 201, "a%0Ab"])
@pytest.mark.parametrize("name", ["learn_session_list", "learn_proposal_list", "learn_history"])
async def test_a_search_is_one_line_of_bounded_length(world: World, name: str, value: str) -> None:
    route = ROUTES[name]
    path = f"{world.waiting.path_of(route)}?q={value}"
    assert_refused(await world.alice.call("GET", path), ErrorCode.VALIDATION_FAILED, route)


def test_the_table_knows_every_query_parameter() -> None:
    for name, route in ROUTES.items():
        parameters = operation_of(route).get("parameters", [])
        found = {p["name"] for p in parameters if p["in"] == "query"}
        paging = {"page", "page_size"} if name in PAGED else set()
        assert found == paging | {*FILTERS.get(name, ()), *FREE_TEXT.get(name, ())}, name


NOT_FOUND = {
    "adapter_kind": ErrorCode.NOT_FOUND,
    "auth_profile_id": ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
    "candidate_id": ErrorCode.NOT_FOUND,
    "card_digest": ErrorCode.NOT_FOUND,
    "category_id": ErrorCode.NOT_FOUND,
    "digest": ErrorCode.NOT_FOUND,
    "dispatch_id": ErrorCode.NOT_FOUND,
    "grant_id": ErrorCode.MCP_GRANT_NOT_FOUND,
    "mcp_dispatch_id": ErrorCode.MCP_DISPATCH_NOT_FOUND,
    "mining_run_id": ErrorCode.NOT_FOUND,
    "server_id": ErrorCode.MCP_SERVER_NOT_FOUND,
    "session_id": ErrorCode.LEARN_SESSION_NOT_FOUND,
    "proposal_id": ErrorCode.PROPOSAL_NOT_FOUND,
    "saga_id": ErrorCode.SAGA_NOT_FOUND,
    "state_id": ErrorCode.NOT_FOUND,
    "trial_id": ErrorCode.NOT_FOUND,
    "event_id": ErrorCode.OBSERVATION_NOT_FOUND,
    "ability_id": ErrorCode.ABILITY_NOT_FOUND,
    "token_id": ErrorCode.NOT_FOUND,
    "run_id": ErrorCode.NOT_FOUND,
    "name": ErrorCode.SKILL_NOT_FOUND,
    "invocation_id": ErrorCode.SKILL_INVOCATION_NOT_FOUND,
    "wallet_address": ErrorCode.NOT_FOUND,
    "jti": ErrorCode.NOT_FOUND,
    "memory_id": ErrorCode.NOT_FOUND,
    "goal_id": ErrorCode.NOT_FOUND,
    "check_in_id": ErrorCode.NOT_FOUND,
    "inbox_item_id": ErrorCode.NOT_FOUND,
    "import_id": ErrorCode.SKILL_IMPORT_NOT_FOUND,
    "temp_artifact_ref": ErrorCode.SKILL_IMPORT_UPLOAD_NOT_FOUND,
    "pack_id": ErrorCode.SKILL_PACK_NOT_FOUND,
    "pack_install_id": ErrorCode.SKILL_PACK_INSTALL_NOT_FOUND,
}
MALFORMED = (
    "1",
    "..%2e",
    "%00",
    "%ED%A0%80",
    "%F0%9F%92%A5",
    "*",
    "'%20OR%201=1--",
    CANARY,
    "z" * 32,
    "-" * 36,
)


@pytest.mark.parametrize("name", [name for name in with_path_id() if name != "workflow_link"])
async def test_an_unknown_or_malformed_id_names_nothing(world: World, name: str) -> None:
    route = ROUTES[name]
    field = route.path.split("{")[1].split("}")[0]
    before = world.footprint()
    body = json.dumps(good_body(route, world.waiting)) if schema_of(route) else None
    known = vars(world.waiting) | {field: vars(world.nowhere)[field]}
    response = await send(world.alice, route, Ids(**known), body)
    assert_refused(response, NOT_FOUND[field], route)
    for value in MALFORMED:
        response = await send(world.alice, route, Ids(**(known | {field: value})), body)
        assert_refused(response, NOT_FOUND[field], route, value)
    response = await send(world.alice, route, Ids(**(known | {field: "x" * 201})), body)
    assert_names_the_place(assert_refused(response, ErrorCode.VALIDATION_FAILED, route), f"path.{field}")
    assert world.footprint() == before


@pytest.mark.parametrize(
    "workflow_id",
    [
        "x",
        "learn-session",
        "learn-session/",
        "learn-session/%00",
        f"learn-session/{CANARY}",
        "nothing/1",
        "a/b/c",
    ],
)
async def test_a_workflow_that_is_none_of_ours_is_not_found(world: World, workflow_id: str) -> None:
    response = await world.alice.call("GET", f"/api/workflows/{workflow_id}")
    assert_refused(response, ErrorCode.NOT_FOUND, ROUTES["workflow_link"])


BAD_KEYS = ("", "k" * 121, "caf\u00e9", "tab\there", "nul\0")


@pytest.mark.parametrize("name", sorted(KEYED))
async def test_an_idempotency_key_that_cannot_be_one_is_refused(world: World, name: str) -> None:
    route = ROUTES[name]
    before = world.footprint()
    body = json.dumps(good_body(route, world.waiting)).encode() if schema_of(route) else None
    for key in BAD_KEYS:
        head = {
            b"authorization": f"Bearer {world.alice.secret}".encode(),
            b"content-type": b"application/json",
            b"idempotency-key": key.encode("latin-1"),
        }
        response = await world.alice.http.request(
            route.method, world.waiting.path_of(route), content=body, headers=head
        )
        error = assert_refused(response, ErrorCode.VALIDATION_FAILED, route, repr(key))
        assert_names_the_place(error, "header.idempotency-key")
    assert world.footprint() == before


@pytest.mark.parametrize("given", ["", "x" * 201, "a b", "<script>", "\u00e9", "a\tb", CANARY + " "])
async def test_a_hostile_correlation_id_is_replaced(world: World, given: str) -> None:
    head = {"x-correlation-id": given.encode("latin-1")}
    response = await world.alice.http.get("/api/me", headers=head)
    error = assert_refused(response, ErrorCode.UNAUTHENTICATED, ROUTES["me"])
    assert error["correlation_id"] != given
    assert len(error["correlation_id"]) == 36


async def test_a_decent_correlation_id_is_kept(world: World) -> None:
    response = await world.alice.http.get("/api/me", headers={"x-correlation-id": "job-7/step:2"})
    assert response.json()["error"]["correlation_id"] == "job-7/step:2"


@pytest.mark.parametrize("name", sorted(ROUTES))
async def test_no_other_method_is_taken_and_no_other_address_is_there(world: World, name: str) -> None:
    path = world.waiting.path_of(ROUTES[name])
    # A fixed name may stand where another route has an id.
    offered = {
        method.upper()
        for template, methods in document()["paths"].items()
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
        for method in methods
    }
    for method in {"PUT", "PATCH"} - offered:
        response = await world.alice.call(method, path, {"surprise": CANARY})
        assert (response.status_code, response.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    response = await world.alice.call("GET", f"/api/{CANARY}/{name}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert CANARY not in response.text
