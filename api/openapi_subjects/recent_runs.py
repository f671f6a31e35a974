"""Recent runs in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, SESSION_ID, THEN, TRACE_ID
from contracts.errors import ErrorCode
from contracts.learning.recent_runs import RecentRun, RecentRunsResponse

_RUN = RecentRun(
    trace_id=TRACE_ID,
    learn_session_id=SESSION_ID,
    title="Summarise the sales figures",
    captured_from=BEGUN,
    captured_until=THEN,
    actions=4,
    success_share=1.0,
    adapters=("terminal_command",),
    programs=("mkdir", "printf", "sort", "tar"),
)

REQUESTS: dict[str, dict[str, Any]] = {}
MODELS: tuple[BaseModel, ...] = (RecentRunsResponse(runs=(_RUN,), total=1, page=1, page_size=25),)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = None
