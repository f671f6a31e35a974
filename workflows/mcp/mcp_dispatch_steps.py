"""One attempt of a tool call as its workflow sees it: made, cut short, or asked after when it was not heard of.

The rest of a call before its next attempt: until its time has come, or its server has been found well.

Notifications of a dispatch: approval webhook, re-check signal to sibling calls.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.mcp.call_activities import McpCallActivities
    from activities.mcp.dispatch_activities import McpDispatchActivities, McpNoticeActivities
    from contracts.mcp.dispatch import DispatchStatus
    from contracts.mcp.dispatch_work import (
        CallEnd,
        CallOrder,
        DispatchStanding,
        EndOrder,
        InspectOrder,
        NoticeOrder,
        ReleaseOrder,
    )
    from workflows.platform.presets import NOTICE_CALL, RELEASE_CALL, STORE_CALL, tool_call_preset


class CallAttempt:
    """Makes attempts one after another. Whatever becomes of one, the store is asked before the next."""

    def __init__(self) -> None:
        self._running: asyncio.Task[CallEnd] | None = None

    def cut_short(self) -> None:
        """Cancels the attempt under way; what was sent stays sent."""
        if self._running is not None:
            self._running.cancel()

    async def make(self, standing: DispatchStanding) -> CallEnd | None:
        """One attempt; ``None`` when it was not heard of: then ask with ``inspect``."""
        order = CallOrder(
            dispatch_id=standing.dispatch_id,
            attempt=standing.attempts + 1,
            auth_profile_id=standing.auth_profile_id,
            at=workflow.now(),
        )
        self._running = asyncio.create_task(_made(order, standing.timeout_ms))
        try:
            return await self._running
        except FailureError:
            return None
        except asyncio.CancelledError:
            # Cut short, or the workflow itself is cancelled, which who called has to know.
            if not self._running.cancelled():
                raise
            return None
        finally:
            self._running = None

    async def inspect(self, standing: DispatchStanding, given_up: EndOrder | None) -> CallEnd:
        """What became of the attempt after ``standing``; from now on it cannot be made any more."""
        order = InspectOrder(
            dispatch_id=standing.dispatch_id,
            attempt=standing.attempts + 1,
            cancelled=given_up,
            at=workflow.now(),
        )
        return await workflow.execute_local_activity_method(
            McpDispatchActivities.inspect_call, order, summary="what became of it", **STORE_CALL
        )


async def _made(order: CallOrder, timeout_ms: int) -> CallEnd:
    return await workflow.execute_activity_method(
        McpCallActivities.call_tool,
        order,
        summary=f"call, attempt {order.attempt}",
        **tool_call_preset(timeout_ms),
    )


ENDS_ON_A_WORD = "rest-ends-on-reconsider"
"""The change by which the word to look again ends a rest; runs that began to rest before it rest on."""


class CallRest:
    """When the next attempt is made, and whether a re-check was signalled."""

    def __init__(self) -> None:
        self.until: datetime | None = None
        self.look_again = False
        """Also heard while the call waits for a person."""

    def begin(self, before: DispatchStanding, end: CallEnd) -> None:
        """Rests as long as the end of an attempt says, if it does.

        Of a call that was held back unsent, a word that has come since the attempt began still counts: its server
        may have been found well meanwhile. Where the attempt was counted, that word is older than what came of it.
        """
        if not end.again_after_ms or end.standing.status is not DispatchStatus.RUNNING:
            return
        self.until = workflow.now() + timedelta(milliseconds=end.again_after_ms)
        if end.standing.attempts > before.attempts and workflow.patched(ENDS_ON_A_WORD):
            self.look_again = False

    async def over(self, given_up: Callable[[], bool]) -> None:
        """Waits until the rest is over, the call is given up, or it should look again."""
        until = self.until or workflow.now()
        # A signal may have come to a recorded run that did not wait for one during a rest.
        listens = workflow.patched(ENDS_ON_A_WORD)
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: given_up() or (listens and self.look_again),
                timeout=max(until - workflow.now(), timedelta()),
                timeout_summary="before the next attempt",
            )
        if listens:
            self.look_again = False
        self.until = None


class DispatchNotifications:
    """Beside the call, and never in its way."""

    def __init__(self, dispatch_id: str, *, told: bool) -> None:
        self._dispatch_id = dispatch_id
        self._notice: asyncio.Task[None] | None = None
        self._release: asyncio.Task[None] | None = None
        self.told = told
        """Whether the approval webhook was notified that the call waits."""

    @property
    def released(self) -> bool:
        """Whether the sibling calls were signalled."""
        return self._release is None or self._release.done()

    def tell_waiting(self) -> None:
        """Notifies the approval webhook, once for each time that the call waits."""
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
        workflow.logger.warning("sibling calls were not signalled about a standing approval")


async def _notify(order: NoticeOrder) -> None:
    try:
        await workflow.execute_activity_method(
            McpNoticeActivities.tell_waiting, order, summary="tell that a call waits", **NOTICE_CALL
        )
    except (FailureError, asyncio.CancelledError):
        workflow.logger.info("the approval webhook was not notified that a call waits")
