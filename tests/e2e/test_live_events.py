"""The live event stream over HTTP, as a console follows a session."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
import uvicorn

from clients.apprentice.sse import SseDecoder
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def served(stack: Stack) -> AsyncIterator[str]:
    """The stack's application on a real socket; its lifespan is the stack's."""
    server = uvicorn.Server(uvicorn.Config(stack.app, port=0, log_level="error", lifespan="off"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        with anyio.fail_after(30):
            while not server.started:
                await anyio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True


async def follow(
    base: str, learner: Learner, last_event_id: str | None = None
) -> AsyncIterator[tuple[str, str]]:
    """Event ids and names until the stream ends."""
    headers = {"authorization": f"Bearer {learner.secret}"}
    if last_event_id is not None:
        headers["last-event-id"] = last_event_id
    path = f"{base}/api/learn/sessions/{learner.session_id}/events"
    async with httpx.AsyncClient(timeout=30) as http, http.stream("GET", path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        decoder = SseDecoder()
        async for chunk in response.aiter_bytes():
            for event in decoder.feed(chunk):
                assert json.loads(event.data)["event"] == event.event
                yield event.id or "", event.event


@pytest.mark.acceptance("R11.2-17")
async def test_a_session_is_followed_live_until_it_is_at_rest_and_resumed_without_gap_or_repeat(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.create()
    seen: list[tuple[str, str]] = []
    begun = anyio.Event()

    async def watch(base: str) -> None:
        async for event in follow(base, alice):
            seen.append(event)
            if event[1] == "learn.capture.started":
                begun.set()

    async with served(stack) as base:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, base)
            await alice.act("start")
            with anyio.fail_after(30):
                await begun.wait()
            await alice.observe()
            await alice.act("stop")
            await alice.act("cancel")
        names = [name for _, name in seen]
        assert names == [
            "learn.session.started",
            "learn.session.armed",
            "learn.capture.started",
            "learn.capture.stopped",
            "learn.session.cancelled",
        ]
        rest = [event async for event in follow(base, alice, last_event_id=seen[2][0])]
        assert rest == seen[3:]
