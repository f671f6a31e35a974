"""The rest of a call before its next attempt: until its time has come, or its server has been found well."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from contracts.mcp.dispatch import DispatchStatus
    from contracts.mcp.dispatch_work import CallEnd, DispatchStanding

ENDS_ON_A_WORD = "rest-ends-on-reconsider"
"""The change by which the word to look again ends a rest; runs that began to rest before it rest on."""


class CallRest:
    """When the next attempt is made, and whether somebody has said that the call should look again."""

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
        # A word may have come to a run that was recorded while nobody listened for it in a rest.
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
