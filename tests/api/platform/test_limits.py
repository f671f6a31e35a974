"""Request size limit: a body reaches a route whole and unchanged, or not at all."""

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.platform.middleware import BodyLimitMiddleware, repeated_name

pytestmark = pytest.mark.anyio

LIMIT = 4096
TEXT = st.text(st.characters(codec=None, categories=None), max_size=20) | st.sampled_from(
    ["\0", "\ud83d", "\ude00", "\ude00\ud83d", "\\u0000", "\\ud83d", "\\\0", "😀", "\\"]
)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body."""
    await Response(await Request(scope, receive).body())(scope, receive, send)


async def answer_to(content: bytes, path: str = "/") -> httpx.Response:
    transport = httpx.ASGITransport(app=BodyLimitMiddleware(echo, LIMIT))
    async with httpx.AsyncClient(transport=transport, base_url="http://apprentice") as http:
        return await http.post(path, content=content)


def can_be_kept(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


@given(texts=st.lists(TEXT, max_size=4))
async def test_text_is_let_through_exactly_when_the_store_can_keep_it(texts: list[str]) -> None:
    content = json.dumps({"texts": texts}).encode()
    # What a reader makes of it: two halves that stand together are one character.
    read = "\n".join(json.loads(content)["texts"])
    response = await answer_to(content)
    assert response.status_code == (200 if can_be_kept(read) else 422)
    if response.is_success:
        assert response.content == content


@pytest.mark.parametrize(("size", "status"), [(0, 200), (LIMIT, 200), (LIMIT + 1, 413)])
async def test_the_limit_is_the_last_size_that_is_taken(size: int, status: int) -> None:
    response = await answer_to(b"x" * size)
    assert response.status_code == status
    if status == 200:
        assert response.content == b"x" * size


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b'{"mode": "ask_first", "mode": "enabled"}', "(mode)"),
        (b'{"a": {"b": [{"c": 1, "c": 1}]}}', "(c)"),
        (b'{"mode": 1, "\\u006dode": 2}', "(mode)"),
        (b'{"sk-live 0123": 1, "sk-live 0123": 2}', ""),
    ],
)
async def test_a_name_that_stands_twice_in_one_object_is_refused_wherever_it_is(
    content: bytes, named: str
) -> None:
    response = await answer_to(content, "/api/mcp/policy/update")
    assert response.status_code == 422
    error = response.json()["error"]
    assert error["code"] == "VALIDATION_FAILED"
    assert named in error["message"]
    assert "sk-live" not in response.text
    assert (await answer_to(content, "/mcp")).status_code == 200


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(value=JSON)
def test_what_a_client_writes_from_its_own_objects_never_has_a_name_twice(value: object) -> None:
    assert repeated_name(json.dumps(value).encode()) is None


@pytest.mark.parametrize("content", [b"{", b"", b"[" * 100_000, b"{" + b"9" * 5_000, b'{"a" 1}'])
def test_what_is_no_json_is_left_to_the_route(content: bytes) -> None:
    assert repeated_name(content) is None
