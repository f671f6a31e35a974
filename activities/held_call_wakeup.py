"""Having the calls look again that are held back for a server which was degraded and has been found well."""

import asyncio
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError
from temporalio import activity
from temporalio.service import RPCError

from activities.mcp_dispatch_activities import tell_to_look
from stores.mcp.held_calls import HeldCalls

MOST_TOLD = 200
"""Calls told of one recovery; younger ones go when their wait is over."""

LASTS_AT_MOST_SECONDS = 10.0
"""After that the others go by themselves, as they would have."""


class HeldCallWakeUp:
    """Done by whoever took in the good answer, within its activity; best effort, since every call that is not
    told goes when its wait is over.

    It is no stampede. The oldest are told first, and the next one only when Temporal has the word for the one
    before. Each call that is told asks for admission as if its wait were over, in two transactions, so that a
    server that is half-open again takes one and one that asks for patience takes none; whoever is turned away has
    counted no attempt, and its next wait is spread. Before each word the server is looked at once more: when it
    fails again, nobody else is told. Only the way from degraded to well has calls told, and three failures in a
    row lie before the next time, so that a server that wavers is not asked again and again. A pause that a
    throttling server asked for is cut short for nobody.
    """

    def __init__(self, held: HeldCalls) -> None:
        self._held = held

    async def wake(self, server_id: str) -> None:
        """Tells the calls of a server that is well again."""
        try:
            async with asyncio.timeout(LASTS_AT_MOST_SECONDS):
                await self._tell(server_id)
        except (RPCError, SQLAlchemyError, TimeoutError) as error:
            activity.logger.warning(
                "calls that are held back were not told that their server is well",
                extra={"server": server_id, "error": type(error).__name__},
            )

    async def _tell(self, server_id: str) -> None:
        client = activity.client()
        for dispatch_id in await asyncio.to_thread(self._held.of_server, server_id, MOST_TOLD):
            if not await asyncio.to_thread(self._held.may_go, server_id, datetime.now(UTC)):
                return
            activity.heartbeat()
            await tell_to_look(client, dispatch_id)
