"""The runs captured before that can be learned from (DOC3 §0A.5; routes.md)."""

from fastapi import APIRouter

from api.dependencies import PageDep, Reader, ServicesDep
from contracts.learning.recent_runs import RecentRunsResponse

router = APIRouter(prefix="/api/learn", tags=["sessions"])


@router.get("/recent-runs", operation_id="learn_recent_runs")
def recent_runs(caller: Reader, services: ServicesDep, page: PageDep) -> RecentRunsResponse:
    """The caller's captured runs that can be learned from, newest first; a purged capture is not among them."""
    return services.recent_runs.listing(caller.user_id, page)
