import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from clients.learning.model_endpoint import (
    MAX_BODY_BYTES,
    ModelAnswerUnusable,
    ModelEndpoint,
    ModelFailure,
    ModelRefused,
    ModelTooSlow,
    ModelUnreachable,
)
from domain.learning.model.prompt import ModelQuestion
from tests.fixtures.model_server import ModelServer, Reply, completion

pytestmark = pytest.mark.anyio

KEY = "sk-" + "canaryKEY" * 4
GOOD = completion('{"a": 1}')


class Pauses(list[float]):
    """A clock that does not wait, and remembers how long it was asked to."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)


def endpoint(
    url: str,
    *,
    key: Callable[[], str | None] = lambda: KEY,
    timeout_seconds: float = 30,
    pauses: Pauses | None = None,
) -> ModelEndpoint:
    return ModelEndpoint(
        url,
        "small-writer",
        key,
        timeout_seconds=timeout_seconds,
        max_output_tokens=500,
        sleep=(pauses if pauses is not None else Pauses()).sleep,
    )


async def ask(model: ModelEndpoint) -> str:
    return await model.ask(ModelQuestion("thing", "be brief", "what is there?", {"type": "object"}))


async def test_a_question_is_one_bounded_chat_request_with_the_key_in_its_header(
    model_server: ModelServer,
) -> None:
    model_server.replies(GOOD)
    assert await ask(endpoint(model_server.url)) == '{"a": 1}'
    (asked,) = model_server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json["model"] == "small-writer"
    assert asked.json["max_tokens"] == 500
    schema = {"name": "thing", "strict": True, "schema": {"type": "object"}}
    assert asked.json["response_format"]["json_schema"] == schema
    assert [m["role"] for m in asked.json["messages"]] == ["system", "user"]


async def test_a_local_model_is_asked_without_a_key(model_server: ModelServer) -> None:
    model_server.replies(GOOD)
    await ask(endpoint(model_server.url, key=lambda: None))
    assert "authorization" not in model_server.asked[0].headers


async def test_neither_proxies_nor_credentials_of_the_environment_are_used(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    model_server.replies(GOOD)
    assert await ask(endpoint(model_server.url))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_busy_or_broken_endpoint_is_asked_once_more_after_the_pause_it_names(
    model_server: ModelServer, status: int
) -> None:
    model_server.replies(Reply(status, headers={"Retry-After": "7"}), GOOD)
    pauses = Pauses()
    assert await ask(endpoint(model_server.url, pauses=pauses)) == '{"a": 1}'
    assert pauses == [7.0]
    assert len(model_server.asked) == 2


async def test_a_date_in_retry_after_is_waited_for(model_server: ModelServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    model_server.replies(Reply(429, headers={"Retry-After": later}), GOOD)
    pauses = Pauses()
    await ask(endpoint(model_server.url, pauses=pauses))
    assert 10 < pauses[0] <= 20


@pytest.mark.parametrize("value", ["soon", "-3", "", "Mon, 99 Foo 2026 99:99:99 GMT"])
async def test_a_retry_after_that_says_nothing_gives_a_short_pause(
    model_server: ModelServer, value: str
) -> None:
    model_server.replies(Reply(503, headers={"Retry-After": value}), GOOD)
    pauses = Pauses()
    await ask(endpoint(model_server.url, pauses=pauses))
    assert pauses == [0.5]


async def test_an_endpoint_that_stays_broken_is_given_up_after_two_requests(
    model_server: ModelServer,
) -> None:
    model_server.replies(Reply(500, b"{}"))
    with pytest.raises(ModelRefused, match="HTTP 500"):
        await ask(endpoint(model_server.url))
    assert len(model_server.asked) == 2


async def test_a_pause_longer_than_the_time_there_is_ends_it_at_once(model_server: ModelServer) -> None:
    model_server.replies(Reply(429, headers={"Retry-After": "3600"}))
    pauses = Pauses()
    with pytest.raises(ModelRefused, match="come back in 3600 s"):
        await ask(endpoint(model_server.url, pauses=pauses))
    assert pauses == []
    assert len(model_server.asked) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 418])
async def test_a_refusal_is_final(model_server: ModelServer, status: int) -> None:
    model_server.replies(Reply(status, f'{{"error": "key {KEY} is bad"}}'.encode()))
    with pytest.raises(ModelRefused, match=f"HTTP {status}") as refused:
        await ask(endpoint(model_server.url))
    assert KEY not in str(refused.value)
    assert len(model_server.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(model_server: ModelServer, status: int) -> None:
    model_server.replies(Reply(status, headers={"Location": f"{model_server.url}/elsewhere"}), GOOD)
    with pytest.raises(ModelRefused, match="not followed"):
        await ask(endpoint(model_server.url))
    assert len(model_server.asked) == 1


async def test_an_endpoint_without_structured_output_is_asked_without_it(model_server: ModelServer) -> None:
    model_server.replies(Reply(400, b'{"error": {"param": "response_format"}}'), GOOD)
    await ask(endpoint(model_server.url))
    first, second = (asked.json for asked in model_server.asked)
    assert "response_format" not in second
    assert second["messages"] == first["messages"]


async def test_an_endpoint_that_has_another_name_for_the_limit_of_tokens_gets_that(
    model_server: ModelServer,
) -> None:
    model_server.replies(Reply(400, b'{"error": {"param": "max_tokens"}}'), GOOD)
    await ask(endpoint(model_server.url))
    second = model_server.asked[1].json
    assert "max_tokens" not in second
    assert second["max_completion_tokens"] == 500
    assert "response_format" in second


async def test_a_question_that_is_not_understood_either_way_is_given_up(model_server: ModelServer) -> None:
    model_server.replies(Reply(422, b"[1, 2"))
    with pytest.raises(ModelRefused, match="HTTP 422"):
        await ask(endpoint(model_server.url))
    assert len(model_server.asked) == 2


async def test_a_broken_connection_is_tried_once_more(model_server: ModelServer) -> None:
    model_server.replies(Reply(body=b'{"cho', cut=True), GOOD)
    assert await ask(endpoint(model_server.url)) == '{"a": 1}'


async def test_a_connection_that_keeps_breaking_is_unreachable(model_server: ModelServer) -> None:
    model_server.replies(Reply(body=b'{"cho', cut=True))
    with pytest.raises(ModelUnreachable):
        await ask(endpoint(model_server.url))


async def test_an_address_where_nobody_listens_is_unreachable(closed_url: str) -> None:
    with pytest.raises(ModelUnreachable):
        await ask(endpoint(closed_url))


@pytest.mark.parametrize("begun", [False, True], ids=["nothing", "half a body"])
async def test_a_model_that_takes_too_long_is_given_up(model_server: ModelServer, begun: bool) -> None:
    model_server.replies(Reply(body=b'{"choices"', hold=True, cut=begun))
    with pytest.raises(ModelTooSlow, match=r"within 0\.2 s"):
        await ask(endpoint(model_server.url, timeout_seconds=0.2))


async def test_a_question_that_is_cancelled_ends(model_server: ModelServer) -> None:
    model_server.replies(Reply(hold=True))
    asking = asyncio.create_task(ask(endpoint(model_server.url)))
    await asyncio.to_thread(model_server.arrived.wait, 10)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_an_answer_of_any_size_is_read_to_the_limit_only(model_server: ModelServer) -> None:
    model_server.replies(Reply(body=b" " * (MAX_BODY_BYTES + 1)))
    with pytest.raises(ModelAnswerUnusable, match="larger than 512 KiB"):
        await ask(endpoint(model_server.url))


async def test_a_compressed_answer_is_not_unpacked(model_server: ModelServer) -> None:
    model_server.replies(Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ModelAnswerUnusable, match="compressed"):
        await ask(endpoint(model_server.url))


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"null", b"[]", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"[" * 100_000],
)
async def test_an_answer_that_is_no_chat_completion_is_unusable(
    model_server: ModelServer, body: bytes
) -> None:
    model_server.replies(Reply(body=body))
    with pytest.raises(ModelAnswerUnusable):
        await ask(endpoint(model_server.url))


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (completion(None), ModelAnswerUnusable),
        (completion(""), ModelAnswerUnusable),
        (completion('{"title": "Sort', finish_reason="length"), ModelAnswerUnusable),
        (completion(None, refusal="I would rather not"), ModelRefused),
    ],
    ids=["none", "empty", "cut off", "declined"],
)
async def test_an_answer_without_a_text_is_no_answer(
    model_server: ModelServer, reply: Reply, failure: type[ModelFailure]
) -> None:
    model_server.replies(reply)
    with pytest.raises(failure):
        await ask(endpoint(model_server.url))


async def test_the_key_and_the_answers_of_the_other_side_are_in_no_error_and_no_log(
    model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = json.dumps({"error": f"leaked {KEY} and more"}).encode()
    model_server.replies(Reply(503, said), Reply(400, said))
    with pytest.raises(ModelRefused) as failed:
        await ask(endpoint(model_server.url))
    assert caplog.records, "the HTTP library logs its requests"
    assert KEY not in caplog.text + repr(failed.value) + repr(failed.value.__cause__)
    assert "leaked" not in caplog.text + str(failed.value)
