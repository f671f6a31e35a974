"""Activities of health probes: choose the tool servers that are due, connect to one, record the result."""

import asyncio
from contextlib import suppress
from datetime import datetime

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.mcp.dispatch_activities import HeldCallWakeUp
from activities.mcp.preopened_connections import ToolCaller
from activities.mcp.token_broker import Bearer, TokenBroker, endpoint_of
from activities.platform.context import WorkflowClock
from activities.platform.refusals import refusing
from clients.mcp.tool_client import Discovery, ToolCallFailed
from contracts.base import clipped, rfc3339
from contracts.errors import Refusal
from contracts.mcp.health import MCPConnectionOutcome, MCPHealthStatus
from contracts.mcp.servers import DueOrder, DueServer, MCPServerRegistryEntry, ProbeFindings, ProbeTask
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.health import Admission, patience
from domain.mcp.tool_definitions import left_out_words
from stores.mcp.servers.health import HealthStore
from stores.mcp.servers.servers import ServerStore
from stores.mcp.servers.tools import ToolStore


class McpProbeActivities:
    """A look writes what it found: the server's health, and its tools where it listed them."""

    def __init__(
        self,
        servers: ServerStore,
        tools: ToolStore,
        health: HealthStore,
        client: ToolCaller,
        tokens: TokenBroker,
        held_calls: HeldCallWakeUp,
    ) -> None:
        self._servers = servers
        self._tools = tools
        self._health = health
        self._client = client
        self._tokens = tokens
        self._held_calls = held_calls

    @activity.defn
    @refusing
    def claim_due_servers(self, order: DueOrder) -> list[DueServer]:
        """The servers to look at now."""
        return list(self._health.claim_due(order.at, order.limit))

    @activity.defn
    async def look_at_server(self, task: ProbeTask) -> ProbeFindings:
        """Connects, signs in where the server has a sign-in, lists the tools, and takes in how it went.

        A server that is switched off, or waits for a pause to end, is skipped, and the result states that.
        """
        clock = WorkflowClock(task.at)
        started_at = clock.now()
        try:
            server = await asyncio.to_thread(self._servers.owned, task.server_id, task.owner)
            not_tried = await asyncio.to_thread(self._left_alone, server, task, started_at)
            if not_tried is not None:
                health = await asyncio.to_thread(self._health.owned, task.server_id, task.owner)
                return ProbeFindings(
                    server_id=task.server_id,
                    started_at=started_at,
                    completed_at=clock.now(),
                    not_tried=not_tried,
                    health=health,
                )
            return await self._looked(server, task, started_at, clock)
        except Refusal as refusal:
            raise ApplicationError(
                refusal.message, refusal.extra, type=refusal.code.value, non_retryable=True
            ) from None

    async def _looked(
        self, server: MCPServerRegistryEntry, task: ProbeTask, started_at: datetime, clock: WorkflowClock
    ) -> ProbeFindings:
        bearer = await self._bearer(server, task.owner)
        found = await self._discovered(server, bearer and bearer.value, task.max_duration_ms)
        if bearer is not None and _is_refused(found):
            found = await self._with_a_newer_one(server, task, bearer, found)
        now = clock.now()
        failure = found if isinstance(found, ToolFailure) else None
        left_out = found.left_out if isinstance(found, Discovery) else ()
        if isinstance(found, Discovery) and task.take_in_tools:
            recorded = await asyncio.to_thread(
                self._tools.take_in,
                task.server_id,
                task.owner,
                found.tools,
                now,
                task.correlation_id,
                protocol_revision=found.protocol_revision,
                left_out=left_out,
            )
            left_out = recorded.left_out
        outcome = MCPConnectionOutcome(happened_at=now, signed_in=bearer is not None, failure=failure)
        taken = await asyncio.to_thread(
            self._health.take_in, task.server_id, task.owner, outcome, task.correlation_id
        )
        if taken.well_again is not None:
            await self._held_calls.wake(taken.well_again)
        await self._tokens.note_lack(server, task.owner, failure, signed_in=bearer is not None)
        return ProbeFindings(
            server_id=task.server_id,
            started_at=started_at,
            completed_at=now,
            failure=failure,
            sign_in_used=bearer is not None,
            tools=len(found.tools) if isinstance(found, Discovery) else None,
            left_out=clipped(left_out_words(left_out), 500) if left_out else None,
            health=taken.health,
        )

    async def _bearer(self, server: MCPServerRegistryEntry, owner: str) -> Bearer | None:
        """None where there is no sign-in: the server's answer to that is the finding."""
        with suppress(Refusal):
            return await self._tokens.for_server(server, owner)
        return None

    async def _with_a_newer_one(
        self,
        server: MCPServerRegistryEntry,
        task: ProbeTask,
        seen: Bearer,
        found: Discovery | ToolFailure,
    ) -> Discovery | ToolFailure:
        """One more try with a renewed token; where that is refused too, the sign-in needs a person."""
        profile_id = server.auth_profile_id
        if profile_id is None:
            return found
        try:
            newer = await self._tokens.renewed(profile_id, task.owner, seen.version, endpoint_of(server))
        except Refusal:
            return found
        again = await self._discovered(server, newer, task.max_duration_ms)
        if _is_refused(again):
            await self._tokens.refused(profile_id, task.owner)
        return again

    async def _discovered(
        self, server: MCPServerRegistryEntry, bearer: str | None, max_duration_ms: int
    ) -> Discovery | ToolFailure:
        try:
            async with asyncio.timeout(max_duration_ms / 1_000):
                return await self._client.discover(server, bearer, activity.heartbeat)
        except ToolCallFailed as failed:
            return failed.failure
        except TimeoutError:
            return ToolFailure(
                kind=ToolFailureKind.TIMED_OUT,
                message=f"The server has not listed its tools within {max_duration_ms} ms.",
            )

    def _left_alone(self, server: MCPServerRegistryEntry, task: ProbeTask, now: datetime) -> str | None:
        if not server.enabled:
            return "The server is switched off."
        if not task.by_hand:
            found, until = self._health.admit(task.server_id, task.owner, now)
            return _pause(until) if found is Admission.WAIT else None
        health = self._health.owned(task.server_id, task.owner)
        asked = patience(health, now)
        if asked is not None:
            return _pause(asked)
        return "The server is switched off." if health.health_status is MCPHealthStatus.DISABLED else None


def _is_refused(found: Discovery | ToolFailure) -> bool:
    return isinstance(found, ToolFailure) and found.kind is ToolFailureKind.AUTH_REQUIRED


def _pause(until: datetime | None) -> str:
    return f"The server is left alone until {rfc3339(until)}." if until is not None else "It is left alone."
