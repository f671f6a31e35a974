"""Server-Sent Events of a session (DOC3 §0C.16C, §0C.16E; decisions "Wire rules").

Frames are written here because the framework's own event stream fixes the text and interval of its pings.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import anyio.to_thread
from anyio import to_thread
from fastapi import APIRouter, Header, Query
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.platform.dependencies import Reader, ServicesDep, SessionId
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.lifecycle import LearnSessionEvent, LearnSessionEventEnvelope
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST
from stores.platform.journal.tail import PAGE, JournalTail, TailEntry

KEEPALIVE_SECONDS = 30.0
"""How long a stream may be silent (DOC3 L1641)."""

RETRY = b"retry: 2000\n\n"
"""The ``retry`` field: clients wait two seconds before they reconnect."""

KEEPALIVE = b":keepalive\n\n"
"""The comment that keeps proxies from closing a silent stream."""

RESET = "reset"
"""Event type of a gap: events after the client's id were deleted; read the session again, the rest follows."""

_CHECKPOINT = "checkpoint."
_LARGEST_ID = 2**63 - 1


class EventStreamResponse(StreamingResponse):
    """A stream of frames that frees what it holds as soon as the client is gone."""

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[bytes]) -> None:
        super().__init__(frames, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the frames until they end or the client goes."""
        async with aclosing(self._frames):
            await super().__call__(scope, receive, send)


def parse_event_id(text: str | None) -> int | None:
    """The journal number in a ``Last-Event-ID``; ``None`` when there is none.

    Raises:
        Refusal: ``VALIDATION_FAILED`` when it is not an id that this service gives out.
    """
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= _LARGEST_ID):
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "Last-Event-ID is not an id of this stream; send the last `id` received, or leave it out.",
            fields=["last_event_id"],
        )
    return int(text)


async def session_events(
    tail: JournalTail,
    session_id: str,
    last_event_id: int | None,
    *,
    keepalive_seconds: float = KEEPALIVE_SECONDS,
) -> AsyncGenerator[bytes]:
    """The session's events after ``last_event_id``, then live ones; from the oldest kept for ``None`` and 0.

    Every event comes once, in order, with its journal number as ``id``. Ends when the session is at rest and
    its last event is out, or when the tail closes. An id that the journal cannot resume from gives one
    ``reset`` event, then everything that is kept.
    """
    reset = await _reset_frame(tail, session_id, last_event_id) if last_event_id else None
    yield RETRY + (reset or b"")
    cursor = _Cursor(0 if reset else last_event_id or 0)
    async with tail.subscribe(session_id) as subscription:
        while not subscription.closed:
            lagged = subscription.lagging
            if lagged:
                subscription.resume()
                while missed := await to_thread.run_sync(tail.replay, session_id, cursor.position):
                    yield cursor.advance(missed)
                    if len(missed) < PAGE:
                        break
                if cursor.state is None:
                    cursor.state = await to_thread.run_sync(tail.state_of, session_id)
            # Whatever came in while the store was read is taken before the stream may end.
            entries = await subscription.take(0 if lagged else keepalive_seconds)
            if chunk := cursor.advance(entries):
                yield chunk
            elif not (lagged or subscription.lagging or subscription.closed):
                yield KEEPALIVE
            if cursor.state in AT_REST and not subscription.lagging:
                return


@dataclass
class _Cursor:
    """A client's position: the last sequence number sent, and the session's state as of that event."""

    position: int
    state: LearnSessionState | None = None

    def advance(self, entries: Sequence[TailEntry]) -> bytes:
        """The frames of those entries that the client has not had yet."""
        fresh = [_rendered(entry) for entry in entries if entry.seq > self.position]
        if fresh:
            self.position = entries[-1].seq
        for _, state in fresh:
            self.state = state or self.state
        return b"".join(frame for frame, _ in fresh)


async def _reset_frame(tail: JournalTail, session_id: str, position: int) -> bytes | None:
    """The ``reset`` event when events after ``position`` may be gone, or it was never given out."""
    kept = await to_thread.run_sync(tail.kept)
    # The number just before the oldest has lost nothing: whatever follows it is kept.
    first = kept.newest if kept.oldest is None else kept.oldest - 1
    if first <= position <= kept.newest:
        return None
    event = LearnSessionEvent(
        event_kind=RESET,
        session_id=session_id,
        payload={"requested_event_id": position, "oldest_event_id": kept.oldest},
        timestamp=datetime.now(UTC),
    )
    envelope = LearnSessionEventEnvelope(event=RESET, data=event).model_dump_json()
    return _frame(first, RESET, envelope)


class _Rendered(NamedTuple):
    frame: bytes
    state: LearnSessionState | None


@lru_cache(maxsize=1024)
def _rendered(entry: TailEntry) -> _Rendered:
    # Cached, since every listener of a session is sent the same bytes.
    return _Rendered(_entry_frame(entry), entry.state)


def _entry_frame(entry: TailEntry) -> bytes:
    event = LearnSessionEvent.model_validate_json(entry.document)
    envelope = LearnSessionEventEnvelope(event=event.event_kind, data=event)
    if not event.event_kind.startswith(_CHECKPOINT):
        return _frame(entry.seq, event.event_kind, envelope.model_dump_json())
    # The documents' samples show a checkpoint's fields at the top level too (rows §3.11).
    mirrored: dict[str, Any] = {
        **event.payload,
        "session_id": event.session_id,
        "timestamp": rfc3339(event.timestamp),
        **envelope.model_dump(mode="json"),
    }
    return _frame(entry.seq, event.event_kind, json.dumps(mirrored, ensure_ascii=False))


def _frame(event_id: int, kind: str, data: str) -> bytes:
    return f"id: {event_id}\nevent: {kind}\ndata: {data}\n\n".encode()


router = APIRouter(prefix="/api/learn/sessions/{session_id}", tags=["sessions"])


@router.get(
    "/events", operation_id="learn_session_events", response_class=EventStreamResponse, status_code=200
)
async def follow(
    session_id: SessionId,
    caller: Reader,
    services: ServicesDep,
    last_event_id: Annotated[
        str | None, Header(description="The `id` received last; the stream goes on after it.")
    ] = None,
    resume_from: Annotated[
        str | None, Query(alias="last_event_id", description="The same for clients that cannot set headers.")
    ] = None,
) -> EventStreamResponse:
    """Server-Sent Events: what happened since `Last-Event-ID`, then what happens.

    Ends when the session is at rest. An id older than what is kept gives one `reset` event first.
    """
    position = parse_event_id(last_event_id or resume_from)
    await anyio.to_thread.run_sync(services.sessions.owned, session_id, caller.user_id)
    return EventStreamResponse(session_events(services.tail, session_id, position))
