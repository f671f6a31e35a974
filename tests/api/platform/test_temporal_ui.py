"""The Temporal UI as the API serves it: one name, one origin, and encrypted contents for admins alone."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.api.common.v1 import Payload
from uuid_utils import uuid7

from api.platform.temporal_ui import OneOrigin, SignIns, TemporalUi
from contracts.platform.identity import Principal, Scope
from gateways.platform.payload_signing import payload_keys, signing_data_converter

pytestmark = pytest.mark.anyio

ORIGIN = "http://127.0.0.1:8233"
ADMIN, READER = "apr_admin", "apr_reader"


def authenticate(token: str) -> Principal | None:
    """Two tokens are known."""
    scopes = {ADMIN: Scope.ADMIN, READER: Scope.READ}
    if token not in scopes:
        return None
    return Principal(user_id="alice", token_id=str(uuid7()), scopes=frozenset({scopes[token]}))


async def echo(request: Request) -> Response:
    """What the UI is asked."""
    answer = JSONResponse(
        {
            "target": f"{request.url.path}?{request.url.query}",
            "method": request.method,
            "body": (await request.body()).decode(),
            "headers": dict(request.headers),
        }
    )
    answer.set_cookie("_csrf", "x")
    return answer


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at the address of the UI."""
    upstream = Starlette(routes=[Route("/{path:path}", echo, methods=["GET", "POST"])])
    inner = httpx.AsyncClient(transport=httpx.ASGITransport(app=upstream), base_url="http://127.9.9.9:1")
    ui = TemporalUi(inner, SignIns(authenticate), payload_keys(tmp_path).find)
    app = OneOrigin(Starlette(routes=ui.routes()), ORIGIN)
    async with inner, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=ORIGIN) as client:
        yield client


async def encrypted(folder: Path) -> Payload:
    """A payload of the installation in ``folder``."""
    [payload] = await signing_data_converter(folder, encrypt=True).encode(["a goal"])
    return payload


def as_json(*payloads: Payload) -> dict[str, Any]:
    """The body that the UI sends to its codec endpoint."""
    return {"payloads": [MessageToDict(one) for one in payloads]}


async def test_pages_and_calls_are_passed_on_without_what_is_meant_for_us(browser: httpx.AsyncClient) -> None:
    browser.cookies.update({"_csrf": "x", "apprentice_temporal_ui": "ours"})
    answer = await browser.post(
        "/api/v1/namespaces/default/workflows/learn-session%2Fa?q=1",
        content="{}",
        headers={"origin": ORIGIN, "authorization": "Bearer x", "x-csrf-token": "x"},
    )
    seen = answer.json()
    assert seen["target"] == "/api/v1/namespaces/default/workflows/learn-session/a?q=1"
    assert (seen["method"], seen["body"]) == ("POST", "{}")
    assert (seen["headers"]["host"], seen["headers"]["x-csrf-token"]) == ("127.9.9.9:1", "x")
    assert seen["headers"]["cookie"] == "_csrf=x"
    assert not {"origin", "authorization"} & seen["headers"].keys()
    assert "_csrf=x" in answer.headers["set-cookie"]


@pytest.mark.parametrize("path", ["/", "/api/v1/namespaces", "/apprentice/codec/decode"])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8233"},
        {"host": "127.0.0.1"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8233"},
        {"host": "localhost:8233", "origin": "http://localhost:8233"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
async def test_another_name_and_a_page_of_another_origin_are_refused(
    browser: httpx.AsyncClient, path: str, headers: dict[str, str]
) -> None:
    for method in ("GET", "POST"):
        answer = await browser.request(method, path, headers=headers)
        assert answer.status_code in {403, 421}
        assert "Refused" in answer.text
        assert "access-control-allow-origin" not in answer.headers


async def test_the_name_of_this_machine_leads_to_the_address(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/namespaces/default?x=1", headers={"host": "localhost:8233"})
    assert (answer.status_code, answer.headers["location"]) == (307, f"{ORIGIN}/namespaces/default?x=1")
    assert (await browser.post("/", headers={"host": "localhost:8233"})).status_code == 421


async def test_encrypted_payloads_are_decoded_for_admins_alone(
    browser: httpx.AsyncClient, tmp_path: Path
) -> None:
    body = as_json(await encrypted(tmp_path))
    for token, status in (("", 401), (READER, 401), ("apr_other", 401), (ADMIN, 200)):
        headers = {"authorization": f"Bearer {token}"}
        answer = await browser.post("/apprentice/codec/decode", json=body, headers=headers)
        assert answer.status_code == status
    [shown] = answer.json()["payloads"]
    assert base64.b64decode(shown["data"]) == b'"a goal"'


async def test_who_signs_in_reads_and_the_cookie_is_for_the_codec_alone(
    browser: httpx.AsyncClient, tmp_path: Path
) -> None:
    body = as_json(await encrypted(tmp_path))
    assert (await browser.get("/apprentice/sign-in")).status_code == 200
    refused = await browser.post("/apprentice/sign-in", data={"token": READER})
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    taken = await browser.post("/apprentice/sign-in", data={"token": f" {ADMIN}\n"})
    assert (taken.status_code, taken.headers["location"]) == (303, "/")
    cookie = taken.headers["set-cookie"]
    assert ADMIN not in cookie
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/apprentice"))
    assert (await browser.post("/apprentice/codec/decode", json=body)).status_code == 200
    browser.cookies.clear()
    assert (await browser.post("/apprentice/codec/decode", json=body)).status_code == 401


async def test_what_is_no_payload_or_opened_by_no_key_of_ours_stays_as_it_is(
    browser: httpx.AsyncClient, tmp_path: Path
) -> None:
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'"x"')
    answer = await browser.post("/apprentice/codec/decode", json=as_json(plain))
    assert answer.json() == as_json(plain)
    foreign = as_json(await encrypted(tmp_path / "other"))
    answer = await browser.post(
        "/apprentice/codec/decode", json=foreign, headers={"authorization": f"Bearer {ADMIN}"}
    )
    assert answer.json() == foreign
    for wrong in ("", "{", '{"payloads": 1}'):
        assert (await browser.post("/apprentice/codec/decode", content=wrong)).status_code == 400


async def test_a_ui_that_does_not_answer_is_said_so(tmp_path: Path) -> None:
    async with httpx.AsyncClient(base_url="http://127.0.0.1:1", trust_env=False) as nobody:
        ui = TemporalUi(nobody, SignIns(authenticate), payload_keys(tmp_path).find)
        transport = httpx.ASGITransport(app=OneOrigin(Starlette(routes=ui.routes()), ORIGIN))
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as browser:
            assert (await browser.get("/")).status_code == 502
            assert (await browser.get("/apprentice/other")).status_code == 404
