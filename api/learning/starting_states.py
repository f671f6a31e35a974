"""Starting states of demonstrations: sent by recorders as an archive, listed without contents, removed."""

from collections.abc import AsyncIterator, Callable
from time import monotonic

import anyio
import anyio.from_thread
import anyio.to_thread
from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect

from api.learning.state_archive import read_archive
from api.platform.commands import LearnerFrame
from api.platform.dependencies import Observer, PageDep, Reader, ServicesDep, SessionId, StateId
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import DeletedResponse
from contracts.learning.starting_state import (
    ARCHIVE_TYPE,
    StartingStateListResponse,
    StartingStateReceived,
)
from domain.learning.starting_state import without_secrets

router = APIRouter(prefix="/api/learn/sessions/{session_id}/starting-states", tags=["observations"])

CHUNK_WITHIN_S = 30.0
"""How long the next bytes of an archive are waited for."""

SEARCH_S = 20.0
"""How long the files of one archive are searched for secrets; what was not looked through is left out."""

_DRAIN_S = 10.0
_DRAIN_BYTES = 64 * 1024 * 1024


@router.put(
    "/{state_id}",
    operation_id="learn_starting_state_keep",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A tar compressed with gzip: `state.json` (a `StartingState`), then each kept content once "
            "as `contents/<sha256>`.",
            "content": {ARCHIVE_TYPE: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def keep(
    session_id: SessionId, state_id: StateId, request: Request, caller: Observer, services: ServicesDep
) -> StartingStateReceived:
    """Keeps what a demonstration's folder held before the first command. Sending it again changes nothing.

    Files that may hold a secret, by name or by content, are listed without their content. Kept as long as the
    observations of the session.
    """
    chunks = request.stream()

    def pull() -> bytes:
        return anyio.from_thread.run(_next_of, chunks)

    try:
        return await anyio.to_thread.run_sync(_keep, services, caller.user_id, session_id, state_id, pull)
    except Refusal:
        # A client that still sends does not read the answer.
        with anyio.move_on_after(_DRAIN_S):
            await _drain(chunks)
        raise


@router.get("", operation_id="learn_starting_states_list")
def page_of(
    session_id: SessionId, caller: Reader, services: ServicesDep, page: PageDep
) -> StartingStateListResponse:
    """What the folder held before each demonstration, or start of a recorder, without contents; oldest first."""
    services.sessions.owned(session_id, caller.user_id)
    return services.starting_states.page(session_id, page)


@router.delete("/{state_id}", operation_id="learn_starting_state_remove")
async def remove(session_id: SessionId, state_id: StateId, frame: LearnerFrame) -> DeletedResponse:
    """Removes a starting state and the contents that it keeps, at any time."""
    services = frame.services

    def take_out() -> DeletedResponse:
        services.sessions.owned(session_id, frame.owner)
        services.starting_states.remove(session_id, state_id)
        return DeletedResponse()

    return await frame.write_once(None, take_out, DeletedResponse)


def _keep(
    services: Services, owner: str, session_id: str, state_id: str, pull: Callable[[], bytes]
) -> StartingStateReceived:
    services.sessions.owned(session_id, owner)
    if not services.settings.record_inputs:
        raise Refusal(ErrorCode.FORBIDDEN, "This service keeps no starting states: record_inputs is off.")
    services.starting_states.refuse_unobserved(session_id)
    if not services.uploads.acquire(blocking=False):
        raise Refusal(ErrorCode.TOO_MANY_REQUESTS, "Other starting states are being read; send it again.")
    try:
        received = read_archive(pull, services.settings.input_limits)
        state = received.state
        if (state.state_id, state.learn_session_id) != (state_id, session_id):
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                "The state in the archive is not the one that is addressed.",
                fields=[{"path": "body", "problem": "names another state or session"}],
            )
        until = monotonic() + SEARCH_S
        clean = without_secrets(state, received.contents, lambda: monotonic() > until)
        return services.starting_states.keep(clean)
    finally:
        services.uploads.release()


async def _next_of(chunks: AsyncIterator[bytes]) -> bytes:
    """The next bytes that are not empty; none at the end."""
    try:
        with anyio.fail_after(CHUNK_WITHIN_S):
            async for chunk in chunks:
                if chunk:
                    return chunk
    except TimeoutError:
        raise Refusal(ErrorCode.VALIDATION_FAILED, "The archive did not come in time.") from None
    except ClientDisconnect:
        raise Refusal(ErrorCode.VALIDATION_FAILED, "The archive ended too early.") from None
    return b""


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    left = _DRAIN_BYTES
    while left > 0 and (chunk := await _next_of(chunks)):
        left -= len(chunk)
