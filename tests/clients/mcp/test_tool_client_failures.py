"""Servers that misbehave: what the client makes of it, and that it knows whether the call was sent."""

import asyncio
import socket

import pytest

from contracts.mcp.tools import UNKNOWN_OUTCOMES, ToolFailureKind
from tests.fixtures.mcp_servers import EFFECT_SCHEMA, MisbehavingServer, registered

pytestmark = pytest.mark.anyio

SIGN_IN = {"WWW-Authenticate": 'Bearer resource_metadata="https://as.example/.well-known/x"'}
MORE_SCOPE = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="notes.write"'}
LATER = {"Retry-After": "7"}
A_PAGE = {"Content-Type": "text/html"}
NO_JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("on", ["tools/call", "*"])
async def test_a_server_that_asks_to_sign_in_says_where(
    calls, misbehaving_server: MisbehavingServer, on: str
):
    misbehaving_server.order("status", on=on, status=401, headers=SIGN_IN)
    failure = await calls.fail(misbehaving_server.entry(), bearer="token")
    assert (failure.kind, failure.http_status) == (ToolFailureKind.AUTH_REQUIRED, 401)
    assert failure.www_authenticate == SIGN_IN["WWW-Authenticate"]
    assert misbehaving_server.effects() == []


async def test_a_scope_that_is_missing_is_told_from_a_call_that_is_not_allowed(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("status", status=403, headers=MORE_SCOPE, times=1)
    failure = await calls.fail(misbehaving_server.entry())
    assert (failure.kind, failure.www_authenticate) == (
        ToolFailureKind.SCOPE_MISSING,
        MORE_SCOPE["WWW-Authenticate"],
    )
    assert failure.message == "HTTP 403: the sign-in lacks a scope that the tool needs: notes.write"
    misbehaving_server.order("status", status=403)
    assert (await calls.fail(misbehaving_server.entry())).kind is ToolFailureKind.REFUSED_BY_SERVER


MICROSOFT = tuple(f"https://graph.microsoft.com/Notes.ReadWrite.All{number}" for number in range(7))


@pytest.mark.parametrize(
    ("said", "needed"),
    [
        ('scope="a b a"', ("a", "b")),
        ("scope=notes.write, realm=x", ("notes.write",)),
        (f'scope="{" ".join(MICROSOFT)}"', MICROSOFT),
        ('scope="' + " ".join(f"s{number}" for number in range(150)) + '"', None),
        (f'scope="{"x" * 161} y"', ("y",)),
        ('scope="a`b`"', ()),
        ('scope=""', ()),
        ('myscope="a"', ()),
    ],
)
async def test_the_scopes_that_a_server_names_are_known_within_bounds(
    calls, misbehaving_server: MisbehavingServer, said: str, needed: tuple[str, ...] | None
):
    headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", {said}'}
    misbehaving_server.order("status", status=403, headers=headers)
    failure = await calls.fail(misbehaving_server.entry())
    assert failure.kind is ToolFailureKind.SCOPE_MISSING
    assert failure.scopes_needed == (tuple(f"s{n}" for n in range(100)) if needed is None else needed)


@pytest.mark.parametrize("on", ["tools/call", "*"])
async def test_a_throttled_call_says_when_to_come_back(calls, misbehaving_server: MisbehavingServer, on: str):
    misbehaving_server.order("status", on=on, status=429, headers=LATER)
    failure = await calls.fail(misbehaving_server.entry())
    assert (failure.kind, failure.retry_after_ms) == (ToolFailureKind.THROTTLED, 7_000)
    assert misbehaving_server.effects() == []


@pytest.mark.parametrize(
    ("order", "kind", "effects"),
    [
        ({"what": "status", "status": 500}, ToolFailureKind.SERVER_ERROR, 0),
        ({"what": "status_after", "status": 502}, ToolFailureKind.SERVER_ERROR, 1),
        ({"what": "status_after", "status": 202}, ToolFailureKind.CONNECTION_LOST, 1),
        ({"what": "status_after", "status": 303}, ToolFailureKind.CONNECTION_LOST, 1),
        ({"what": "status_after", "status": 200}, ToolFailureKind.CONNECTION_LOST, 1),
        ({"what": "status_after", "status": 200, "headers": A_PAGE}, ToolFailureKind.CONNECTION_LOST, 1),
        ({"what": "status_after", "status": 200, "headers": NO_JSON}, ToolFailureKind.OUTPUT_INVALID, 1),
        ({"what": "status", "status": 308}, ToolFailureKind.REFUSED_BY_SERVER, 0),
        ({"what": "break"}, ToolFailureKind.SERVER_ERROR, 1),
        ({"what": "drop"}, ToolFailureKind.CONNECTION_LOST, 0),
        ({"what": "drop_after"}, ToolFailureKind.CONNECTION_LOST, 1),
        ({"what": "huge", "bytes": 3_000_000}, ToolFailureKind.OUTPUT_TOO_LARGE, 1),
        ({"what": "huge", "bytes": 1_048_576}, ToolFailureKind.OUTPUT_TOO_LARGE, 1),
        ({"what": "compress"}, ToolFailureKind.OUTPUT_INVALID, 1),
        (
            {"what": "refuse", "code": -32602, "message": "canary-c0ffee"},
            ToolFailureKind.REFUSED_BY_SERVER,
            0,
        ),
        (
            {"what": "refuse", "code": -32010, "message": "canary-c0ffee"},
            ToolFailureKind.REFUSED_BY_SERVER,
            0,
        ),
    ],
    ids=lambda value: value["what"] if isinstance(value, dict) else None,
)
async def test_a_call_that_may_have_been_done_is_told_from_one_that_was_not(
    calls, misbehaving_server: MisbehavingServer, order: dict, kind: ToolFailureKind, effects: int
):
    misbehaving_server.order(**order)
    failure = await calls.fail(misbehaving_server.entry())
    assert failure.kind is kind
    assert calls.announced == 1
    assert len(misbehaving_server.effects()) == effects
    assert len(misbehaving_server.asked()) == 1, "a call is sent once"


@pytest.mark.parametrize(
    "order",
    [
        {"what": "status", "status": 500},
        {"what": "status", "status": 404},
        {"what": "drop"},
        {"what": "hold"},
    ],
    ids=lambda order: f"{order['what']}-{order.get('status', '')}",
)
async def test_a_server_that_fails_before_the_call_was_not_sent_anything(
    calls, misbehaving_server: MisbehavingServer, order: dict
):
    misbehaving_server.order(**order, on="*")
    failure = await calls.fail(misbehaving_server.entry(), timeout_ms=1_000)
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert calls.announced == 0
    misbehaving_server.lift()
    assert misbehaving_server.asked() == []


async def test_a_server_that_is_not_there_was_not_sent_anything(calls):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"
        failure = await calls.fail(registered(transport="remote_http", endpoint_url=url))
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert calls.announced == 0


async def test_a_call_that_takes_too_long_beats_meanwhile_and_its_outcome_is_unknown(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("hold_after")
    failure = await calls.fail(misbehaving_server.entry(), timeout_ms=3_000)
    assert failure.kind is ToolFailureKind.TIMED_OUT
    assert failure.kind in UNKNOWN_OUTCOMES
    assert len(misbehaving_server.effects()) == 1
    assert calls.beats


async def test_a_call_that_is_cancelled_hangs_up_though_the_server_never_answers_anything(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("status", on="server/discover", status=400)
    for method in ("tools/call", "DELETE", "notifications/cancelled"):
        misbehaving_server.order("hold", on=method)
    calling = asyncio.create_task(calls.make(misbehaving_server.entry()))
    while not misbehaving_server.asked():
        await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(calling, 30)


async def test_an_answer_waits_for_no_server_that_will_not_say_goodbye(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("status", on="server/discover", status=400)
    misbehaving_server.order("hold", on="DELETE")
    answer = await asyncio.wait_for(calls.make(misbehaving_server.entry()), 10)
    assert answer.structured_content is not None


async def test_an_answer_that_does_not_fit_its_schema_is_told_by_its_place(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("answer", structured={"effects": "canary-c0ffee", "line": ""}, times=1)
    failure = await calls.fail(misbehaving_server.entry(), output_schema=EFFECT_SCHEMA)
    assert failure.kind is ToolFailureKind.OUTPUT_INVALID
    assert "$.effects" in failure.message
    assert (await calls.make(misbehaving_server.entry(), output_schema=EFFECT_SCHEMA)).structured_content


async def test_a_value_that_is_no_object_is_kept_under_a_name(calls, misbehaving_server: MisbehavingServer):
    misbehaving_server.order("answer", structured=[1, 2])
    answer = await calls.make(misbehaving_server.entry(), output_schema={"type": "array"})
    assert answer.structured_content == {"result": [1, 2]}


async def test_a_redirect_takes_the_token_nowhere(calls, misbehaving_server: MisbehavingServer, tool_server):
    misbehaving_server.order("status", on="*", status=307, headers={"Location": tool_server.url})
    failure = await calls.fail(misbehaving_server.entry(), bearer="canary-c0ffee")
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert tool_server.effects() == []
