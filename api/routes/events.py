"""The live stream of a session's events (DOC3 §0C.16C)."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Header, Query

from api.dependencies import Reader, ServicesDep
from api.event_stream import EventStreamResponse, parse_event_id, session_events
from api.paths import SessionId

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
