"""Signed notices to one address."""

import hashlib
import hmac
import json
from pathlib import Path

import httpx
import pytest

from clients.platform.key_reference import KeyUnavailable
from clients.platform.webhook import DELIVERY, SIGNATURE, Webhook, WebhookFailed

pytestmark = pytest.mark.anyio

URL = "http://hooks.test/apprentice"
NOTICE = {"event": "ask_first.pending", "summary": "append_line at lines with line"}


def answering(status: int, seen: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(status, headers={"location": "http://elsewhere.test/"})

    return httpx.MockTransport(answer)


async def test_a_notice_is_signed_over_its_time_and_body(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("s3cret\n")
    key.chmod(0o600)
    seen: list[httpx.Request] = []
    hook = Webhook(URL, f"file:{key}", transport=answering(204, seen), clock=lambda: 1_700_000_000.9)
    await hook.post(NOTICE, delivery_id="call/3")
    request = seen[0]
    assert json.loads(request.content) == NOTICE
    assert request.headers[DELIVERY] == "call/3"
    signed = b"1700000000." + request.content
    digest = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert request.headers[SIGNATURE] == f"t=1700000000,v1={digest}"


async def test_without_a_key_it_is_not_signed() -> None:
    seen: list[httpx.Request] = []
    await Webhook(URL, transport=answering(200, seen)).post(NOTICE, delivery_id="x")
    assert SIGNATURE not in seen[0].headers


@pytest.mark.parametrize("status", [302, 400, 410, 500])
async def test_any_other_answer_is_a_failure_and_no_redirect_is_followed(status: int) -> None:
    seen: list[httpx.Request] = []
    with pytest.raises(WebhookFailed, match=str(status)):
        await Webhook(URL, transport=answering(status, seen)).post(NOTICE, delivery_id="x")
    assert len(seen) == 1


async def test_a_key_that_is_not_there_is_said_and_nothing_is_sent() -> None:
    seen: list[httpx.Request] = []
    with pytest.raises(KeyUnavailable):
        await Webhook(URL, "env:NO_SUCH_KEY_HERE", transport=answering(200, seen)).post(
            NOTICE, delivery_id="x"
        )
    assert seen == []


async def test_nobody_there_is_a_failure() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(WebhookFailed, match="ConnectError"):
        await Webhook(URL, transport=httpx.MockTransport(refuse)).post(NOTICE, delivery_id="x")
