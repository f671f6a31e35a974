"""Learning from what was captured before instead of a new demonstration (DOC3 §0A.5, rows SL-06)."""

from pydantic import Field

from contracts.base import Contract, Text80, Text200, UtcTime, Uuid
from contracts.learning.responses import Page


class RecentRun(Contract):
    """A captured run that can be learned from."""

    trace_id: Uuid
    learn_session_id: Uuid
    title: Text200
    captured_from: UtcTime
    captured_until: UtcTime
    actions: int = Field(ge=0, description="The actions that count: without noise, pauses and trims.")
    success_share: float = Field(ge=0, le=1, description="The share of its actions that did not fail.")
    adapters: tuple[Text80, ...] = ()
    programs: tuple[Text80, ...] = ()
    compatible_with: tuple[Uuid, ...] = Field(
        default=(), description="Other runs of this page that show the same task."
    )


class RecentRunsResponse(Page):
    """The caller's runs that can be learned from, newest first."""

    runs: tuple[RecentRun, ...] = ()
