"""Whom a call's workflow tells: the outside that it waits, and other calls that a standing approval is there."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.mcp_dispatch_activities import McpDispatchActivities
    from activities.mcp_notice_activities import McpNoticeActivities
    from contracts.mcp.dispatch_work import NoticeOrder, ReleaseOrder
    from workflows.presets import NOTICE_CALL, RELEASE_CALL


class DispatchTelling:
    """Beside the call, and never in its way."""

    def __init__(self, dispatch_id: str, *, told: bool) -> None:
        self._dispatch_id = dispatch_id
        self._notice: asyncio.Task[None] | None = None
        self._release: asyncio.Task[None] | None = None
        self.told = told
        """Whether the outside was told that the call waits."""

    @property
    def released(self) -> bool:
        """Whether the other calls have been told."""
        return self._release is None or self._release.done()

    def tell_waiting(self) -> None:
        """Tells the outside, once for each time that the call waits."""
        if not self.told:
            self.told = True
            self._notice = asyncio.create_task(_notify(NoticeOrder(dispatch_id=self._dispatch_id)))

    def stop_telling(self) -> None:
        """The call waits no more."""
        self.told = False
        if self._notice is not None:
            self._notice.cancel()
            self._notice = None

    def let_look(self, dispatch_ids: Sequence[str]) -> None:
        """Has the workflows of other calls that wait look again."""
        self._release = asyncio.create_task(_let_look(ReleaseOrder(dispatch_ids=tuple(dispatch_ids))))


async def _let_look(order: ReleaseOrder) -> None:
    try:
        await workflow.execute_activity_method(
            McpDispatchActivities.release_dispatches, order, summary="let others look again", **RELEASE_CALL
        )
    except FailureError:
        # Those calls still wait for a person; nothing is lost.
        workflow.logger.warning("calls that wait were not told of a standing approval")


async def _notify(order: NoticeOrder) -> None:
    try:
        await workflow.execute_activity_method(
            McpNoticeActivities.tell_waiting, order, summary="tell that a call waits", **NOTICE_CALL
        )
    except (FailureError, asyncio.CancelledError):
        workflow.logger.info("nobody was told that a call waits")
