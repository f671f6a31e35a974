"""Observations: ingest, list, remove, and the registry of observation adapters (routes.md, DOC3 §0C.22)."""

from itertools import groupby

import anyio.to_thread
from fastapi import APIRouter

from api.platform.commands import LearnerFrame, ObserverFrame
from api.platform.dependencies import (
    AdapterKind,
    EventId,
    Observer,
    PageDep,
    Reader,
    ServicesDep,
    SessionId,
)
from contracts.learning.observation import (
    AdapterHeartbeatRequest,
    IngestObservationsRequest,
    IngestObservationsResponse,
    ObservationAdaptersResponse,
    ObservationListResponse,
    RegisteredAdapter,
)
from contracts.learning.responses import DeletedResponse
from contracts.learning.session import LearnSessionState
from contracts.platform.commands import CommitKey
from stores.platform.canonical import digest_of
from workflows.learning.learn_session_messages import StartCommand

router = APIRouter(prefix="/api/learn/sessions/{session_id}/observations", tags=["observations"])


@router.post("", operation_id="learn_observations_ingest")
async def ingest(
    session_id: SessionId, body: IngestObservationsRequest, frame: ObserverFrame
) -> IngestObservationsResponse:
    """Keeps what matters of a batch, redacted; durable when this answers. Sending it again changes nothing.

    The first event that is kept begins the capture of an armed session; ``session_state`` is the state after that.
    """
    owner = frame.owner

    def keep() -> IngestObservationsResponse:
        frame.services.sessions.owned(session_id, owner)
        # Equal neighbours are one: nearly every batch is of one kind, and hashing each event's would be felt.
        kinds = frozenset(kind for kind, _ in groupby(event.adapter_kind for event in body.events))
        frame.services.adapters.refuse_unavailable(kinds)
        answer = frame.services.observations.ingest(session_id, body.events)
        frame.services.adapters.saw(owner, kinds)
        return answer

    kept = await frame.write_once(body, keep, IngestObservationsResponse)
    if kept.session_state is LearnSessionState.ARMED and kept.accepted + kept.duplicate:
        # A batch sent again counts too: the one before may not have reached Temporal.
        key = f"first-event-{session_id}"
        asked = StartCommand(
            commit_key=CommitKey(owner_user_id=owner, key=key, request_digest=digest_of(key)),
            correlation_id=frame.correlation_id,
            by_event=True,
        )
        await frame.services.gateway.capture_began(session_id, asked)
        found = await anyio.to_thread.run_sync(frame.services.sessions.owned, session_id, owner)
        return kept.changed(session_state=found.session.state)
    return kept


@router.get("", operation_id="learn_observations_list")
def page_of(
    session_id: SessionId, caller: Reader, services: ServicesDep, page: PageDep
) -> ObservationListResponse:
    """The captured actions in their redacted form, oldest first."""
    services.sessions.owned(session_id, caller.user_id)
    return services.observations.page(session_id, page.page, page.page_size)


@router.delete("/{event_id}", operation_id="learn_observation_remove")
async def remove(session_id: SessionId, event_id: EventId, frame: LearnerFrame) -> DeletedResponse:
    """Takes one action out of the capture for good; possible until a proposal is drafted."""

    def take_out() -> DeletedResponse:
        frame.services.sessions.owned(session_id, frame.owner)
        frame.services.observations.remove(session_id, event_id)
        return DeletedResponse()

    return await frame.write_once(None, take_out, DeletedResponse)


adapters = APIRouter(prefix="/api/learn/adapters", tags=["observations"])


@adapters.get("", operation_id="observation_adapters_list")
def listed(caller: Reader, services: ServicesDep) -> ObservationAdaptersResponse:
    """Every kind of adapter: its phase and health, whether it can be asked for, and what to use instead."""
    return services.adapters.registered(caller.user_id)


@adapters.post("/{adapter_kind}/heartbeat", operation_id="observation_adapter_heartbeat")
def heartbeat(
    adapter_kind: AdapterKind, body: AdapterHeartbeatRequest, caller: Observer, services: ServicesDep
) -> RegisteredAdapter:
    """Takes in a recorder's sign of life, or why it cannot record. The newest report holds."""
    return services.adapters.heartbeat(caller.user_id, adapter_kind, body.error_code)
