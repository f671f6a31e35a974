"""A body reaches a route whole and unchanged, or not at all."""

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.limits import BodyLimitMiddleware

pytestmark = pytest.mark.anyio

LIMIT = 4096
TEXT = st.text(st.characters(codec=None, categories=None), max_size=20) | st.sampled_from(
    ["\0", "\ud83d", "\ude00", "\ude00\ud83d", "\\u0000", "\\ud83d", "\\\0", "😀", "\\"]
)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body."""
    await Response(await Request(scope, receive).body())(scope, receive, send)


async def answer_to(content: bytes) -> httpx.Response:
    transport = httpx.ASGITransport(app=BodyLimitMiddleware(echo, LIMIT))
    async with httpx.AsyncClient(transport=transport, base_url="http://apprentice") as http:
        return await http.post("/", content=content)


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
