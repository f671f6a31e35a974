"""The live event stream: complete, in order, without repeats, and bounded."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from uuid_utils import uuid7

from api.learning.events import KEEPALIVE, RETRY, EventStreamResponse, parse_event_id, session_events
from contracts.errors import ErrorCode, Refusal
from contracts.learning.lifecycle import LearnSessionEventEnvelope
from stores.platform.database import Database
from stores.platform.journal.journal import LIFECYCLE, JournalDraft, append
from stores.platform.journal.tail import JournalTail
from stores.platform.tables import journal, metadata

pytestmark = pytest.mark.anyio

NOW = "2026-01-02T03:04:05.000000Z"
SESSION = str(uuid7())
PATIENCE = 15.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    metadata.create_all(database.engine)
    yield database
    database.close()


@pytest.fixture
def tail(database: Database) -> Iterator[JournalTail]:
    tail = JournalTail(database, backlog=4)
    yield tail
    tail.close()


def write(
    database: Database, *states: str, session: str = SESSION, kind: str = "learn.x", **payload: Any
) -> int:
    drafts = [
        JournalDraft(
            stream=LIFECYCLE,
            aggregate=f"learn-session/{session}",
            owner="ann",
            correlation_id="c",
            created_at=NOW,
            document={
                "event_kind": kind,
                "session_id": session,
                "payload": {**payload, "state": state},
                "timestamp": NOW,
            },
            session_id=session,
        )
        for state in states
    ]
    with database.write() as connection:
        return append(connection, drafts)[-1]


class Client:
    """Reads frames one by one."""

    def __init__(self, chunks: AsyncGenerator[bytes]) -> None:
        self._chunks = chunks
        self._frames: list[bytes] = []

    async def frame(self) -> bytes | None:
        while not self._frames:
            try:
                chunk = await asyncio.wait_for(anext(self._chunks), PATIENCE)
            except StopAsyncIteration:
                return None
            self._frames = [frame + b"\n\n" for frame in chunk.split(b"\n\n")[:-1]]
        return self._frames.pop(0)

    async def event(self) -> tuple[int, str, dict[str, Any]] | None:
        """The next event as id, name and data, keepalives left out."""
        frame = await self.frame()
        while frame in (KEEPALIVE, RETRY):
            frame = await self.frame()
        if frame is None:
            return None
        fields = dict(line.split(": ", 1) for line in frame.decode().strip().split("\n"))
        return int(fields["id"]), fields["event"], json.loads(fields["data"])

    async def ids(self) -> list[int]:
        """The ids of all events until the stream ends."""
        found: list[int] = []
        while event := await self.event():
            found.append(event[0])
        return found


async def test_the_stream_begins_with_the_retry_time_and_replays_everything(
    database: Database, tail: JournalTail
) -> None:
    write(database, "idle", "armed")
    async with aclosing(session_events(tail, SESSION, None)) as chunks:
        client = Client(chunks)
        assert await client.frame() == RETRY
        first, second = await client.event(), await client.event()
    assert first is not None
    assert second is not None
    assert [first[0], second[0]] == [1, 2]
    assert first[1] == "learn.x"
    envelope = LearnSessionEventEnvelope.model_validate(first[2])
    assert envelope.event == "learn.x"
    assert envelope.data.session_id == SESSION
    assert envelope.data.payload == {"state": "idle"}


@pytest.mark.parametrize("after", range(4))
async def test_last_event_id_resumes_with_the_next_event(
    database: Database, tail: JournalTail, after: int
) -> None:
    write(database, "idle", "armed", "capturing", "cancelled")
    async with aclosing(session_events(tail, SESSION, after)) as chunks:
        assert await Client(chunks).ids() == list(range(after + 1, 5))


async def test_events_committed_while_listening_arrive_and_the_last_one_ends_the_stream(
    database: Database, tail: JournalTail
) -> None:
    write(database, "armed")
    async with aclosing(session_events(tail, SESSION, None)) as chunks:
        client = Client(chunks)
        assert (await client.event() or [0])[0] == 1
        write(database, "capturing", session=str(uuid7()))
        write(database, "capturing")
        assert (await client.event() or [0])[0] == 3
        write(database, "installed_private", "installed_private")
        assert await client.ids() == [4, 5]


async def test_a_session_that_left_its_rest_is_followed_on(database: Database, tail: JournalTail) -> None:
    write(database, "approved", "quarantined")
    async with aclosing(session_events(tail, SESSION, None)) as chunks:
        client = Client(chunks)
        assert (await client.event() or [0])[0] == 1
        assert (await client.event() or [0])[0] == 2
        write(database, "cancelled")
        assert await client.ids() == [3]


async def test_a_client_that_has_seen_the_end_is_not_kept_waiting(
    database: Database, tail: JournalTail
) -> None:
    last = write(database, "armed", "cancelled")
    async with aclosing(session_events(tail, SESSION, last)) as chunks:
        assert await Client(chunks).ids() == []


async def test_a_silent_stream_sends_keepalives(database: Database, tail: JournalTail) -> None:
    write(database, "armed")
    async with aclosing(session_events(tail, SESSION, 1, keepalive_seconds=0.01)) as chunks:
        client = Client(chunks)
        assert [await client.frame() for _ in range(3)] == [RETRY, b":keepalive\n\n", b":keepalive\n\n"]


async def test_a_slow_client_gets_every_event_once_though_its_backlog_overflowed(
    database: Database, tail: JournalTail
) -> None:
    write(database, "armed")
    async with (
        aclosing(session_events(tail, SESSION, None)) as slow_chunks,
        aclosing(session_events(tail, SESSION, None)) as fast_chunks,
    ):
        slow, fast = Client(slow_chunks), Client(fast_chunks)
        assert (await slow.event() or [0])[0] == 1
        assert (await fast.event() or [0])[0] == 1
        for number in range(2, 30):
            write(database, "capturing")
            assert (await fast.event() or [0])[0] == number
        write(database, "cancelled")
        assert await fast.ids() == [30]
        assert await slow.ids() == list(range(2, 31))


async def test_an_id_older_than_what_is_kept_gives_one_reset_and_then_what_is_kept(
    database: Database, tail: JournalTail
) -> None:
    write(database, "idle", "armed", "capturing", "stopped", "cancelled")
    with database.write() as connection:
        connection.execute(delete(journal).where(journal.c.seq <= 3))
    async with aclosing(session_events(tail, SESSION, 1)) as chunks:
        client = Client(chunks)
        reset = await client.event()
        assert reset is not None
        assert reset[:2] == (3, "reset")
        assert LearnSessionEventEnvelope.model_validate(reset[2]).data.payload == {
            "requested_event_id": 1,
            "oldest_event_id": 4,
        }
        assert await client.ids() == [4, 5]


@pytest.mark.parametrize("after", [3, 4])
async def test_an_id_that_lost_nothing_resumes_without_a_reset(
    database: Database, tail: JournalTail, after: int
) -> None:
    write(database, "idle", "armed", "capturing", "stopped", "cancelled")
    with database.write() as connection:
        connection.execute(delete(journal).where(journal.c.seq <= 3))
    async with aclosing(session_events(tail, SESSION, after)) as chunks:
        assert await Client(chunks).ids() == list(range(after + 1, 6))


async def test_an_id_that_was_never_given_out_gives_a_reset(database: Database, tail: JournalTail) -> None:
    write(database, "armed", "cancelled")
    async with aclosing(session_events(tail, SESSION, 99)) as chunks:
        assert await Client(chunks).ids() == [0, 1, 2]


async def test_a_checkpoint_event_shows_its_fields_at_the_top_level_too(
    database: Database, tail: JournalTail
) -> None:
    write(database, "armed", kind="checkpoint.reached", checkpoint_id="cp-01", evidence="Dialog “Export”")
    async with aclosing(session_events(tail, SESSION, None)) as chunks:
        event = await Client(chunks).event()
    assert event is not None
    data = event[2]
    assert event[1] == data["event"] == "checkpoint.reached"
    assert data["checkpoint_id"] == data["data"]["payload"]["checkpoint_id"] == "cp-01"
    assert data["evidence"] == "Dialog “Export”"
    assert data["session_id"] == SESSION
    assert data["timestamp"] == NOW


async def test_closing_the_tail_ends_the_stream(database: Database, tail: JournalTail) -> None:
    write(database, "armed")
    async with aclosing(session_events(tail, SESSION, 1)) as chunks:
        client = Client(chunks)
        assert await client.frame() == RETRY
        waiting = asyncio.create_task(client.ids())
        await asyncio.to_thread(tail.close)
        assert await waiting == []


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "1 2", "٣", str(2**63), "9" * 30, "+1", "0x1"])
async def test_a_bad_last_event_id_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_event_id(text)
    assert caught.value.code is ErrorCode.VALIDATION_FAILED


@given(number=st.integers(min_value=0, max_value=2**63 - 1))
def test_every_id_that_can_be_given_out_is_accepted(number: int) -> None:
    assert parse_event_id(str(number)) == number


async def test_over_http_a_client_that_goes_away_is_forgotten(database: Database, tail: JournalTail) -> None:
    write(database, "armed")
    gone = asyncio.Event()

    async def watched() -> AsyncGenerator[bytes]:
        try:
            async with aclosing(session_events(tail, SESSION, None)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            gone.set()

    async def follow(_request: Request) -> EventStreamResponse:
        return EventStreamResponse(watched())

    app = Starlette(routes=[Route("/events", follow)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    config = server.config
    config.load()
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(PATIENCE):
            while not server.started:
                await asyncio.sleep(0)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with (
            httpx.AsyncClient(timeout=PATIENCE) as http,
            http.stream("GET", f"http://127.0.0.1:{port}/events") as response,
        ):
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["cache-control"] == "no-cache"
            lines = response.aiter_lines()
            assert await anext(lines) == "retry: 2000"
            assert await anext(lines) == ""
            assert await anext(lines) == "id: 1"
        async with asyncio.timeout(PATIENCE):
            await gone.wait()
    finally:
        server.should_exit = True
        await serving
