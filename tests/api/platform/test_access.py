"""Who may do what: tokens, scopes, and other people's objects."""

import json
from datetime import UTC, datetime

import httpx
import pytest

from api.platform.middleware import MAX_BODY_BYTES
from contracts.errors import ErrorCode
from contracts.platform.identity import Scope
from tests.api.platform.test_bad_input import NOT_FOUND, assert_refused, send
from tests.api.route_table import ANY_SCOPE, OPEN, SCOPES, good_body, with_path_id
from tests.api.world import ALL_SCOPES, CANARY, ROUTES, Ids, World, operation_of
from tests.fixtures.learner import Learner

pytestmark = pytest.mark.anyio

SECURED = sorted(set(ROUTES) - OPEN)

EVERYBODYS = frozenset({"observation_adapter_heartbeat", "skill_get", "skill_invoke", "skill_approve"})
"""Address what is the same for every user: the kinds of adapters, and executable skills."""


def body_of(name: str, ids: Ids) -> bytes | None:
    body = good_body(ROUTES[name], ids)
    return None if body is None else json.dumps(body).encode()


def token(world: World, user: str, scopes: list[Scope]) -> tuple[str, str]:
    made, secret = world.stack.services.tokens.create("test", user, scopes, datetime.now(UTC))
    return made.token_id, secret


async def as_token(world: World, secret: str, name: str) -> httpx.Response:
    caller = Learner(world.alice.http, secret, "alice")
    return await send(caller, ROUTES[name], world.waiting, body_of(name, world.waiting))


def test_the_table_knows_the_right_that_every_route_needs() -> None:
    assert set(ROUTES) == OPEN | ANY_SCOPE | set(SCOPES)
    for name, route in ROUTES.items():
        assert bool(operation_of(route).get("security")) is (name not in OPEN), name


@pytest.mark.parametrize("name", SECURED)
async def test_without_a_token_that_holds_nothing_is_answered(world: World, name: str) -> None:
    token_id, revoked = token(world, "alice", [Scope(scope) for scope in ALL_SCOPES])
    assert (await as_token(world, revoked, "me")).status_code == 200
    world.stack.services.tokens.revoke(token_id, "alice")
    before = world.footprint()
    route, path, body = ROUTES[name], world.waiting.path_of(ROUTES[name]), body_of(name, world.waiting)
    for header in (
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {CANARY}",
        f"Bearer apr_{'x' * 43}",
        f"Bearer {revoked}",
        f"Basic {world.alice.secret}",
        world.alice.secret,
        f"Bearer {world.alice.secret}{CANARY}",
        f"Bearer {world.alice.secret[:-1]}\u00e9",
    ):
        head = {b"content-type": b"application/json"}
        if header is not None:
            head[b"authorization"] = header.encode("latin-1")
        response = await world.alice.http.request(route.method, path, content=body, headers=head)
        assert_refused(response, ErrorCode.UNAUTHENTICATED, route, str(header))
        assert response.headers["www-authenticate"] == "Bearer"
    assert world.footprint() == before


@pytest.mark.parametrize("name", sorted(SCOPES))
async def test_a_token_without_the_scope_is_told_which_it_needs(world: World, name: str) -> None:
    needed = Scope(SCOPES[name])
    others = [scope for scope in Scope if scope not in (needed, Scope.ADMIN)]
    _, secret = token(world, "alice", others)
    before = world.footprint()
    error = assert_refused(await as_token(world, secret, name), ErrorCode.FORBIDDEN, ROUTES[name])
    assert error["required_scope"] == needed
    assert world.footprint() == before


UNREADABLE: dict[str, bytes] = {
    "no JSON": b'{"a": ',
    "raw bytes": bytes(range(0x80, 0xD0)),
    "a name twice": b'{"a": 1, "a": 2}',
    "half a surrogate pair": b'{"a": "\\ud800"}',
    "another type": b"[]",
    "too much": b" " * (MAX_BODY_BYTES + 1),
}


@pytest.mark.parametrize("name", SECURED)
async def test_token_and_scope_are_looked_at_before_body_and_path(world: World, name: str) -> None:
    route, needed = ROUTES[name], SCOPES.get(name)
    lacking = [scope for scope in Scope if scope not in (needed, Scope.ADMIN)]
    _, secret = token(world, "alice", lacking)
    paths = {world.waiting.path_of(route), world.nowhere.path_of(route)}
    before = world.footprint()
    for how, content in UNREADABLE.items():
        for path in paths:
            head = {"content-type": "application/json"}
            response = await world.alice.http.request(route.method, path, content=content, headers=head)
            error = assert_refused(response, ErrorCode.UNAUTHENTICATED, route, how)
            assert "admin_token of the data directory" in error["message"]
            assert "starting `apprentice up` anew puts another there" in error["message"]
            if needed is not None:
                head["authorization"] = f"Bearer {secret}"
                response = await world.alice.http.request(route.method, path, content=content, headers=head)
                assert_refused(response, ErrorCode.FORBIDDEN, route, how)
    assert world.footprint() == before


@pytest.mark.parametrize("path", sorted({route.path for route in ROUTES.values()}))
async def test_a_path_says_which_methods_it_takes(world: World, path: str) -> None:
    takes = {route.method for route in ROUTES.values() if route.path == path}
    asked = next(iter(ROUTES[name] for name in ROUTES if ROUTES[name].path == path))
    response = await world.alice.http.request("TRACE", world.waiting.path_of(asked))
    assert response.status_code == 405
    assert takes <= set(response.headers["allow"].split(", "))


@pytest.mark.parametrize("scopes", [["admin"], ["read", "install"]])
async def test_nobody_gives_away_a_right_that_is_not_theirs(world: World, scopes: list[str]) -> None:
    _, secret = token(world, "alice", [Scope.READ])
    reader = Learner(world.alice.http, secret, "alice")
    before = world.footprint()
    for body in ({"name": "more", "scopes": scopes}, {"name": "his", "scopes": ["read"], "user_id": "bob"}):
        response = await send(reader, ROUTES["token_create"], world.waiting, json.dumps(body).encode())
        assert_refused(response, ErrorCode.FORBIDDEN, ROUTES["token_create"])
    assert world.footprint() == before


async def test_a_lesser_token_reaches_itself_and_what_it_made_alone(world: World) -> None:
    lesser_id, secret = token(world, "alice", [Scope.OBSERVE])
    greater_id, greater_secret = token(world, "alice", [Scope.ADMIN])
    lesser = Learner(world.alice.http, secret, "alice")
    asked = {"name": "made", "scopes": ["observe"]}
    made = await lesser.ok("POST", "/api/tokens", asked)
    listed = (await lesser.ok("GET", "/api/tokens"))["tokens"]
    assert [one["token_id"] for one in listed] == [made["token"]["token_id"], lesser_id]
    status, error = await lesser.refused("DELETE", f"/api/tokens/{greater_id}")
    assert (status, error["code"]) == (404, "NOT_FOUND")
    child = Learner(world.alice.http, made["secret"], "alice")
    status, _ = await child.refused("DELETE", f"/api/tokens/{lesser_id}")
    assert status == 404
    admin = Learner(world.alice.http, greater_secret, "alice")
    await admin.ok("DELETE", f"/api/tokens/{lesser_id}")
    for gone in (lesser, child):
        status, error = await gone.refused("GET", "/api/me")
        assert (status, error["code"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "name", [n for n in with_path_id() if SCOPES.get(n) != "admin" and n not in EVERYBODYS]
)
async def test_somebody_elses_object_is_not_there(world: World, name: str) -> None:
    route = ROUTES[name]
    before = world.footprint()
    response = await send(world.mallory, route, world.waiting, body_of(name, world.waiting))
    field = route.path.split("{")[1].split("}")[0].removesuffix(":path")
    expected = NOT_FOUND.get(field, ErrorCode.LEARN_SESSION_NOT_FOUND)
    hidden = assert_refused(response, expected, route)
    response = await send(world.mallory, route, world.nowhere, body_of(name, world.waiting))
    missing = assert_refused(response, expected, route)
    assert without_ids(hidden, world) == without_ids(missing, world)
    assert world.footprint() == before


def without_ids(error: dict[str, object], world: World) -> str:
    """What the refusal tells apart from the id that was asked for, which the caller knows."""
    text = str(error["message"])
    for ids in (world.waiting, world.nowhere):
        for value in vars(ids).values():
            text = text.replace(value, "…")
    return f"{error['code']}: {text}"


async def test_a_body_cannot_name_somebody_elses_object(world: World) -> None:
    before = world.footprint()
    clone = {"entry_mode": "demonstrating_skill", "clone_of": world.rejected.session_id}
    path = "/api/learn/sessions"
    status, error = await world.mallory.refused("POST", path, clone)
    assert (status, error["code"]) == (404, "LEARN_SESSION_NOT_FOUND")
    query = {"user_query": "sales", "ability_id": world.waiting.ability_id}
    status, error = await world.mallory.refused("POST", "/api/abilities/explain-match", query)
    assert (status, error["code"]) == (404, "ABILITY_NOT_FOUND")
    assert world.footprint() == before


async def test_lists_show_nothing_of_others(world: World) -> None:
    for path in (
        "/api/learn/sessions",
        "/api/learn/proposals",
        "/api/learn/history",
        "/api/learn/receipts",
        f"/api/learn/receipts?learn_session_id={world.waiting.session_id}",
    ):
        assert (await world.mallory.ok("GET", path))["total"] == 0, path
        assert (await world.alice.ok("GET", path))["total"] > 0, path
    for path in ("/api/abilities/availability", "/api/abilities/catalog"):
        assert world.waiting.ability_id not in str(await world.mallory.ok("GET", path))
        assert world.waiting.ability_id in str(await world.alice.ok("GET", path))


WRONG_STATE = {
    "learn_session_stop": ErrorCode.CAPTURE_ALREADY_STOPPED,
    "learn_session_create": ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
    "learn_session_trim": ErrorCode.BOUNDARY_INVALID,
}
TAKEN_BEFORE_INSTALL = frozenset(
    {
        "learn_session_cancel",
        "learn_proposal_revise",
        "learn_proposal_validate",
        "learn_proposal_request_more_tests",
        "learn_proposal_install",
        "learn_proposal_approve",
        "learn_proposal_reject",
    }
)
TAKEN_ALWAYS = frozenset({"learn_proposal_request_adapter"})
# What is said to sessions and proposals; abilities have states of their own (tests/e2e/test_ability_life.py).
COMMANDS = sorted(
    name
    for name, scope in SCOPES.items()
    if scope in ("learn", "observe", "install", "approve")
    and (ROUTES[name].body or "delete" in name)
    and name.startswith("learn_")
    and name not in TAKEN_ALWAYS
)


@pytest.mark.parametrize("name", sorted({*COMMANDS, "learn_observation_remove"}))
async def test_a_command_in_the_wrong_state_says_so_and_changes_nothing(world: World, name: str) -> None:
    route = ROUTES[name]
    before = world.footprint()
    for ids, at_rest in ((world.waiting, False), (world.rejected, True)):
        taken = name in TAKEN_BEFORE_INSTALL if not at_rest else name == "learn_session_delete"
        if taken:
            continue
        response = await send(world.alice, route, ids, body_of(name, ids))
        expected = WRONG_STATE.get(name, ErrorCode.INVALID_LEARN_STATE_TRANSITION)
        error = assert_refused(response, expected, route)
        if expected is ErrorCode.INVALID_LEARN_STATE_TRANSITION and not name.startswith("learn_obs"):
            assert error["current_state"] == ("rejected" if at_rest else "ready_for_review")
    assert world.footprint() == before
