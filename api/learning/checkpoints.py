"""Checkpoints: verification by agents, and progress of a session or dispatch (DOC3 §0C.9B, §0C.16)."""

from fastapi import APIRouter

from api.platform.commands import ObserverFrame
from api.platform.dependencies import AbilityId, DispatchId, PageDep, Reader, ServicesDep, SessionId
from contracts.learning.checkpoints import (
    CheckpointProgressResponse,
    CheckpointVerificationReceipt,
    VerifyCheckpointRequest,
)
from contracts.learning.responses import LearnCheckpointReceiptsResponse

router = APIRouter(prefix="/api", tags=["checkpoints"])


@router.post("/bridge/verify-checkpoint", operation_id="bridge_verify_checkpoint")
def verify(body: VerifyCheckpointRequest, frame: ObserverFrame) -> CheckpointVerificationReceipt:
    """An agent's voluntary word on a checkpoint; durable when this answers, secrets masked.

    A skipped one is handed over as friction, a failed one as a candidate for repair.
    """
    key = frame.client_key(body)
    return frame.services.checkpoints.verify(body, frame.owner, key, frame.correlation_id)


@router.get("/dispatches/{dispatch_id}/checkpoint-receipts", operation_id="dispatch_checkpoint_receipts")
def dispatch_receipts(
    dispatch_id: DispatchId, caller: Reader, services: ServicesDep, page: PageDep
) -> LearnCheckpointReceiptsResponse:
    """The checkpoints verified in this dispatch, newest first."""
    return services.checkpoint_reads.of_dispatch(dispatch_id, caller.user_id, page)


@router.get("/dispatches/{dispatch_id}/checkpoint-progress", operation_id="dispatch_checkpoint_progress")
def dispatch_progress(
    dispatch_id: DispatchId, caller: Reader, services: ServicesDep
) -> CheckpointProgressResponse:
    """The checkpoints of the ability that this dispatch used, in their order, with what was reported."""
    return services.checkpoint_reads.dispatch_progress(dispatch_id, caller.user_id)


@router.get(
    "/learn/sessions/{session_id}/checkpoint-progress", operation_id="learn_session_checkpoint_progress"
)
def session_progress(
    session_id: SessionId, caller: Reader, services: ServicesDep
) -> CheckpointProgressResponse:
    """The checkpoints of the session's proposal, in their order, with what was reported."""
    session = services.sessions.owned(session_id, caller.user_id)
    return services.checkpoint_reads.session_progress(session)


@router.get("/abilities/{ability_id}/checkpoint-receipts", operation_id="ability_checkpoint_receipts")
def ability_receipts(
    ability_id: AbilityId, caller: Reader, services: ServicesDep, page: PageDep
) -> LearnCheckpointReceiptsResponse:
    """The receipts behind an ability's checkpoint health, newest first; of a shared one, the caller's own."""
    entry = services.abilities.visible_entry(ability_id, caller.user_id)
    return services.checkpoint_reads.of_ability(ability_id, caller.user_id, entry.owner_user_id, page)
