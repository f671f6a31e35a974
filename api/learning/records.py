"""History, receipts and the runtime snapshot (DOC3 §0C.7, §0C.16)."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.platform.dependencies import AnyOf, PageDep, Reader, SearchQuery, ServicesDep
from contracts.base import Uuid
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.learning.responses import LearnHistoryResponse, LearningRuntimeSnapshot, LearnReceiptsResponse
from contracts.learning.session import LearnSessionState

router = APIRouter(prefix="/api/learn", tags=["records"])


@router.get("/history", operation_id="learn_history")
def history(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: AnyOf[LearnSessionState] = None,
    search: SearchQuery = None,
) -> LearnHistoryResponse:
    """All the caller's sessions and how they ended, archived ones included."""
    return services.session_reads.history(caller.user_id, page, state or (), search)


@router.get("/receipts", operation_id="learn_receipts")
def receipts(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    learn_session_id: Annotated[Uuid | None, Query()] = None,
    event_kind: Annotated[LearningReceiptKind | None, Query()] = None,
) -> LearnReceiptsResponse:
    """The caller's learning receipts, newest first."""
    return services.session_reads.receipts(caller.user_id, page, learn_session_id, event_kind)


@router.get("/runtime/current", operation_id="learn_runtime_current")
def runtime_current(caller: Reader, services: ServicesDep) -> LearningRuntimeSnapshot:
    """What is being learned right now, from what, and whether it is usable yet."""
    return services.session_reads.runtime_current(caller.user_id)
